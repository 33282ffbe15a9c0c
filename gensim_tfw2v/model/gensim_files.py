"""What of a model is saved, and how: in gensim's own files, which plain gensim opens."""

from __future__ import annotations

from typing import Any, TypeVar

from gensim.models import Doc2Vec, FastText
from gensim.models.word2vec import MAX_WORDS_IN_BATCH, Word2Vec

UNSET_BATCH_WORDS = MAX_WORDS_IN_BATCH  # gensim's default: blocks may have the size that suits them
CACHE_MEMORY = 2**28
CLUSTER_TIMEOUT = 120.0
# This class's own arguments, as models have them that were saved without.
OWN_DEFAULTS: dict[str, Any] = {
    "progress": None,
    "cache_memory": CACHE_MEMORY,
    "cache_disk": 0,
    "cache_dir": None,
    "batch_tokens": None,
    "run_tokens": None,
    "shared_negatives": None,
    "update_bound": None,
    "compute_dtype": None,
    "logdir": None,
    "cluster": None,
    "cluster_timeout": CLUSTER_TIMEOUT,
    "cluster_overlap": None,
    "cluster_dtype": None,
    "vectors_on_servers": False,
    "training_report": None,
}
_NEVER_SAVED = ("_scan", "logdir", "cluster")  # what belongs to this process alone

_Model = TypeVar("_Model", bound="GensimFiles")


class GensimFiles(Word2Vec):
    """Saves itself as a plain gensim model, and loads such models as its own subclass."""

    def to_gensim(self) -> Word2Vec:
        """Return a plain gensim model that shares this one's vocabulary and matrices."""
        plain = Word2Vec.__new__(Word2Vec)
        plain.__dict__.update(self.__getstate__())
        return plain

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the model in gensim's own format: plain gensim loads it where this package is not installed."""
        self.to_gensim().save(*args, **kwargs)

    @classmethod
    def load(cls: type[_Model], *args: Any, rethrow: bool = False, **kwargs: Any) -> _Model:
        """Return a model saved by :meth:`save`, by gensim's own class or by a subclass of that, ready to train on."""
        saved = super().load(*args, rethrow=rethrow, **kwargs)
        if isinstance(saved, cls):
            return saved
        if isinstance(saved, Doc2Vec | FastText):  # whose vectors are not those of words alone
            raise AttributeError(f"Model of type {type(saved)} can't be loaded by {cls}")
        model = cls.__new__(cls)
        model.__setstate__(saved.__dict__)
        return model

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _NEVER_SAVED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**OWN_DEFAULTS, "epoch_losses": [], **state, "_scan": None})

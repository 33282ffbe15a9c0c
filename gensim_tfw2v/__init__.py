"""TFWord2Vec: gensim's Word2Vec, trained by TensorFlow graphs.

Importing this package costs next to nothing: gensim is imported with the first name that needs it, and TensorFlow
when training starts.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gensim_tfw2v.runtime.forks import watch_forks
from gensim_tfw2v.version import __version__

__all__ = ["TFWord2Vec", "TensorBoardLog", "__version__", "encode_corpus", "export_projector", "local_cluster"]
_HOMES = {
    "TFWord2Vec": "word2vec",
    "TensorBoardLog": "tensorboard.options",
    "encode_corpus": "corpus.encode",
    "export_projector": "tensorboard.projector",
    "local_cluster": "cluster.local",
}

if TYPE_CHECKING:
    from gensim_tfw2v.cluster.local import local_cluster
    from gensim_tfw2v.corpus.encode import encode_corpus
    from gensim_tfw2v.tensorboard.options import TensorBoardLog
    from gensim_tfw2v.tensorboard.projector import export_projector
    from gensim_tfw2v.word2vec import TFWord2Vec

watch_forks()


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"gensim_tfw2v.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

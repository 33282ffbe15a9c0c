"""A model ↔ its saved state, in gensim's own format, which plain gensim opens."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

from gensim.models.word2vec import Word2Vec

from gensim_tfw2v.files.models import missing_explained
from gensim_tfw2v.model.arguments import own_defaults
from gensim_tfw2v.model.own_arguments import OWN_ARGUMENTS
from gensim_tfw2v.model.results import results_before_training
from gensim_tfw2v.steps.settings import SGD

_Model = TypeVar("_Model")

# Attributes that belong only to this process.
_NEVER_SAVED = {"_reader", "_is_constructed", *(argument.name for argument in OWN_ARGUMENTS if not argument.is_saved)}


def saved_state(model: Word2Vec) -> dict[str, Any]:
    """Return the attributes of a model that go into files and copies."""
    return {name: value for name, value in vars(model).items() if name not in _NEVER_SAVED}


def restored_state(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a model that was saved by this class, an earlier version of it, or gensim's own."""
    # Models of gensim, and of versions without the argument, were trained by SGD, and go on so.
    return {**own_defaults(), "optimizer": SGD, **results_before_training(), **state}


def as_plain_gensim(model: Word2Vec) -> Word2Vec:
    """Return a plain gensim model that shares a model's vocabulary and matrices."""
    plain_class = gensims_class(type(model))
    plain: Word2Vec = object.__new__(plain_class)
    vars(plain).update(saved_state(model))
    return plain


def loaded(load: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return what gensim's `load` returns for a path, which the first argument or `fname` names."""
    plain = [os.fspath(argument) if isinstance(argument, os.PathLike) else argument for argument in args]
    with missing_explained(plain[0] if plain else kwargs.get("fname")):
        return load(*plain, **kwargs)


def gensims_class(cls: type[Any]) -> type[Any]:
    """Return the first of gensim's own classes that a class is, or is made from."""
    return next(each for each in cls.__mro__ if each.__module__.startswith("gensim."))


def as_class(cls: type[_Model], saved: Any) -> _Model:
    """Return a loaded gensim model as `cls`; raise AttributeError if it is one of another of gensim's classes."""
    if isinstance(saved, cls):
        return saved
    kind = gensims_class(type(saved))
    if kind is not gensims_class(cls):
        ours = f"{'TF' if issubclass(kind, Word2Vec) else ''}{kind.__name__}"
        raise AttributeError(
            f"the file has a {kind.__name__}, which can't be loaded by {cls.__name__}; open it with {ours}.load"
        )
    model: Any = cls.__new__(cls)
    model.__setstate__(vars(saved))
    converted: _Model = model
    return converted

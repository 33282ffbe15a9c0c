"""Counts and the like of words, given to gensim's `KeyedVectors` one by one without the checks that each would cost."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from gensim.models import KeyedVectors


@contextlib.contextmanager
def set_quickly(keyed_vectors: KeyedVectors) -> Iterator[None]:
    """Make ``set_vecattr`` of these keyed vectors quick for words that it has room for.

    gensim looks for room, and compares types, anew for every word, which is a good part of what making a vocabulary
    takes once its words are counted.
    """
    if type(keyed_vectors).set_vecattr is not KeyedVectors.set_vecattr:  # what a subclass does, it still does
        yield
        return
    carefully = keyed_vectors.set_vecattr
    kinds: dict[str, type] = {}  # of values that an attribute is known to take

    def set_vecattr(key: Any, attr: str, val: Any) -> None:
        place = keyed_vectors.key_to_index.get(key)
        if (
            place is not None
            and kinds.get(attr) is type(val)
            and len(keyed_vectors.expandos[attr]) == len(keyed_vectors.index_to_key)
        ):
            keyed_vectors.expandos[attr][place] = val
        else:
            carefully(key, attr, val)
            kinds[attr] = type(val)

    keyed_vectors.set_vecattr = set_vecattr
    try:
        yield
    finally:
        del keyed_vectors.set_vecattr

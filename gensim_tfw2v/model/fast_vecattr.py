"""A faster `set_vecattr` for gensim's `KeyedVectors`, which builds a vocabulary word by word."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from gensim.models import KeyedVectors


@contextlib.contextmanager
def set_quickly(keyed_vectors: KeyedVectors) -> Iterator[None]:
    """Make ``set_vecattr`` of these keyed vectors faster for words that have room in the attribute's array.

    gensim allocates room and compares types for every word, which takes much of the time of building a vocabulary.
    """
    if type(keyed_vectors).set_vecattr is not KeyedVectors.set_vecattr:  # a subclass's own method stays
        yield
        return
    carefully = keyed_vectors.set_vecattr
    kinds: dict[str, type] = {}  # types of values that attributes have had so far

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

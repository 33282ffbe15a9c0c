"""Keyed vectors of several models → keyed vectors of all their words."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from gensim.models import KeyedVectors

from gensim_tfw2v.arguments.rules import check_keyed_vectors
from gensim_tfw2v.arrays import Counts, Int64Array
from gensim_tfw2v.blocks.sampling import ids_by_count, word_counts
from gensim_tfw2v.merging.joint import SubModel
from gensim_tfw2v.merging.merge import MOST_ROUNDS, TOLERANCE, merge_submodels
from gensim_tfw2v.placement.contract import check_is_here
from gensim_tfw2v.training.display import FractionBar, wants_bar


def merge_vectors(
    keyed_vectors: Sequence[Any],
    method: str = "alir",
    vector_size: int | None = None,
    *,
    tolerance: float = TOLERANCE,
    most_rounds: int = MOST_ROUNDS,
    seed: int = 1,
    progress: bool | None = None,
) -> KeyedVectors:
    """Merge the vectors of models that trained apart.

    Parameters
    ----------
    keyed_vectors : sequence of gensim.models.KeyedVectors
        The vectors, for instance ``model.wv`` of each model. They stay as they are. Memory maps are read in pieces.
    method : str
        - ``"alir"``: rotate all models onto a consensus, and take each word's mean over the models that have it.
        - ``"pca"``: take the first principal components of the concatenation.
        - ``"concatenate"``: put the vectors side by side.
        - ``"average"``: take each word's mean without rotating.
    vector_size : int, optional
        Size of the merged vectors. Default: the size of the widest model; with ``"concatenate"`` the sum of all.
    tolerance : float
        ALiR ends when an iteration moves the consensus by less than this part of its length.
    most_rounds : int
        ALiR ends after this many iterations at the latest, with a warning.
    seed : int
        Seed of the iterations that find principal directions in more than 6,144 columns.
    progress : bool, optional
        Whether to draw a progress bar. Default: on a terminal and in a notebook.

    Returns
    -------
    gensim.models.KeyedVectors
        All words that one of the models has. Their counts are the sums of the models' counts, and words are sorted by
        falling count. Where a model has no counts, its last word counts 1, the word before it 2, and so on, as in
        vectors that gensim reads from a text file.

    Raises
    ------
    ValueError
        If there is nothing to merge, if a model shares no word with the others, or if `method` or `vector_size` is
        wrong.

    Examples
    --------
    >>> merged = merge_vectors([first.wv, second.wv])  # doctest: +SKIP
    """
    for vectors in keyed_vectors:
        check_keyed_vectors("merge_vectors", vectors)
        check_is_here(vectors.vectors)
    words, counts, submodels = join_vocabularies(keyed_vectors)
    with contextlib.ExitStack() as stack:
        bar = stack.enter_context(contextlib.closing(FractionBar("merging"))) if wants_bar(progress) else None
        merged = merge_submodels(
            submodels, method, vector_size, tolerance=tolerance, most_rounds=most_rounds, seed=seed, progress=bar
        )
    result = KeyedVectors(merged.shape[1])
    result.vectors, result.index_to_key = merged, words
    result.key_to_index = {word: place for place, word in enumerate(words)}
    result.expandos["count"] = counts
    result.add_lifecycle_event("merge_vectors", method=method, models=len(submodels), words=len(words))
    return result


def join_vocabularies(keyed_vectors: Sequence[KeyedVectors]) -> tuple[list[Any], Counts, list[SubModel]]:
    """Return all words by falling count, their counts, and the models' vectors with a row for each of these words."""
    places: dict[Any, int] = {}
    places_of = [
        np.fromiter((places.setdefault(word, len(places)) for word in vectors.index_to_key), np.int64, len(vectors))
        for vectors in keyed_vectors
    ]
    counts_of = [_counts(vectors) for vectors in keyed_vectors]
    counts: Counts = np.zeros(len(places), np.result_type(np.int64, *counts_of))
    for own_places, own_counts in zip(places_of, counts_of, strict=True):
        counts[own_places] = counts[own_places] + own_counts
    order = ids_by_count(counts)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    words = list(places)
    submodels = [
        SubModel(vectors.vectors, _rows(ranks[own_places], len(words)))
        for vectors, own_places in zip(keyed_vectors, places_of, strict=True)
    ]
    return [words[place] for place in order], counts[order], submodels


def _rows(ranks: Int64Array, words: int) -> Int64Array:
    """Return the row of each word of the joint vocabulary, given the rank in it of each row's word."""
    rows = np.full(words, -1, np.int64)
    rows[ranks] = np.arange(len(ranks))
    return rows


def _counts(vectors: KeyedVectors) -> Counts:
    counts = word_counts(vectors)
    return counts if len(counts) == len(vectors) else np.arange(len(vectors), 0, -1)

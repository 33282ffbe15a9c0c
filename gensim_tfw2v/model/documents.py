"""A Doc2Vec model's documents: what trains them, the numbers of their tags, and which arguments do not go with them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from gensim.models import Doc2Vec, KeyedVectors, Word2Vec
from gensim.models.doc2vec import TaggedLineDocument

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.document_blocks import BagOfWordsBlockMaker, ConcatenationBlockMaker, DocumentBlockMaker
from gensim_tfw2v.corpus.documents import TagLists, words_and_tags
from gensim_tfw2v.corpus.shards import is_encoded
from gensim_tfw2v.corpus.table_file import is_table
from gensim_tfw2v.placement.designs import DEFAULT_DESIGN, DESIGNS
from gensim_tfw2v.training.early_stopping import LOSS

# Arguments that documents do not go with, their values that do, and what to do instead.
_REFUSED: dict[str, tuple[Any, str]] = {
    "vectors_on_servers": (False, "leave it out; servers then have the vectors of documents while training runs"),
    "validation_metric": (LOSS, "leave it out; words of documents are not ranked"),
    "column": (None, "leave it out; columns have no tags"),
    "tables_dir": (None, "leave it out; vectors of documents are in memory"),
}
_IN_ONE_PROCESS = "contexts are concatenated in one process; leave one of them out"
_OF_SUMS = "its losses would be those of sums of contexts; leave one of them out"
# The same for contexts that are concatenated.
_REFUSED_CONCATENATED: dict[str, tuple[Any, str]] = {
    "cluster": (None, _IN_ONE_PROCESS),
    "vectors_on_servers": (False, _IN_ONE_PROCESS),
    "distribution": (DEFAULT_DESIGN, _IN_ONE_PROCESS),
    "reproducible": (False, "leave it out; workers=1 with a seed gives the same vectors again"),
    "validation": (None, _OF_SUMS),
    "early_stopping": (None, _OF_SUMS),
}
_SEED_OF_TAGS = 7919  # which gensim adds to the seed for vectors of tags
NULL_WORD = "\0"
"""gensim's name of the word that is concatenated in place of contexts beyond the ends of a document."""


def has_documents(model: Word2Vec) -> bool:
    """Return whether a model trains vectors of documents."""
    return isinstance(model, Doc2Vec)


def concatenates(model: Word2Vec) -> bool:
    """Return whether a model concatenates the vectors of a document and of a token's contexts."""
    return has_documents(model) and bool(model.dm and model.dm_concat)


def output_size(model: Word2Vec) -> int:
    """Return how many numbers an output vector has."""
    parts = model.dm_tag_count + 2 * model.window if concatenates(model) else 1
    return int(parts * model.vector_size)


def trains_skip_gram(model: Word2Vec) -> bool:
    """Return whether blocks are those of skip-gram; ``sg=1`` of a model with documents is a distributed bag of words.

    Its pairs are trained as tokens without contexts.
    """
    return bool(model.sg) and not has_documents(model)


def tag_lists_of(model: Word2Vec) -> TagLists | None:
    """Return the numbers of documents' tags, None for a model without documents."""
    if not has_documents(model):
        return None
    vectors = model.dv
    counts = vectors.expandos.get("doc_count")
    is_known = counts is not None and len(counts) == len(vectors)
    return TagLists(lambda tag: int(vectors.get_index(tag, -1)), len(vectors), counts if is_known else None)


def with_possible_tags(documents: Iterable[Any], vectors: KeyedVectors) -> Iterator[Any]:
    """Yield documents; raise ValueError naming the first tag that cannot be beside those of these vectors.

    gensim takes a whole number for a position. So numbers come first, and no further one fits behind texts.
    """
    numbers = _tags_that_are_numbers(vectors)
    for position, document in enumerate(documents):
        _, tags = words_and_tags(document, position)
        for tag in tags if vectors.key_to_index else ():
            if isinstance(tag, int | np.integer) and tag >= numbers:
                raise ValueError(
                    f"document number {position} has the tag {tag}, and the model has tags that are texts behind "
                    f"{numbers} whole numbers; give new documents texts as tags, such as '{tag}'"
                )
        yield document


def add_tags(vectors: KeyedVectors, found: KeyedVectors, seed: int) -> None:
    """Add the new ones among the tags of further documents, with random vectors, and the counts of all."""
    texts = [tag for tag in found.key_to_index if tag not in vectors.key_to_index]
    first = _tags_that_are_numbers(vectors)
    vectors.index_to_key = [*vectors.index_to_key, *range(first, _tags_that_are_numbers(found)), *texts]
    vectors.key_to_index |= {tag: len(vectors) - len(texts) + number for number, tag in enumerate(texts)}
    vectors.resize_vectors(seed=seed + _SEED_OF_TAGS)
    places = [vectors.key_to_index[tag] for tag in found.key_to_index]
    for name, counts in found.expandos.items():
        vectors.allocate_vecattrs([name], [counts.dtype])
        vectors.expandos[name][places] += counts[list(found.key_to_index.values())]


def _tags_that_are_numbers(vectors: KeyedVectors) -> int:
    """Return how many tags are whole numbers, which have no entry in `key_to_index`."""
    return len(vectors) - len(vectors.key_to_index)


def with_documents(
    maker: BlockMaker, model: Word2Vec, tags: TagLists, first_row: int, freeze: str | None, by_run: bool
) -> DocumentBlockMaker:
    """Return a maker of blocks that train documents, whose tags have the input rows from `first_row` on.

    `by_run` says whether each run moves its rows at once.
    """
    fields = vars(maker) | {"tag_count": len(tags), "first_row": first_row, "runs_apart": not by_run}
    if concatenates(model):
        null_word = model.wv.key_to_index[NULL_WORD]
        fields |= {"tags_of_each": model.dm_tag_count, "null_word": null_word, "least_widening": model.window}
        return ConcatenationBlockMaker(**fields)
    if model.dm:
        return DocumentBlockMaker(**fields)
    return BagOfWordsBlockMaker(**fields, pairs_words=bool(model.dbow_words) and freeze in (None, "outputs"))


def size_of_documents(corpus_iterable: Iterable[Any] | None = None, corpus_file: str | None = None) -> tuple[int, int]:
    """Return the number of raw words and of documents of a corpus, which are read."""
    documents = TaggedLineDocument(corpus_file) if corpus_iterable is None else corpus_iterable
    lengths = [len(document.words) for document in documents]
    return sum(lengths), len(lengths)


def check_documents(arguments: Mapping[str, Any]) -> None:
    """Raise an error that names the first argument of a model with documents that does not go with documents."""
    if arguments.get("dm_concat") and arguments.get("dm", not arguments.get("sg")):
        _check_none(arguments, _REFUSED_CONCATENATED, "dm_concat=1")
        if arguments["dm_tag_count"] < 1:
            raise ValueError(f"dm_tag_count must be at least 1 with dm_concat=1, got {arguments['dm_tag_count']!r}")
    _check_none(arguments, _REFUSED, "documents (TFDoc2Vec)")
    name = arguments["distribution"]
    if name in DESIGNS and not DESIGNS[name].bags:
        able = " or ".join(repr(other) for other, design in DESIGNS.items() if design.bags)
        raise ValueError(f"distribution={name!r} does not go with documents (TFDoc2Vec): choose {able}")
    file = arguments.get("corpus_file")
    if isinstance(file, str | os.PathLike) and (is_encoded(file) or is_table(file)):
        raise ValueError(
            f"corpus_file {os.fspath(file)!r} is an encoded corpus or a table; documents come from a text with a "
            "document a line, or from an iterable of TaggedDocument"
        )


def _check_none(arguments: Mapping[str, Any], refused: Mapping[str, tuple[Any, str]], what: str) -> None:
    for name, (allowed, what_to_do) in refused.items():
        value = arguments.get(name, allowed)
        if value is not allowed and value != allowed:
            raise ValueError(f"{name}={value!r} does not go with {what}: {what_to_do}")

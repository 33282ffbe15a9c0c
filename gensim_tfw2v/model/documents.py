"""A Doc2Vec model's documents: what trains them, the numbers of their tags, and which arguments do not go with them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from gensim.models import Doc2Vec, Word2Vec

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.document_blocks import BagOfWordsBlockMaker, ConcatenationBlockMaker, DocumentBlockMaker
from gensim_tfw2v.corpus.documents import TagLists
from gensim_tfw2v.corpus.shards import is_encoded
from gensim_tfw2v.corpus.table_file import is_table
from gensim_tfw2v.placement.designs import DEFAULT_DESIGN

# Arguments that documents do not go with, their values that do, and what to do instead.
_REFUSED: dict[str, tuple[Any, str]] = {
    "cluster": (None, "documents are trained in one process; leave it out"),
    "vectors_on_servers": (False, "documents are trained in one process; leave it out"),
    "distribution": (DEFAULT_DESIGN, "documents are trained in one process; leave it out"),
    "reproducible": (False, "leave it out; workers=1 with a seed gives the same vectors again"),
    "validation": (None, "leave it out; its losses would be those of words without documents"),
    "early_stopping": (None, "leave it out; its losses would be those of words without documents"),
    "column": (None, "leave it out; columns have no tags"),
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
    return TagLists(lambda tag: int(vectors.get_index(tag, -1)), len(vectors))


def with_documents(
    maker: BlockMaker, model: Word2Vec, tags: TagLists, first_row: int, freeze: str | None
) -> DocumentBlockMaker:
    """Return a maker of blocks that train documents, whose tags have the input rows from `first_row` on."""
    fields = vars(maker) | {"tags": tags, "first_row": first_row}
    if concatenates(model):
        null_word = model.wv.key_to_index[NULL_WORD]
        fields |= {"tag_count": model.dm_tag_count, "null_word": null_word, "least_widening": model.window}
        return ConcatenationBlockMaker(**fields)
    if model.dm:
        return DocumentBlockMaker(**fields)
    return BagOfWordsBlockMaker(**fields, pairs_words=bool(model.dbow_words) and freeze in (None, "outputs"))


def check_documents(arguments: Mapping[str, Any]) -> None:
    """Raise an error that names the first argument of a model with documents that does not go with documents."""
    if arguments.get("dm_concat") and arguments.get("dm", not arguments.get("sg")):
        _check_none(arguments, _REFUSED_CONCATENATED, "dm_concat=1")
        if arguments["dm_tag_count"] < 1:
            raise ValueError(f"dm_tag_count must be at least 1 with dm_concat=1, got {arguments['dm_tag_count']!r}")
    _check_none(arguments, _REFUSED, "documents (TFDoc2Vec)")
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

"""The corpora of a search: both are encoded once, and all trainings read them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from gensim_tfw2v.arguments.rules import Share
from gensim_tfw2v.corpus.encode import HELD_OUT, TRAINED, encode_corpus, encode_split
from gensim_tfw2v.corpus.shards import EncodedCorpus, is_encoded

AnyPath = str | os.PathLike[str]


class SearchCorpora(NamedTuple):
    """What is trained, and what models are measured on."""

    trained: EncodedCorpus
    held_out: EncodedCorpus


def check_corpora(corpus: AnyPath, validation: float | AnyPath, share: float) -> None:
    """Raise an error if a corpus is missing, or cannot be divided as asked."""
    Share().plain("share", share)
    if isinstance(validation, str | os.PathLike):
        if share != 1:
            raise ValueError(
                f"share={share} needs a share of the corpus as validation, and validation is {os.fspath(validation)!r}"
            )
        if not os.path.exists(validation):
            raise FileNotFoundError(f"validation {os.fspath(validation)!r} is not there")
    elif not isinstance(validation, float) or not 0 < validation < 1:
        raise ValueError(f"validation must be a share above 0 and below 1, or a path, got {validation!r}")
    elif is_encoded(corpus):
        raise ValueError(
            f"validation={validation} holds sentences of text out, and corpus {os.fspath(corpus)!r} is encoded; encode "
            "two corpora, and name the other one: validation='...'"
        )
    if not os.path.exists(corpus):
        raise FileNotFoundError(f"corpus {os.fspath(corpus)!r} is not there")


def encode_corpora(
    corpus: AnyPath, validation: float | AnyPath, share: float, seed: int, column: str | None, folder: Path
) -> SearchCorpora:
    """Return the corpora of a search, encoded in a folder if they are text.

    Parameters
    ----------
    corpus : str or os.PathLike
        Text or a table, as for `encode_corpus`, or an encoded corpus.
    validation : float or str or os.PathLike
        The share of the corpus that is held out, or another corpus.
    share : float
        The share of the other sentences that is trained.
    seed : int
        What the draw of sentences follows from.
    """
    if isinstance(validation, float):
        return SearchCorpora(*encode_split(corpus, folder, validation, share, seed, column))
    return SearchCorpora(
        *(
            EncodedCorpus(path) if is_encoded(path) else encode_corpus(path, folder / name, column=column)
            for name, path in ((TRAINED, corpus), (HELD_OUT, validation))
        )
    )

"""New documents → their vectors, all at once, by a trained Doc2Vec model whose own vectors stay as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
from gensim.models.doc2vec import Doc2Vec, TaggedDocument, TaggedLineDocument

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.corpus.documents import TagLists
from gensim_tfw2v.model.arguments import plain_arguments
from gensim_tfw2v.model.choices import block_maker, choices_for, moves_by_run
from gensim_tfw2v.model.consistency import check_fits
from gensim_tfw2v.model.corpus_reading import Corpus, CorpusReader
from gensim_tfw2v.model.documents import check_documents, concatenates, with_documents
from gensim_tfw2v.model.first_vectors import first_vectors
from gensim_tfw2v.model.input_parts import input_parts
from gensim_tfw2v.model.tables import tables_of
from gensim_tfw2v.model.training_plan import make_placement, placement_for
from gensim_tfw2v.runtime.tensorflow import check_runs_at_once
from gensim_tfw2v.steps.settings import ALL_WORDS, SGD
from gensim_tfw2v.training.epoch import EpochPlan
from gensim_tfw2v.training.epochs import train_epochs
from gensim_tfw2v.training.state import TrainingChoices

_INFERENCE = 0x696E6672  # purpose of random numbers


def infer(
    model: Doc2Vec, documents: Any, corpus_file: Any, epochs: int | None, alpha: float | None, min_alpha: float | None
) -> Float32Array:
    """Return the vectors of documents, as `TFDoc2Vec.infer_corpus` does and with its arguments."""
    rates = {"alpha": alpha or model.alpha, "min_alpha": min_alpha or model.min_alpha}
    settings = plain_arguments({"epochs": epochs or model.epochs, **rates})
    numbered = _NumberedDocuments(documents, corpus_file)
    check_documents({**vars(model), "corpus_file": corpus_file})
    if concatenates(model) and model.dm_tag_count != 1:
        raise ValueError(
            f"infer_corpus() infers one vector a document, and dm_tag_count={model.dm_tag_count} needs as many; use a "
            "model with dm_tag_count=1"
        )
    check_fits(model)
    check_runs_at_once()
    rows, words = _first_vectors(numbered, model.vector_size)
    if not len(rows):
        return rows
    # Each epoch has one rate, as in `infer_vector`.
    of_epochs = np.linspace(settings["alpha"], settings["min_alpha"], settings["epochs"]).tolist()
    return _trained(model, numbered, rows, words, of_epochs)


class _NumberedDocuments:
    """Documents, or lists of words, with their numbers as tags."""

    def __init__(self, documents: Any, corpus_file: Any) -> None:
        if (documents is None) == (corpus_file is None):
            raise TypeError("infer_corpus() needs either documents or a corpus_file")
        if documents is None:
            documents = TaggedLineDocument(corpus_file)
        if isinstance(documents, str | bytes) or not hasattr(documents, "__iter__"):
            kind = type(documents).__name__
            raise TypeError(f"documents must be an iterable of lists of words or of TaggedDocument, got a {kind}")
        # Each epoch reads the documents.
        self._documents: Iterable[Any] = list(documents) if isinstance(documents, Iterator) else documents

    def __iter__(self) -> Iterator[TaggedDocument]:
        for number, document in enumerate(self._documents):
            words = getattr(document, "words", document)
            if isinstance(words, str) or not hasattr(words, "__len__"):
                raise TypeError(
                    f"document number {number} has the words {words!r} of type {type(words).__name__}; give a list of "
                    "words, or a TaggedDocument with one"
                )
            yield TaggedDocument(words, [number])


def _first_vectors(documents: Iterable[TaggedDocument], size: int) -> tuple[Float32Array, int]:
    """Return the vectors that gensim's `infer_vector` would begin with, and how many words there are."""
    seeds, words = [], 0
    for document in documents:
        # Without a text, gensim draws other numbers each time.
        seeds.append(hash(_text_of(document.words) or " "))
        words += len(document.words)
    return first_vectors(seeds, size), words


def _text_of(words: Iterable[Any]) -> str:
    try:
        return " ".join(words)
    except TypeError:
        return " ".join(map(str, words))


def _trained(
    model: Doc2Vec, documents: Iterable[TaggedDocument], rows: Float32Array, words: int, rates: list[float]
) -> Float32Array:
    """Return these rows, trained at a rate for each epoch on the words of the documents."""
    choice = placement_for(model, None, words)
    choices = _choices(choices_for(model, choice, len(rows), words, freeze=ALL_WORDS), rates[0])
    tables = tables_of(model)
    first = input_parts(model)[0].size
    tags = TagLists(int, len(rows))
    maker = with_documents(block_maker(model, choices), model, tags, first, ALL_WORDS, by_run=moves_by_run(choice))
    inputs, ones = np.concatenate([tables.inputs[:first], rows]), np.ones(1, np.float32)
    source = CorpusReader().source(
        model, Corpus(documents, None), choices.block_words, words, is_read_again=len(rates) > 1, tags=tags
    )
    with source, closing(make_placement(choice, choices.settings, maker)) as placement:
        placement.load(replace(tables, inputs=inputs, lock_factors=ones, states={}))
        for epoch in range(len(rates)):
            # One epoch at a time, so that no thread begins with a document while another one still trains it.
            for _ in train_epochs([_plan(choices, epoch, rates)], source, placement, []):
                continue
        return np.array(placement.rows("inputs", first, first + len(rows)))


def _plan(choices: TrainingChoices, epoch: int, rates: list[float]) -> EpochPlan:
    return EpochPlan(
        epoch=epoch,
        epochs=len(rates),
        seed=(*choices.entropy, _INFERENCE, epoch),
        learning_rate_at=lambda _: rates[epoch],
        total_examples=choices.total_examples,
        total_words=choices.total_words,
        exact_loss=False,
    )


def _choices(choices: TrainingChoices, alpha: float) -> TrainingChoices:
    """Return the choices of a training at this rate, with the steps that gensim's `infer_vector` takes."""
    settings = choices.settings
    sgd = replace(settings, optimizer=SGD, max_step=alpha * settings.max_step_rates)
    return replace(choices, settings=sgd)

"""How the learning rate falls: as gensim's class really does it, or as it documents it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from gensim.models.word2vec import LineSentence

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.placement.local.placement import LocalPlacement

SENTENCES = 4000
SETTINGS: dict[str, Any] = {
    "vector_size": 4,
    "min_count": 1,
    "sample": 0,
    "batch_words": 1000,
    "alpha": 0.05,
    "min_alpha": 0.01,
    "epochs": 2,
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Return a file of equal sentences, of 20,000 words."""
    path = tmp_path / "corpus.txt"
    path.write_text("one two three four five\n" * SENTENCES, encoding="utf8")
    return path


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> list[ChunkTask]:
    """Return a list that gets every chunk that is trained."""
    seen: list[ChunkTask] = []
    train = LocalPlacement.train_chunk

    def watched(placement: LocalPlacement, task: ChunkTask) -> TrainedChunk:
        seen.append(task)
        return train(placement, task)

    monkeypatch.setattr(LocalPlacement, "train_chunk", watched)
    return seen


def first_rates(tasks: list[ChunkTask]) -> np.ndarray[Any, Any]:
    """Return the rate at the beginning of each chunk, in the order of the corpus."""
    ordered = sorted(tasks, key=lambda task: tuple(task.entropy[-2:]))
    return np.array([task.first_rate for task in ordered])


def gensims_rates(epochs: int, chunks: int, workers: int, alpha: float, min_alpha: float) -> np.ndarray[Any, Any]:
    """Return the rate at the beginning of each chunk as one of gensim's threads sets it in its part of the file.

    This is `get_next_alpha` of gensim's ``word2vec_corpusfile.pyx`` in plain loops.
    """
    rates = []
    for epoch in range(epochs):
        for chunk in range(chunks):
            thread_sentences = chunk / chunks * SENTENCES / workers
            progress = (epoch + thread_sentences / SENTENCES) / epochs
            rates.append(max(min_alpha, alpha - (alpha - min_alpha) * progress))
    return np.array(rates)


def assert_rates(tasks: list[ChunkTask], workers: int, alpha: float = 0.05, min_alpha: float = 0.01) -> None:
    """Fail unless the rates are those of one of gensim's threads, of so many."""
    rates = first_rates(tasks)
    wanted = gensims_rates(2, len(rates) // 2, workers, alpha, min_alpha)
    np.testing.assert_allclose(rates, wanted, atol=1e-6)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_from_a_file_the_rate_falls_as_in_each_of_gensims_threads(
    corpus: Path, tasks: list[ChunkTask], workers: int
) -> None:
    TFWord2Vec(corpus_file=str(corpus), workers=workers, **SETTINGS)
    assert_rates(tasks, workers)


def test_from_sentences_the_rate_falls_evenly(corpus: Path, tasks: list[ChunkTask]) -> None:
    TFWord2Vec(LineSentence(str(corpus)), workers=5, **SETTINGS)
    assert_rates(tasks, workers=1)


def test_the_linear_schedule_falls_evenly_from_a_file(corpus: Path, tasks: list[ChunkTask]) -> None:
    TFWord2Vec(corpus_file=str(corpus), workers=5, schedule="linear", **SETTINGS)
    assert_rates(tasks, workers=1)


def untrained(corpus: Path) -> TFWord2Vec:
    model = TFWord2Vec(workers=4, **SETTINGS)
    model.build_vocab(corpus_file=str(corpus))
    return model


def train(model: TFWord2Vec, corpus: Path, **arguments: Any) -> None:
    totals = {"total_examples": model.corpus_count, "total_words": model.corpus_total_words, "epochs": 2}
    model.train(corpus_file=str(corpus), **totals, **arguments)


def test_train_without_rates_falls_as_in_gensims_threads(corpus: Path, tasks: list[ChunkTask]) -> None:
    train(untrained(corpus), corpus)
    assert_rates(tasks, workers=4)


def test_a_chosen_end_alpha_is_reached(corpus: Path, tasks: list[ChunkTask]) -> None:
    train(untrained(corpus), corpus, start_alpha=0.03, end_alpha=0.002)
    assert_rates(tasks, workers=1, alpha=0.03, min_alpha=0.002)
    assert min(task.last_rate for task in tasks) == pytest.approx(0.002)


def test_a_chosen_end_alpha_is_reached_also_if_it_is_the_models_own(corpus: Path, tasks: list[ChunkTask]) -> None:
    train(untrained(corpus), corpus, end_alpha=0.01)
    assert_rates(tasks, workers=1)


def test_a_chosen_start_alpha_changes_the_start_alone(corpus: Path, tasks: list[ChunkTask]) -> None:
    train(untrained(corpus), corpus, start_alpha=0.03)
    assert_rates(tasks, workers=4, alpha=0.03)


def test_a_loaded_model_falls_as_in_gensims_threads(corpus: Path, tasks: list[ChunkTask], tmp_path: Path) -> None:
    untrained(corpus).save(str(tmp_path / "model"))
    train(TFWord2Vec.load(str(tmp_path / "model")), corpus)
    assert_rates(tasks, workers=4)


class _Saves(CallbackAny2Vec):
    """Saves the model after an epoch."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def on_epoch_end(self, model: Any) -> None:
        model.save(str(self.path))


def test_a_model_saved_while_its_constructor_trains_is_as_any_other(
    corpus: Path, tasks: list[ChunkTask], tmp_path: Path
) -> None:
    path = tmp_path / "model"
    TFWord2Vec(corpus_file=str(corpus), workers=4, callbacks=[_Saves(path)], **SETTINGS)
    tasks.clear()
    train(TFWord2Vec.load(str(path)), corpus, end_alpha=0.01)
    assert_rates(tasks, workers=1)


def test_an_unknown_schedule_is_refused() -> None:
    with pytest.raises(ValueError, match="schedule must be 'linear', got 'cosine'"):
        TFWord2Vec(schedule="cosine")

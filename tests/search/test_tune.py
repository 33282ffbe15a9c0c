"""`tune()` trains and measures as the class does, finds what the corpus was made of, and refuses what it cannot do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.error_table import cases_under

from gensim_tfw2v import TFWord2Vec, encode_corpus, tune, tuning
from gensim_tfw2v.search import tune as module
from gensim_tfw2v.search.corpora import SearchCorpora
from gensim_tfw2v.search.search import SearchResult
from gensim_tfw2v.training.divergence import Divergence, DivergenceError

ITEMS, LENGTH = 40, 6
FIXED: dict[str, Any] = {"vector_size": 16, "min_count": 1, "sg": 1, "sample": 0, "optimizer": "sgd", "ns_exponent": 0}
FIXED |= {"negative": 5, "shrink_windows": True}


def write_sessions(path: Path, sessions: int = 300) -> Path:
    """Write sessions in which each item is followed by the next one of a circle."""
    starts = np.random.default_rng(1).integers(0, ITEMS, sessions)
    lines = [" ".join(f"i{(start + step) % ITEMS}" for step in range(LENGTH)) for start in starts]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sessions(tmp_path_factory.mktemp("tune") / "sessions.txt")


@pytest.fixture(scope="module")
def found(sessions: Path) -> SearchResult:
    space = {"window": [1, 5], "alpha": [0.001, 0.1]}
    size: dict[str, Any] = {"trials": 4, "epochs": 6, "rounds": 2, "workers": 1}
    return tune(sessions, metric="ndcg@10", space=space, settings=FIXED, validation=0.2, **size)


def test_a_search_finds_settings_with_which_a_corpus_can_be_learnt(found: SearchResult) -> None:
    assert found.ended == "complete"
    assert len(found.trials) == 1 + 4 + 1
    best = found.best.settings
    assert (best["window"], best["alpha"]) == (1, 0.1)  # only the item before tells the next one
    assert found.best.value is not None and found.default.value is not None
    assert found.best.value > 2 * found.default.value


def test_values_are_those_of_trainings_on_the_same_sentences(
    found: SearchResult, sessions: Path, tmp_path: Path
) -> None:
    parts = module.encode_corpora(sessions, 0.2, 1.0, 1, None, tmp_path)
    model = TFWord2Vec(
        corpus_file=str(parts.trained.folder),
        validation=str(parts.held_out.folder),
        validation_metric="ndcg@10",
        workers=1,
        seed=1,
        **found.arguments,
    )
    assert model.validation_scores["ndcg@10"][-1] == found.best.value


def test_a_search_for_items_compares_with_the_defaults(sessions: Path) -> None:
    own: dict[str, Any] = {"settings": {"vector_size": 16}, "trials": 2, "epochs": 3, "rounds": 1, "workers": 1}
    found = tune(sessions, items=True, **own)
    assert found.default.settings["optimizer"] is None
    assert [found.default.settings[name] for name in ("sg", "window", "negative", "min_count")] == [0, 5, 5, 1]
    first = next(trial for trial in found.trials if trial.settings["sg"] == 1 and trial.settings["negative"] == 15)
    assert first.settings["optimizer"] == "adagrad"


@pytest.mark.parametrize(("share", "expected"), [(None, 0.5), (0.75, 0.75), (1.0, 1.0)])
def test_a_search_for_items_trains_on_enough_sessions(
    share: float | None, expected: float, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "LEAST_SESSIONS", 135)  # of about 270 that are not held out
    trained = []

    def measure(corpora: SearchCorpora, *_: Any) -> float:
        trained.append(corpora.trained.sentences)
        return 1.0

    monkeypatch.setattr(module, "_train_and_measure", measure)
    tune(sessions, items=True, share=share, trials=1, epochs=1)
    assert trained[0] == pytest.approx(270 * expected, rel=0.15)


def test_a_file_to_measure_on_and_a_function_are_taken(sessions: Path, tmp_path: Path) -> None:
    other, encoded = write_sessions(tmp_path / "other.txt", 20), tmp_path / "encoded"
    encode_corpus(sessions, encoded)

    def longest(model: TFWord2Vec) -> float:
        return float(np.linalg.norm(model.wv.vectors, axis=1).max())

    search: dict[str, Any] = {"space": {"alpha": [0.001, 0.1]}, "settings": FIXED | {"window": 5}, "workers": 1}
    first, second = (
        tune(corpus, metric=longest, validation=other, trials=2, epochs=1, **search) for corpus in (sessions, encoded)
    )
    assert first.metric == "longest"
    assert first.best.settings["alpha"] == 0.1  # higher rates give longer vectors
    assert [trial.value for trial in first.trials] == [trial.value for trial in second.trials]


def test_a_training_that_diverges_has_no_value(sessions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Diverging(TFWord2Vec):
        def train(self, *arguments: Any, **named: Any) -> tuple[int, int]:
            if self.window == 5:
                raise DivergenceError(Divergence(epoch=0, block=0, batch=0, learning_rate=0.1))
            return super().train(*arguments, **named)

    monkeypatch.setattr(module, "TFWord2Vec", Diverging)
    search: dict[str, Any] = {"space": {"window": [5, 1]}, "settings": FIXED | {"alpha": 0.1}, "workers": 1}
    found = tune(sessions, trials=2, epochs=1, **search)
    assert found.best.settings["window"] == 1
    assert (found.trials[-1].settings["window"], found.trials[-1].value) == (5, None)


def test_a_metric_that_is_no_number_is_no_value(sessions: Path) -> None:
    def no_number(model: TFWord2Vec) -> float:
        return float("nan") if model.window == 5 else 1.0

    search: dict[str, Any] = {"space": {"window": [5, 1]}, "settings": FIXED | {"alpha": 0.1}, "workers": 1}
    found = tune(sessions, metric=no_number, trials=2, epochs=1, **search)
    assert found.best.settings["window"] == 1
    assert found.trials[-1].value is None


REFUSED = cases_under("Searches of settings")


@pytest.mark.parametrize("arguments", REFUSED)
def test_what_cannot_be_done_is_refused_before_anything_is_trained(
    arguments: str, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sessions.parent)
    monkeypatch.delattr(module, "load_tensorflow")
    with pytest.raises((ValueError, FileNotFoundError)) as error:
        tune("sessions.txt", **eval(f"dict({arguments})"))
    message = str(error.value)
    assert [fragment for fragment in REFUSED[arguments] if fragment not in message] == [], message


def test_a_missing_corpus_and_an_encoded_one_without_a_second_are_refused(sessions: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"corpus 'missing\.txt' is not there"):
        tune("missing.txt")
    encode_corpus(sessions, tmp_path / "encoded")
    with pytest.raises(ValueError, match=r"encoded' is encoded; encode two corpora, and name the other one"):
        tune(tmp_path / "encoded")

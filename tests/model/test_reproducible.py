"""`reproducible=True`: one seed gives one result with any number of workers, here and on a cluster."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors
from support.command_line import train as train_by_command
from support.contract import (
    PURE_MODES,
    SMALL,
    assert_equal_models,
    assert_finite,
    learnt_arrays,
    topic_gap,
    two_topics,
)
from support.overfitting import OTHERS, TRAINED
from support.overfitting import SETTINGS as OVERFITTING
from support.placements import shared_cluster

from gensim_tfw2v import TFWord2Vec, local_cluster

CORPUS = two_topics(400)
WORDS = 12 * len(CORPUS)
# Rounds of eight parts of 50 words, twelve an epoch.
SETTINGS: dict[str, Any] = {**SMALL, "epochs": 2, "alpha": 0.05, "seed": 3, "batch_words": 50, "reproducible": True}
OTHER_WORKERS = [pytest.param(2, marks=pytest.mark.slow), 8]
# Skip-gram with negative sampling by default: each mode has graphs of its own to trace.
MODES = [
    pytest.param(mode, id=name, marks=[] if name == "skipgram-negative" else pytest.mark.slow)
    for name, mode in PURE_MODES.items()
]
ON_CLUSTER = {"distribution": "synchronous"}


@pytest.fixture(autouse=True)
def many_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a model with eight workers train in eight threads."""
    monkeypatch.setattr("gensim_tfw2v.placement.local.calls.usable_cores", lambda: 8)


def trained(**settings: Any) -> TFWord2Vec:
    """Return a model that was trained here, or where the settings say."""
    return TFWord2Vec(CORPUS, **SETTINGS | settings)


def checksum_of(model: Any) -> str:
    """Return the SHA-256 of all that a model has learnt."""
    return hashlib.sha256(b"".join(array.tobytes() for array in learnt_arrays(model).values())).hexdigest()


@pytest.mark.parametrize("mode", MODES)
def test_any_number_of_workers_gives_the_same_bits_twice(mode: dict[str, int]) -> None:
    model = trained(**mode, workers=1)
    assert_finite(model)
    assert topic_gap(model.wv) > 0.1
    assert {checksum_of(trained(**mode, workers=workers)) for workers in (2, 3, 8, 8)} == {checksum_of(model)}


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("settings", [{"optimizer": "adagrad"}, {"compute_dtype": "bfloat16"}, {"freeze": "outputs"}])
def test_so_it_does_with_other_steps(mode: dict[str, int], settings: dict[str, Any]) -> None:
    found = set()
    for workers in (1, 3):
        model = TFWord2Vec(CORPUS, **SETTINGS | mode | {"workers": workers})  # outputs to freeze
        for name, value in settings.items():
            setattr(model, name, value)
        model.train(CORPUS, total_examples=len(CORPUS), epochs=1)
        found.add(checksum_of(model))
    assert len(found) == 1


def test_another_seed_gives_other_vectors() -> None:
    assert not np.allclose(trained(sg=1).wv.vectors, trained(sg=1, seed=4).wv.vectors, atol=1e-3)


def test_the_learning_rate_of_a_file_does_not_depend_on_workers(tmp_path: Path) -> None:
    file = tmp_path / "corpus.txt"
    file.write_text("\n".join(map(" ".join, CORPUS)) + "\n")
    settings = {**SETTINGS, "corpus_file": str(file), "sg": 1}
    first, second = (TFWord2Vec(**settings, workers=workers) for workers in (1, 3))
    assert_equal_models(first, second)
    assert_equal_models(first, TFWord2Vec(**settings, workers=3, schedule="linear"))


def test_validation_and_early_stopping_do_not_depend_on_workers() -> None:
    settings = {**OVERFITTING, "reproducible": True, "batch_words": 100, "validation": OTHERS, "early_stopping": 2}
    first, second = (TFWord2Vec(TRAINED, **settings | {"workers": workers}) for workers in (1, 3))
    assert first.epochs < settings["epochs"]
    assert first.validation_losses == second.validation_losses
    assert first.epoch_losses == second.epoch_losses
    assert_equal_models(first, second)


class Stopped:
    """The corpus, which ends with an error after so many sentences, counted over all passes."""

    def __init__(self, sentences: int) -> None:
        self._left = sentences

    def __iter__(self) -> Any:
        for sentence in CORPUS:
            if not self._left:
                raise OSError("the corpus ends here")
            self._left -= 1
            yield sentence


@pytest.mark.parametrize("workers", OTHER_WORKERS)
def test_a_training_resumes_with_other_workers_and_the_same_bits(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gensim_tfw2v.tuning.ITERABLE_PIECES", 50)
    checkpoints = {"checkpoint_dir": tmp_path, "checkpoint_every": "400 words", "cache_memory": 0}
    model = TFWord2Vec(**SETTINGS, **checkpoints, sg=1, workers=3)
    model.build_vocab(CORPUS)
    with pytest.raises(OSError, match="the corpus ends here"):
        model.train(Stopped(600), total_examples=len(CORPUS), total_words=WORDS, epochs=2)
    resumed = TFWord2Vec.resume(tmp_path, CORPUS, workers=workers)
    assert_equal_models(resumed, trained(sg=1, workers=1))


def test_the_command_line_has_it_as_well(tmp_path: Path) -> None:
    file = tmp_path / "corpus.txt"
    file.write_text("\n".join(map(" ".join, CORPUS)) + "\n")
    found = []
    for workers in ("1", "3"):
        output = tmp_path / f"{workers}.kv"
        arguments = ("--reproducible", "--workers", workers, "--batch-words", "50", "--sg", "--quiet")
        assert train_by_command(file, output, *arguments) == 0
        found.append(KeyedVectors.load(str(output)).vectors)
    np.testing.assert_array_equal(*found)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_workers_and_servers_of_a_cluster_give_the_bits_of_one_process(mode: dict[str, int]) -> None:
    expected = trained(**mode)
    for workers in (1, 2):  # which on a cluster says whether blocks are trained one after the other
        assert_equal_models(trained(**mode, **ON_CLUSTER, workers=workers, cluster=shared_cluster()), expected)


@pytest.mark.slow
@pytest.mark.parametrize(("servers", "workers"), [(1, 1), (1, 2), (3, 4)])
def test_any_number_of_workers_of_a_cluster_gives_the_bits_of_one_process(servers: int, workers: int) -> None:
    with local_cluster(ps=servers, workers=workers) as cluster:
        assert_equal_models(trained(**ON_CLUSTER, sg=1, cluster=cluster), trained(sg=1))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"distribution": "downpour"}, "distribution='downpour' on a cluster.*'synchronous' on a cluster"),
        ({"distribution": "averaging"}, "distribution='averaging' on a cluster.*'synchronous' on a cluster"),
        ({**ON_CLUSTER, "backup_workers": 1}, "backup_workers=1"),
        ({**ON_CLUSTER, "seed": None}, "seed is None"),
    ],
)
def test_what_cannot_be_reproducible_on_a_cluster_is_refused(settings: dict[str, Any], message: str) -> None:
    somewhere = {"ps": ["127.0.0.1:2222"], "worker": ["127.0.0.1:2223"]}
    with pytest.raises(ValueError, match=f"reproducible=True.*{message}"):
        TFWord2Vec(reproducible=True, cluster=somewhere, **settings)


def test_a_cluster_that_comes_with_train_is_checked_as_well() -> None:
    model = TFWord2Vec(**SETTINGS)
    model.build_vocab(CORPUS)
    somewhere = {"ps": ["127.0.0.1:2222"], "worker": ["127.0.0.1:2223"]}
    with pytest.raises(ValueError, match=r"reproducible=True .*distribution='downpour' on a cluster"):
        model.train(CORPUS, total_examples=len(CORPUS), epochs=1, cluster=somewhere)

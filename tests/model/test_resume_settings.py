"""Resumed trainings of all kinds of models, and with what may change: as if nothing had interrupted them."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.contract import MODES, assert_equal_models
from support.resumed_training import EPOCHS, SENTENCES, SETTINGS, WORDS, Interrupted, train, untrained
from support.stopping import StopError, stop

from gensim_tfw2v import TFWord2Vec, encode_corpus
from gensim_tfw2v.checkpoints.folder import CheckpointFolder
from gensim_tfw2v.model.checkpointing import Checkpointer
from gensim_tfw2v.model.resuming import MAY_CHANGE


def stop_at_block(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """End the next training when so many blocks are trained."""
    after_chunk, chunks = Checkpointer.after_chunk, iter(range(1000))

    def stopping(checkpointer: Checkpointer, *rest: Any) -> None:
        after_chunk(checkpointer, *rest)
        if next(chunks) == number:
            stop()

    monkeypatch.setattr(Checkpointer, "after_chunk", stopping)


def interrupt(model: TFWord2Vec, **arguments: Any) -> None:
    """Train a model until the second epoch."""
    with pytest.raises(StopError):
        train(model, Interrupted(11000, stop), **arguments)


class Named(TFWord2Vec):
    """Somebody's own model."""


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(MODES["skipgram-both"], marks=pytest.mark.slow),
        MODES["cbow-both"] | {"null_word": 1},
        {"sg": 1, "alpha": 0.05, "min_alpha": 0.001, "schedule": "linear", "sample": 0, "shrink_windows": False},
    ],
    ids=str,
)
def test_all_settings_are_kept(settings: dict[str, Any], tmp_path: Path) -> None:
    whole = Named(**SETTINGS | settings)
    whole.build_vocab(SENTENCES)
    train(whole, compute_loss=True)
    model = Named(**SETTINGS | settings, checkpoint_dir=tmp_path, cache_memory=0)
    model.build_vocab(SENTENCES)
    interrupt(model, compute_loss=True)
    resumed = Named.resume(tmp_path, SENTENCES)
    assert type(resumed) is Named
    assert_equal_models(whole, resumed)
    assert resumed.get_latest_training_loss() == whole.get_latest_training_loss() > 0
    assert resumed.epoch_losses == whole.epoch_losses
    state, expected = vars(resumed), vars(whole)
    same = {"min_count", "max_vocab_size", "corpus_count", "corpus_total_words", "layer1_size", "null_word", "hs"}
    assert {name: state[name] for name in same} == {name: expected[name] for name in same}
    for word in whole.wv.index_to_key:
        assert resumed.wv.get_vecattr(word, "count") == whole.wv.get_vecattr(word, "count")


def test_a_finished_training_has_its_losses_and_times(tmp_path: Path) -> None:
    model = untrained("skipgram-negative", checkpoint_dir=tmp_path)
    train(model, compute_loss=True)
    found = TFWord2Vec.resume(tmp_path)
    for name in ("epoch_losses", "running_training_loss", "total_train_time", "alpha", "min_alpha", "epochs"):
        assert getattr(found, name) == getattr(model, name), name


def test_a_second_training_is_resumed_as_the_second(tmp_path: Path) -> None:
    whole, model = untrained("cbow-negative"), untrained("cbow-negative", checkpoint_dir=tmp_path, cache_memory=0)
    for each in (whole, model):
        train(each, start_alpha=0.05, end_alpha=0.01)
    train(whole)
    interrupt(model)
    resumed = TFWord2Vec.resume(tmp_path, SENTENCES)
    assert_equal_models(whole, resumed)
    assert (resumed.train_count, resumed.alpha, resumed.min_alpha) == (2, whole.alpha, whole.min_alpha)
    assert resumed.total_train_time > model.total_train_time - 1


def test_lock_factors_are_kept(tmp_path: Path) -> None:
    whole, model = untrained("cbow-negative"), untrained("cbow-negative", checkpoint_dir=tmp_path, cache_memory=0)
    for each in (whole, model):
        each.wv.vectors_lockf = np.linspace(0, 1, len(each.wv), dtype=np.float32)
    train(whole)
    interrupt(model)
    assert_equal_models(whole, TFWord2Vec.resume(tmp_path, SENTENCES))


@pytest.mark.parametrize("kind", ["text", "gzip", "encoded"])
def test_files_are_resumed_in_the_midst_of_an_epoch_by_more_workers_too(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / ("corpus.txt.gz" if kind == "gzip" else "corpus.txt")
    text = "".join(" ".join(sentence) + "\n" for sentence in SENTENCES)
    if kind == "gzip":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    if kind == "encoded":
        encode_corpus(path, tmp_path / "encoded")
        path = tmp_path / "encoded"
    folder = CheckpointFolder(tmp_path / "checkpoints")
    with monkeypatch.context() as patch:
        stop_at_block(50, patch)
        with pytest.raises(StopError):
            TFWord2Vec(corpus_file=str(path), **SETTINGS | {"workers": 2}, checkpoint_dir=folder.path)
    resumed = TFWord2Vec.resume(folder.path, corpus_file=str(path), workers=1, cache_memory=0)
    newest = folder.newest()
    assert newest is not None
    assert [epoch["counts"]["raw_words"] for epoch in newest.content["training"]["epochs"]] == [WORDS] * EPOCHS
    assert resumed.workers == 1


def test_more_epochs_in_the_midst_of_a_training(tmp_path: Path) -> None:
    interrupt(untrained("skipgram-negative", checkpoint_dir=tmp_path, cache_memory=0))
    resumed = TFWord2Vec.resume(tmp_path, SENTENCES, epochs=EPOCHS + 1)
    assert len(resumed.epoch_losses) == resumed.epochs == EPOCHS + 1
    assert resumed.min_alpha_yet_reached < 0.002
    with pytest.raises(ValueError, match=f"epochs is {EPOCHS}, and the training in .* was to have {EPOCHS + 1}"):
        TFWord2Vec.resume(tmp_path, SENTENCES, epochs=EPOCHS)


def test_what_may_change_is_taken_over(tmp_path: Path) -> None:
    checkpoints = CheckpointFolder(tmp_path / "checkpoints")
    model = untrained("skipgram-negative", checkpoint_dir=checkpoints.path, cache_memory=0, logdir=tmp_path / "log")
    interrupt(model)
    changes: dict[str, Any] = {
        **{"workers": 2, "progress": False, "cache_memory": 1000, "cache_disk": 2**20, "cache_dir": str(tmp_path)},
        **{"checkpoint_every": 5, "keep_checkpoints": 1, "cluster": None, "column": None, "weights": None},
        **{"device": "cpu"},
        **{"cluster_timeout": 7.0, "cluster_overlap": True, "cluster_dtype": "float32", "allow_network": True},
        **{
            "backup_workers": 0,
            "max_workers": 2,
            "blocks_per_call": 3,
            "recovery_timeout": 8.0,
            "max_recoveries": 2,
            "vectors_on_servers": False,
            "tables_dir": None,
            "logdir": tmp_path / "other",
        },
    }
    # A training without validation gets none when it is resumed; test_validation_resumed.py has one that has it.
    assert changes.keys() == MAY_CHANGE - {"validation", "validation_every", "early_stopping"}
    resumed = TFWord2Vec.resume(checkpoints.path, SENTENCES, **changes)
    assert {name: getattr(resumed, name) for name in changes} == changes
    assert len(checkpoints.checkpoints()) == 1
    assert list((tmp_path / "other").glob("events*"))

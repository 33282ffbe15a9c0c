"""`optimizer="adagrad"` with vectors that only the servers have: the states are there, too, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors
from support.contract import SENTENCES, assert_equal_models, assert_equal_states
from support.error_table import cases_under
from support.placements import leases_on, shared_cluster
from support.resumed_training import EPOCHS, Interrupted, train, untrained
from support.resumed_training import SENTENCES as LONG
from support.stopping import StopError, stop

from gensim_tfw2v import TFWord2Vec, tuning
from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder
from gensim_tfw2v.cluster.connection import connect
from gensim_tfw2v.cluster.remote_functions import local
from gensim_tfw2v.model.checkpoint_content import contents_of
from gensim_tfw2v.placement.remote.initial_rows import initial_rows
from gensim_tfw2v.placement.remote.tables import RemoteTables

SMALL: dict[str, Any] = {
    **{"vector_size": 8, "min_count": 1, "sample": 0, "workers": 1, "seed": 3, "hs": 1},
    **{"optimizer": "adagrad", "cluster_dtype": "float32"},
}
MESSAGES = cases_under("Vectors on servers")


def on_servers(**settings: Any) -> TFWord2Vec:
    """Return a model whose vectors the servers will make."""
    model = TFWord2Vec(**SMALL | settings, cluster=shared_cluster(), vectors_on_servers=True)
    model.build_vocab(SENTENCES)
    return model


def trained(model: TFWord2Vec, epochs: int = 2) -> TFWord2Vec:
    """Train a model, and return it."""
    model.train(SENTENCES, total_examples=len(SENTENCES), epochs=epochs, start_alpha=0.02, end_alpha=0.01)
    return model


def beginning_as_servers_do(model: TFWord2Vec) -> TFWord2Vec:
    """Return the model with the initial vectors that servers make for its seed."""
    (seed,) = np.random.SeedSequence(model.seed).generate_state(1, np.uint64).tolist()
    rows = local(np.arange(len(model.wv), dtype=np.int64))
    model.wv.vectors[:] = initial_rows(seed, rows, model.vector_size).numpy()
    return model


def fetched(model: TFWord2Vec) -> Any:
    """Return what the servers have of a model, as a model of this process has it."""
    tables = model.wv.vectors.store.tables_on(connect(shared_cluster()), have_states=True)
    wide = {
        name: tables.rows(name, 0, len(model.wv)) for name in ("inputs", "outputs", "nodes") if tables.handles(name)
    }
    found = SimpleNamespace(wv=SimpleNamespace(index_to_key=model.wv.index_to_key, vectors=wide["inputs"][:, :-1]))
    for attribute, name in (("syn1neg", "outputs"), ("syn1", "nodes")):
        if name in wide:
            setattr(found, attribute, wide[name][:, :-1])
    found.optimizer_states = {name: rows[:, -1] for name, rows in wide.items()}
    return found


def assert_alike(model: TFWord2Vec, other: TFWord2Vec) -> None:
    """Fail unless a model on the servers and one in this process have the same vectors and states."""
    found = fetched(model)
    np.testing.assert_allclose(found.wv.vectors, other.wv.vectors, atol=1e-4)
    np.testing.assert_allclose(found.syn1neg, other.syn1neg, atol=1e-4)
    if other.hs:
        np.testing.assert_allclose(found.syn1, other.syn1, atol=1e-4)
    for name, states in found.optimizer_states.items():
        assert states.any()
        np.testing.assert_allclose(states, other.optimizer_states[name], rtol=1e-3, atol=1e-4, err_msg=name)


def test_tables_with_states_begin_with_the_same_vectors_and_with_one_state() -> None:
    tables = RemoteTables(connect(shared_cluster()), 2)
    tables.make("alone", 50, 8)
    tables.make("inputs", 50, 9)
    tables.fill("alone", 5)
    tables.fill("inputs", 5, state=7.0)
    alone, wide = (tables.rows(name, 0, 50) for name in ("alone", "inputs"))
    tables.free()
    np.testing.assert_array_equal(wide[:, :-1], alone)
    assert (wide[:, -1] == 7).all()


def test_a_training_of_many_words_begins_with_the_first_state_of_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "LEAST_WORDS_FOR_SGD", 100)
    here = TFWord2Vec(**SMALL | {"hs": 0})
    here.build_vocab(SENTENCES)
    beginning_as_servers_do(here)
    model = trained(on_servers(hs=0), epochs=3)
    assert_alike(model, trained(here, epochs=3))
    assert all((states >= 800).all() for states in fetched(model).optimizer_states.values())


@pytest.mark.parametrize("distribution", ["downpour", pytest.param("synchronous", marks=pytest.mark.slow)])
def test_two_trainings_give_the_vectors_and_states_of_one_process(distribution: str) -> None:
    model = on_servers(distribution=distribution)
    here = TFWord2Vec(**SMALL)
    here.build_vocab(SENTENCES)
    beginning_as_servers_do(here)
    for _ in range(2):
        assert_alike(trained(model), trained(here))
    assert model.optimizer_states == {}
    model.free_server_vectors()


def test_the_second_training_continues_with_the_states_that_the_servers_have() -> None:
    """Rows that have been trained move less far than rows without a state."""
    model = trained(on_servers())
    before, states = model.wv.vectors[:], fetched(model).optimizer_states
    anew = TFWord2Vec(**SMALL)
    anew.build_vocab(SENTENCES)
    anew.wv.vectors[:], anew.syn1neg[:], anew.syn1[:] = before, model.syn1neg[:], model.syn1[:]
    anew.train_count = 1  # random numbers depend on it
    moved, moved_anew = (np.linalg.norm(trained(one).wv.vectors[:] - before, axis=1).mean() for one in (model, anew))
    assert moved < moved_anew
    for name, values in fetched(model).optimizer_states.items():
        assert (values >= states[name]).all() and (values > states[name]).any()
    model.free_server_vectors()


def test_what_reads_vectors_sees_no_states(tmp_path: Path) -> None:
    model = trained(on_servers(validation=SENTENCES[:20]))
    vectors = fetched(model).wv.vectors
    assert model.wv.vectors.shape == vectors.shape == (len(model.wv), 8)
    np.testing.assert_array_equal(model.wv.vectors[:], vectors)
    np.testing.assert_array_equal(
        model.wv[["human", "user"]], vectors[[model.wv.key_to_index[w] for w in ("human", "user")]]
    )
    model.export_vectors(tmp_path / "vectors.bin")
    model.export_vectors(tmp_path / "vectors.kv")
    for exported in (
        KeyedVectors.load_word2vec_format(str(tmp_path / "vectors.bin"), binary=True),
        KeyedVectors.load(str(tmp_path / "vectors.kv"), mmap="r"),
    ):
        np.testing.assert_array_equal(exported.vectors, vectors)
    assert 0 < model.validation_losses[-1] < np.inf
    model.free_server_vectors()


def test_freed_vectors_take_their_states_with_them() -> None:
    before = leases_on(shared_cluster())
    model = trained(on_servers(), epochs=4)
    states = fetched(model).optimizer_states["inputs"]
    model.free_server_vectors()
    assert leases_on(shared_cluster()) == before
    assert (fetched(trained(model, epochs=1)).optimizer_states["inputs"] < states).all()
    model.free_server_vectors()


LENGTHY: dict[str, Any] = {"optimizer": "adagrad", "cluster_dtype": "float32", "cache_memory": 0}


def kept_on_servers(**settings: Any) -> TFWord2Vec:
    """Return an untrained model of three epochs of thirty blocks."""
    place = {"cluster": shared_cluster(), "vectors_on_servers": True}
    return untrained("skipgram-negative", **LENGTHY | place | settings)


@pytest.mark.slow
def test_a_resumed_training_gives_the_vectors_and_states_of_one_that_nothing_stopped(tmp_path: Path) -> None:
    whole, stopped = train(kept_on_servers()), kept_on_servers(checkpoint_dir=tmp_path)
    with pytest.raises(StopError):
        train(stopped, Interrupted(9000, stop))
    checkpoint = CheckpointFolder(tmp_path).newest()
    assert checkpoint is not None
    assert checkpoint.array("inputs").shape == (len(stopped.wv), 12)
    np.testing.assert_array_equal(states_in_newest(tmp_path), fetched(stopped).optimizer_states["inputs"])
    stopped.free_server_vectors()
    resumed = TFWord2Vec.resume(tmp_path, LONG, cluster=shared_cluster())
    assert len(resumed.epoch_losses) == EPOCHS
    assert_equal_models(fetched(resumed), fetched(whole))
    assert_equal_states(fetched(resumed), fetched(whole))
    for model in (whole, resumed):
        model.free_server_vectors()


@pytest.mark.slow
def test_a_training_is_resumed_with_its_states_in_the_other_place(tmp_path: Path) -> None:
    """From the servers to this process, and back."""
    begun = kept_on_servers(checkpoint_dir=tmp_path)
    with pytest.raises(StopError):
        train(begun, Interrupted(9000, stop))
    with pytest.raises(StopError):
        TFWord2Vec.resume(tmp_path, Interrupted(4500, stop), cluster=None, vectors_on_servers=False)
    states = states_in_newest(tmp_path)
    assert (states > fetched(begun).optimizer_states["inputs"]).any()
    begun.free_server_vectors()
    back = TFWord2Vec.resume(tmp_path, LONG, cluster=shared_cluster(), vectors_on_servers=True)
    after = fetched(back).optimizer_states["inputs"]
    assert (after >= states).all() and (after > states).any()
    back.free_server_vectors()


def states_in_newest(folder: Path) -> np.ndarray:
    """Return the inputs' states in the newest checkpoint."""
    checkpoint = CheckpointFolder(folder).newest()
    assert checkpoint is not None
    states: np.ndarray = checkpoint.array("inputs.state")[:, 0]
    return states


def test_a_checkpoint_fills_rows_with_as_many_numbers_as_the_tables_have(tmp_path: Path) -> None:
    model = TFWord2Vec(SENTENCES, **SMALL, checkpoint_dir=tmp_path)
    checkpoint = CheckpointFolder(tmp_path).newest()
    assert checkpoint is not None
    contents = contents_of(checkpoint)

    def read(have_states: bool) -> np.ndarray:
        return np.concatenate([rows for _, rows in contents("inputs", have_states)])

    np.testing.assert_array_equal(read(False), model.wv.vectors)
    np.testing.assert_array_equal(read(True), np.column_stack([model.wv.vectors, model.optimizer_states["inputs"]]))


def test_a_checkpoint_without_states_fills_states_of_zero(tmp_path: Path) -> None:
    model = TFWord2Vec(SENTENCES, **SMALL | {"optimizer": "sgd"}, checkpoint_dir=tmp_path)
    (path,) = tmp_path.glob("checkpoint-*")
    found = np.concatenate([rows for _, rows in contents_of(Checkpoint(path))("nodes", True)])
    np.testing.assert_array_equal(found[:, :-1], model.syn1)
    assert not found[:, -1].any()


@pytest.mark.parametrize("after", MESSAGES)
def test_vectors_on_servers_keep_their_optimizer_until_they_are_freed(after: str) -> None:
    (before,) = {"sgd", "adagrad"} - {after}
    model = trained(on_servers(optimizer=before))
    vectors, losses, trainings = model.wv.vectors[:], model.epoch_losses, model.train_count
    model.optimizer = after
    with pytest.raises(ValueError, match="vectors on the servers") as error:
        trained(model)
    assert not [fragment for fragment in MESSAGES[after] if fragment not in str(error.value)]
    assert (model.epoch_losses, model.train_count) == (losses, trainings)
    np.testing.assert_array_equal(model.wv.vectors[:], vectors)
    model.optimizer = before
    trained(model)
    model.free_server_vectors()
    model.optimizer = after
    trained(model)
    model.free_server_vectors()


def test_the_optimizer_may_be_changed_before_the_servers_make_the_vectors() -> None:
    model = on_servers(optimizer="sgd")
    model.optimizer = "adagrad"
    assert fetched(trained(model)).optimizer_states["inputs"].any()
    model.free_server_vectors()

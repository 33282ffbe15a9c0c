"""Vectors that are on the parameter servers only: trained, read, written to files, and too large for this process."""

from __future__ import annotations

import copy
import json
import os
import pickle
import resource
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors
from support.contract import SENTENCES, topic_gap, two_topics
from support.placements import leases_on, shared_cluster

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.cluster.connection import connect
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.placement.remote.server_matrix import ServerStore
from gensim_tfw2v.placement.remote.tables import RemoteTables
from gensim_tfw2v.placement.remote.variables import free_lease, servers_of

SMALL: dict[str, Any] = {"vector_size": 8, "min_count": 1, "sample": 0, "epochs": 3, "workers": 1}


@pytest.fixture(scope="module")
def on_servers() -> Any:
    """Return a model trained with its vectors on the servers."""
    return TFWord2Vec(SENTENCES, **SMALL, cluster=shared_cluster(), vectors_on_servers=True)


def started(shards: int, seed: int = 5) -> np.ndarray:
    """Return a table of random starting values that was made in so many shards."""
    tables = RemoteTables(connect(shared_cluster()), shards)
    tables.make("inputs", 50, 40)
    tables.fill("inputs", seed)
    values = tables.rows("inputs", 0, 50)
    tables.free()
    return values


def test_starting_values_are_uniform_and_follow_from_the_seed_alone() -> None:
    values = started(shards=2)
    np.testing.assert_array_equal(started(shards=6), values)
    assert not (started(shards=2, seed=6) == values).any()
    scaled = values * 40  # to -1 ... 1, of which the variance is 1/3
    assert abs(scaled.mean()) < 0.06
    assert abs(scaled.var() - 1 / 3) < 0.03
    assert scaled.min() < -0.99
    assert scaled.max() > 0.99
    assert scaled.min() >= -1
    assert scaled.max() < 1
    assert abs(np.corrcoef(values[:-1].ravel(), values[1:].ravel())[0, 1]) < 0.08


def test_vectors_on_the_servers_learn_and_stay_there_until_they_are_freed() -> None:
    sentences = two_topics()
    arguments = SMALL | {"sg": 1, "workers": 2, "batch_words": 1500, "alpha": 0.05, "epochs": 30}
    model = TFWord2Vec(sentences, **arguments, cluster=shared_cluster(), vectors_on_servers=True)
    gap = topic_gap(model.wv)
    assert gap > 1.0
    model.train(sentences, total_examples=600, epochs=1, start_alpha=1e-9, end_alpha=1e-9)
    assert topic_gap(model.wv) == pytest.approx(gap, abs=1e-3)
    model.free_server_vectors()
    model.train(sentences, total_examples=600, epochs=1, start_alpha=1e-9, end_alpha=1e-9)
    assert abs(topic_gap(model.wv)) < 0.3
    model.free_server_vectors()


def test_training_on_the_servers_begins_with_the_vectors_that_are_there() -> None:
    sgd = SMALL | {"optimizer": "sgd"}  # whose steps do not depend on those before
    on_servers = TFWord2Vec(**sgd, cluster=shared_cluster(), vectors_on_servers=True, alpha=1e-9, min_alpha=1e-9)
    on_servers.build_vocab(SENTENCES)
    on_servers.train(SENTENCES, total_examples=150, epochs=1)
    local = TFWord2Vec(**sgd)
    local.build_vocab(SENTENCES)
    local.wv.vectors[:] = on_servers.wv.vectors[:]
    local.train_count = 1  # random numbers depend on it
    for model in (local, on_servers):
        model.train(SENTENCES, total_examples=150, epochs=2, start_alpha=0.05, end_alpha=0.01)
    np.testing.assert_allclose(on_servers.wv.vectors[:], local.wv.vectors, atol=1e-5)
    np.testing.assert_allclose(on_servers.syn1neg[:], local.syn1neg, atol=1e-5)
    on_servers.free_server_vectors()


@pytest.mark.parametrize(
    "mode", [{"hs": 1, "negative": 0}, pytest.param({"hs": 1, "negative": 5, "sg": 1}, marks=pytest.mark.slow)], ids=str
)
def test_tree_nodes_are_on_the_servers_as_well(mode: dict[str, int]) -> None:
    model = TFWord2Vec(SENTENCES, **SMALL, **mode, cluster=shared_cluster(), vectors_on_servers=True)
    assert np.abs(model.syn1[:-1]).max(axis=1).all()
    model.free_server_vectors()


def test_words_are_read_one_by_one(on_servers: Any) -> None:
    assert on_servers.wv["human"].shape == (8,)
    np.testing.assert_array_equal(on_servers.wv[["human", "user"]][1], on_servers.wv["user"])
    assert -1 <= on_servers.wv.similarity("human", "user") <= 1


@pytest.mark.parametrize(
    "use",
    [
        lambda model, folder: model.save(str(folder / "model")),
        lambda model, folder: model.wv.save(str(folder / "vectors.kv")),
        lambda model, folder: copy.deepcopy(model),
        lambda model, folder: model.to_gensim(),
        lambda model, folder: model.score(SENTENCES[:2], 2),
        lambda model, folder: model.predict_output_word(["human"]),
        lambda model, folder: model.wv.most_similar("human"),
        lambda model, folder: np.array(model.wv.vectors),
    ],
    ids=["save", "save-vectors", "copy", "to-gensim", "score", "predict", "search", "array"],
)
def test_what_would_gather_the_vectors_says_what_to_do_instead(on_servers: Any, use: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="export_vectors"):
        use(on_servers, tmp_path)


@pytest.mark.parametrize("part", [lambda model: model, lambda model: model.wv], ids=["model", "vectors"])
def test_a_save_that_is_refused_leaves_the_file_as_it_is(on_servers: Any, part: Any, tmp_path: Path) -> None:
    path = tmp_path / "precious"
    path.write_bytes(b"what was there")
    with pytest.raises(RuntimeError) as of_saving:
        part(on_servers).save(str(path))
    assert path.read_bytes() == b"what was there"
    with pytest.raises(RuntimeError) as of_pickling:
        pickle.dumps(part(on_servers))
    assert str(of_saving.value) == str(of_pickling.value)


def test_exported_vectors_are_of_gensims_own_class(on_servers: Any, tmp_path: Path) -> None:
    on_servers.export_vectors(tmp_path / "vectors.kv")
    exported = KeyedVectors.load(str(tmp_path / "vectors.kv"), mmap="r")
    assert type(exported) is KeyedVectors
    np.testing.assert_array_equal(exported["human"], on_servers.wv["human"])


def test_the_vocabulary_is_built_once(on_servers: Any) -> None:
    with pytest.raises(RuntimeError, match="built once"):
        on_servers.build_vocab([["new", "words"]], update=True)


def test_vectors_that_are_not_made_yet_or_are_gone_raise_an_error() -> None:
    model = TFWord2Vec(**SMALL, cluster=shared_cluster(), vectors_on_servers=True)
    model.build_vocab(SENTENCES)
    with pytest.raises(ClusterError, match="when training begins"):
        model.wv["human"]
    model.train(SENTENCES, total_examples=150, epochs=1)
    _free_as_another_coordinator_would(
        model.wv.vectors.store.tables_on(connect(shared_cluster()), have_states=True).name
    )
    with pytest.raises(ClusterError, match="out of reach"):
        model.wv["human"]


def test_tables_that_are_being_made_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = connect(shared_cluster())
    before = leases_on(shared_cluster())
    begun, go_on = threading.Event(), threading.Event()
    store = ServerStore(20, 4, {"inputs": None})
    make = RemoteTables.make

    def make_slowly(*arguments: Any) -> None:
        begun.set()
        assert go_on.wait(60)
        make(*arguments)

    monkeypatch.setattr(RemoteTables, "make", make_slowly)
    interrupted = threading.Thread(
        target=lambda: store.tables_on(connection, have_states=False)
    )  # the training's, which continues
    interrupted.start()
    assert begun.wait(60)
    threading.Timer(0.2, go_on.set).start()
    tables = store.tables_on(connection, have_states=False)
    interrupted.join()
    assert leases_on(shared_cluster()) - before == {tables.name}
    store.free()
    assert leases_on(shared_cluster()) == before


def _free_as_another_coordinator_would(lease: str) -> None:
    connection = connect(shared_cluster())
    free_lease(servers_of(connection), lease, connection.describe("ps", 0)["runs"][lease]["tables"])


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz", ".bin", ".kv"])
def test_exported_vectors_are_those_of_the_servers_in_vocabulary_order(
    on_servers: Any, suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"vectors{suffix}"
    path.write_text("an older file")
    on_servers.export_vectors(path)
    opened = (
        KeyedVectors.load(str(path), mmap="r")
        if suffix == ".kv"
        else KeyedVectors.load_word2vec_format(str(path), binary=suffix == ".bin")
    )
    assert opened.index_to_key == on_servers.wv.index_to_key
    np.testing.assert_array_equal(opened.vectors, on_servers.wv.vectors[:])
    assert len(opened.most_similar("human")) == 10


@pytest.mark.parametrize("suffix", [".txt", ".bin"])
def test_a_model_in_this_process_is_exported_as_gensim_does_it(suffix: str, tmp_path: Path) -> None:
    model = TFWord2Vec(SENTENCES, **SMALL)
    model.export_vectors(tmp_path / f"ours{suffix}")
    model.wv.save_word2vec_format(str(tmp_path / "gensims"), binary=suffix == ".bin")
    assert (tmp_path / f"ours{suffix}").read_bytes() == (tmp_path / "gensims").read_bytes()


def test_the_lengths_in_exported_keyed_vectors_are_those_that_gensim_computes(tmp_path: Path) -> None:
    model = TFWord2Vec(SENTENCES, **SMALL)
    model.export_vectors(tmp_path / "vectors.kv")
    opened = KeyedVectors.load(str(tmp_path / "vectors.kv"), mmap="r")
    assert isinstance(opened.vectors, np.memmap)
    np.testing.assert_allclose(opened.norms, np.linalg.norm(model.wv.vectors, axis=1), rtol=1e-6)
    assert opened.get_vecattr("human", "count") == model.wv.get_vecattr("human", "count")


@pytest.mark.parametrize("name", ["matrix", "vectors.npy"])
def test_keyed_vectors_may_have_any_name(name: str, tmp_path: Path) -> None:
    model = TFWord2Vec(SENTENCES, **SMALL)
    model.export_vectors(tmp_path / name, "keyed-vectors")
    opened = KeyedVectors.load(str(tmp_path / name), mmap="r")
    np.testing.assert_array_equal(opened.vectors, model.wv.vectors)
    assert sorted(os.listdir(tmp_path)) == [name, f"{name}.vectors.npy"]


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.bin", "vectors.kv"])
def test_a_full_disk_is_an_error_that_leaves_the_old_file(name: str, tmp_path: Path) -> None:
    model = TFWord2Vec(SENTENCES, **SMALL | {"vector_size": 5000, "epochs": 1})
    path = tmp_path / name
    path.write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))  # stands in for the end of the disk
    try:
        with pytest.raises(OSError, match=name):
            model.export_vectors(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", ["vectors", "vectors.kv.gz", "no/such/folder/vectors.txt"])
def test_a_file_that_cannot_hold_vectors_is_refused(on_servers: Any, name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"vectors|folder"):
        on_servers.export_vectors(tmp_path / name)
    assert not os.listdir(tmp_path)


WITHIN_A_LIMIT = """
import json, resource, sys
import numpy as np
from gensim.models import KeyedVectors
from gensim_tfw2v import TFWord2Vec

cluster, folder, on_servers = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3] == "True"
small = TFWord2Vec([["a", "b"]] * 20, min_count=1, cluster=cluster, epochs=1)  # TensorFlow has started

words, size = 40_000, 1600
table = words * size * 4
model = TFWord2Vec(
    vector_size=size, min_count=1, sample=0, cluster=cluster, vectors_on_servers=on_servers, batch_words=500
)
status = dict(line.split(":") for line in open("/proc/self/status"))
used = int(status["VmData"].split()[0]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (used + table // 2,) * 2)
model.build_vocab_from_freq({f"word{number}": words - number for number in range(words)})
sentences = [[f"word{number}", f"word{number + 1}"] * 5 for number in range(0, 200, 2)]
model.train(sentences, total_examples=len(sentences), epochs=2)
assert np.isfinite(model.wv["word7"]).all()

model.export_vectors(folder + "/vectors.kv")
opened = KeyedVectors.load(folder + "/vectors.kv", mmap="r")
assert opened.vectors.nbytes == table
np.testing.assert_array_equal(opened["word7"], model.wv["word7"])
print("nearest", opened.most_similar("word7", topn=1)[0][0])
"""


def run_within_a_limit(folder: Path, on_servers: bool) -> subprocess.CompletedProcess[str]:
    """Train 256 MB of vectors in a process that may take half of that."""
    addresses = shared_cluster().addresses
    arguments = [json.dumps(addresses), str(folder), str(on_servers)]
    paths = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)])
    return subprocess.run(
        [sys.executable, "-c", WITHIN_A_LIMIT, *arguments],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.slow
def test_vectors_larger_than_the_memory_of_the_coordinator_are_trained_exported_and_queried(tmp_path: Path) -> None:
    done = run_within_a_limit(tmp_path, on_servers=True)
    assert done.stdout.startswith("nearest word"), done.stderr[-3000:]


@pytest.mark.slow
def test_the_same_vectors_in_the_coordinator_exceed_its_limit(tmp_path: Path) -> None:
    done = run_within_a_limit(tmp_path, on_servers=False)
    assert "MemoryError" in done.stderr

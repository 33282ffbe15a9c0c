"""`cluster` may be the path of a JSON file of addresses, as `--cluster` is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.contract import SENTENCES, SMALL
from support.placements import shared_cluster

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.cluster.specification import addresses_of

ADDRESSES = {"ps": ["127.0.0.1:2222"], "worker": ["127.0.0.1:2223", "127.0.0.1:2224"]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file as `cluster/local.sh` writes it."""
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(ADDRESSES))
    return path


def test_a_path_gives_the_addresses_in_its_file(file: Path) -> None:
    assert addresses_of(file) == addresses_of(str(file)) == ADDRESSES
    file.write_text(json.dumps({"cluster": ADDRESSES, "task": {"type": "worker", "index": 0}}))
    assert addresses_of(file) == ADDRESSES


def test_a_model_trains_on_the_cluster_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(addresses_of(shared_cluster())))
    settings = SMALL | {"workers": 1, "seed": 3}
    expected = TFWord2Vec(SENTENCES, **settings, cluster=shared_cluster()).wv.vectors
    model = TFWord2Vec(SENTENCES, **settings, cluster=str(path))
    np.testing.assert_array_equal(model.wv.vectors, expected)
    later = TFWord2Vec(**settings)
    later.build_vocab(SENTENCES)
    later.train(SENTENCES, total_examples=len(SENTENCES), epochs=later.epochs, cluster=path)
    np.testing.assert_array_equal(later.wv.vectors, expected)
    assert later.training_report is not None and "worker 0" in later.training_report["tasks"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cluster: there is no file '.*cluster.json'"),
        ("ps: 1", "cluster.json is not JSON"),
        ("[1]", "cluster.json holds no cluster but \\[1\\]"),
        ('{"ps": ["127.0.0.1:1"]}', "addresses of job 'worker', got '.*cluster.json'"),
    ],
)
def test_a_file_that_is_missing_or_holds_no_cluster_is_named(file: Path, text: str | None, message: str) -> None:
    if text is None:
        file.unlink()
    else:
        file.write_text(text)
    with pytest.raises(FileNotFoundError if text is None else ValueError, match=message):
        TFWord2Vec(cluster=str(file))

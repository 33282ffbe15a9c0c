"""Without compiled operations, and on a second device, TFDoc2Vec trains documents by TensorFlow's own operations."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gensim.models import Doc2Vec
from support.child_process import run_script
from support.chosen_step import training_with
from support.documents import SMALL, SUMMED, TOPICS, arrays_of, unit
from support.stand_in_gpu import STAND_IN_GPU

from gensim_tfw2v import TFDoc2Vec
from gensim_tfw2v.steps.kernel import PLAIN

# Each mode has a graph of its own to trace.
EACH_MODE = pytest.mark.parametrize(
    "mode",
    [
        pytest.param(mode, id=name, marks=[] if name in ("dm", "dbow") else pytest.mark.slow)
        for name, mode in SUMMED.items()
    ],
)


@pytest.fixture(autouse=True)
def plain_step() -> Iterator[None]:
    with training_with(PLAIN):
        yield


@EACH_MODE
def test_documents_of_one_topic_are_alike_and_found_again_from_their_words(mode: dict[str, Any]) -> None:
    arguments = SMALL | mode | {"epochs": 40, "workers": 2}
    model, gensims = TFDoc2Vec(TOPICS, **arguments), Doc2Vec(TOPICS, **arguments)
    near = unit(model.dv.vectors) @ unit(model.dv.vectors).T
    same = np.arange(60)[:, None] % 3 == np.arange(60) % 3
    np.fill_diagonal(same, False)
    assert near[same].mean() > near[~same & ~np.eye(60, dtype=bool)].mean() + 0.1
    before = copy.deepcopy(arrays_of(model))
    inferred = model.infer_corpus([each.words for each in TOPICS])
    found = share_found(inferred, model)
    # Through the tree, gensim finds fewer itself.
    assert found > 0.9 or found >= share_found(np.array([gensims.infer_vector(each.words) for each in TOPICS]), gensims)
    assert all(np.array_equal(values, before[array]) for array, values in arrays_of(model).items())


def share_found(inferred: np.ndarray, model: Doc2Vec) -> float:
    """Return the share of documents whose inferred vectors are nearest to a trained one of their topic."""
    topics = np.argmax(unit(inferred) @ unit(model.dv.vectors).T, axis=1) % 3
    return float(np.mean(topics == np.arange(60) % 3))


@EACH_MODE
def test_one_worker_and_one_seed_give_equal_vectors(mode: dict[str, Any]) -> None:
    one, other = (TFDoc2Vec(TOPICS, **SMALL | mode) for _ in range(2))
    for name, values in arrays_of(one).items():
        np.testing.assert_array_equal(values, arrays_of(other)[name], err_msg=name)


def test_frozen_words_stay_and_documents_are_trained() -> None:
    model = TFDoc2Vec(TOPICS, **SMALL)
    before = copy.deepcopy(arrays_of(model))
    model.train(TOPICS, total_examples=60, epochs=1, freeze="inputs")
    after = arrays_of(model)
    assert [name for name in after if np.array_equal(after[name], before[name])] == ["wv"]


TRAIN = """
import json
import numpy as np
from gensim_tfw2v import TFDoc2Vec
from support.documents import MODES, SMALL, TOPICS, arrays_of

facts = []
for name in ("dm", "dbow"):
    gpu, cpu = (TFDoc2Vec(TOPICS, **SMALL | MODES[name], device=device) for device in ("gpu", "cpu"))
    far = max(float(np.abs(values - arrays_of(cpu)[array]).max()) for array, values in arrays_of(gpu).items())
    facts.append({"report": gpu.training_report, "furthest": far, "longest": float(np.abs(gpu.dv.vectors).max())})
print(json.dumps(facts))
"""


@pytest.mark.slow
def test_a_second_device_trains_blocks_of_documents_that_are_made_here() -> None:
    done = run_script(STAND_IN_GPU + TRAIN)
    assert done.returncode == 0, done.stderr
    for found in json.loads(done.stdout):
        assert found["report"] | {"optimizer": ""} == {"device": "gpu:0", "draws": "host", "optimizer": ""}
        assert found["furthest"] <= 1e-3 * found["longest"]


REPRODUCIBLE = """
import numpy as np
from gensim_tfw2v import TFDoc2Vec
from gensim_tfw2v.placement.local import calls
from support.documents import MODES, SMALL, TOPICS, arrays_of

calls.usable_cores = lambda: 4
for mode in (MODES["dm"], MODES["dbow"]):
    settings = SMALL | mode | {"reproducible": True, "batch_words": 50}
    one, other = (arrays_of(TFDoc2Vec(TOPICS, **settings | {"workers": workers})) for workers in (1, 3))
    assert all(np.array_equal(values, other[name]) for name, values in one.items())
"""


@pytest.mark.slow
def test_parts_of_rounds_train_documents_on_copies_of_their_rows() -> None:
    done = run_script(REPRODUCIBLE)
    assert done.returncode == 0, done.stderr

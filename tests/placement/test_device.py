"""`device=` places a local training: what is chosen, what is refused, and that tables stay where they are put.

The second half of the CPU stands in for a GPU. Whether a GPU has each operation is in `tests/steps/test_gpu_graph.py`.
"""

from __future__ import annotations

import json
import logging
from typing import Any

import numpy as np
import pytest
from support.child_process import run_script
from support.contract import SENTENCES, SMALL
from support.error_table import cases_under
from support.example_blocks import SETTINGS, maker_from
from support.stand_in_gpu import SECOND_CPU, STAND_IN_GPU

from gensim_tfw2v import TFWord2Vec, tuning
from gensim_tfw2v.model.gensim_files import saved_state
from gensim_tfw2v.model.resuming import MAY_CHANGE
from gensim_tfw2v.placement import device as module
from gensim_tfw2v.placement.device import choose_device
from gensim_tfw2v.placement.local.calls import Calls, calls_on_gpu
from gensim_tfw2v.placement.local.placement import LocalPlacement
from gensim_tfw2v.placement.request import CorpusSize, TrainingOptions
from gensim_tfw2v.runtime.devices import THE_CPU, Device
from gensim_tfw2v.steps.kernel import compiled_kernel, plain_kernel

MESSAGES = cases_under("Devices")
A_GPU = Device("gpu", 0, "/device:GPU:0")
LARGE = CorpusSize(total_words=tuning.LEAST_WORDS_FOR_GPU // 5, epochs=5)
TRAIN = """
import json
import numpy as np
from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.placement.local.drawing_placement import DrawingPlacement
from gensim_tfw2v.placement.local.placement import LocalPlacement
from support.contract import SENTENCES, SMALL, learnt_arrays

places, graphs, threads = set(), set(), set()
call = LocalPlacement._call

def watched(placement, graph, *arguments):
    places.update((name, table.handle.device) for name, table in placement._variables.items())
    threads.add((type(placement).__name__, placement.concurrency))
    results = call(placement, graph, *arguments)
    graphs.update(result.device for result in tf.nest.flatten(results))
    return results

LocalPlacement._call = watched
facts = []
for settings in CASES:
    arrays = {}
    for device in ("gpu", "cpu"):
        places.clear(), graphs.clear(), threads.clear()
        model = TFWord2Vec(SENTENCES, **SMALL, workers=1, device=device, **settings)
        arrays[device] = learnt_arrays(model)
        if device == "gpu":
            facts.append({"report": model.training_report, "places": sorted(places), "graphs": sorted(graphs)})
            facts[-1]["threads"] = sorted(threads)
    far = [float(np.abs(arrays["gpu"][name] - found).max()) for name, found in arrays["cpu"].items()]
    moved = float(np.abs(arrays["gpu"]["vectors"]).max())
    facts[-1] |= {"furthest": max(far), "longest": moved, "tables": len(far)}
print(json.dumps(facts))
"""


def options(**others: Any) -> TrainingOptions:
    """Return the options of a training in this process, by default one of skip-gram with negative sampling."""
    default: dict[str, Any] = {"distribution": "downpour", "workers": 1, "skip_gram": True, "tree": False}
    return TrainingOptions(**default | {"negative": 5, "timeout": 60.0} | others)


def trained_on_the_stand_in(*cases: dict[str, Any], draws: str = "device") -> list[dict[str, Any]]:
    """Return what is true of trainings with these settings on the stand-in, and on the CPU with plain steps.

    Draws are made at the same place in both.
    """
    variables = {"TFW2V_DRAWS": draws, "TFW2V_STEP": "plain"}
    done = run_script(f"import os\nos.environ |= {variables!r}\n{STAND_IN_GPU}CASES = {cases!r}{TRAIN}")
    assert done.returncode == 0, done.stderr
    facts: list[dict[str, Any]] = json.loads(done.stdout)
    return facts


@pytest.fixture
def plain_steps_beside_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process have no compiled operations, and a GPU."""
    monkeypatch.setattr(module, "kernel", plain_kernel)
    monkeypatch.setattr(module, "devices", lambda: [THE_CPU, A_GPU])


@pytest.mark.usefixtures("plain_steps_beside_a_gpu")
@pytest.mark.parametrize(
    ("size", "others", "chosen"),
    [
        (LARGE, {}, A_GPU),
        (CorpusSize(LARGE.total_words - 1, LARGE.epochs), {}, THE_CPU),
        (LARGE, {"skip_gram": False}, THE_CPU),
        (LARGE, {"tree": True}, THE_CPU),
        (LARGE, {"negative": 0, "tree": True}, THE_CPU),
        (LARGE, {"reproducible": True}, THE_CPU),
        (LARGE, {"distribution": "partition"}, THE_CPU),
    ],
    ids=["large", "small", "CBOW", "both", "tree", "reproducible", "sub-models"],
)
def test_a_gpu_is_chosen_for_much_skip_gram_with_negatives(
    size: CorpusSize, others: dict[str, Any], chosen: Device
) -> None:
    assert choose_device(size, options(**others)) == chosen


def test_where_steps_are_compiled_the_cpu_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "kernel", compiled_kernel)
    monkeypatch.setattr(module, "devices", lambda: [THE_CPU, A_GPU])
    assert choose_device(LARGE, options()) == THE_CPU


@pytest.mark.usefixtures("plain_steps_beside_a_gpu")
def test_the_users_choice_stands_whatever_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_device", {"cpu": THE_CPU, "gpu": A_GPU}.__getitem__)
    assert choose_device(LARGE, options(device="cpu")) == THE_CPU
    assert choose_device(CorpusSize(10, 1), options(device="gpu", skip_gram=False)) == A_GPU


def test_the_device_is_logged_and_reported(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        model = TFWord2Vec(SENTENCES, **SMALL, workers=1)
    assert "training runs on cpu" in caplog.messages
    assert model.training_report == {"device": "cpu", "draws": "host", "optimizer": "adagrad"}


def test_threads_make_blocks_while_the_gpu_trains_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gensim_tfw2v.placement.local.calls.usable_cores", lambda: 4)
    assert [(calls_on_gpu(workers).threads, calls_on_gpu(workers).at_once) for workers in (1, 3, 9)] == [
        (1, 1),
        (3, 1),
        (4, 1),
    ]
    placement = LocalPlacement(SETTINGS, maker_from(0), Calls(at_once=1, cores=1, makers=2))
    assert placement.concurrency == 3
    placement.close()


@pytest.mark.slow  # TensorFlow waits ten seconds for memory
def test_a_table_without_room_is_an_error_that_names_its_size() -> None:
    placement = LocalPlacement(SETTINGS, maker_from(0))
    with pytest.raises(MemoryError) as raised:
        placement.load_table("inputs", np.broadcast_to(np.float32(0), (2**42, 100)))
    assert [part for part in MESSAGES["a table that is larger than the device"] if part not in str(raised.value)] == []
    placement.close()


def test_tables_stay_on_the_device_and_steps_run_there() -> None:
    (found,) = trained_on_the_stand_in({"sg": 1})
    assert found["report"] == {"device": "gpu:0", "draws": "device", "optimizer": "adagrad"}
    assert [name for name, _ in found["places"]] == ["inputs", "outputs"]
    assert all(place.endswith(SECOND_CPU) for place in [*(place for _, place in found["places"]), *found["graphs"]])
    assert found["threads"] == [["DrawingPlacement", 1]]
    assert found["tables"] == 2
    assert found["furthest"] <= 1e-3 * found["longest"]


@pytest.mark.slow
def test_blocks_that_are_made_on_the_cpu_train_on_the_device() -> None:
    (found,) = trained_on_the_stand_in({"sg": 1}, draws="host")
    assert found["report"] == {"device": "gpu:0", "draws": "host", "optimizer": "adagrad"}
    assert found["threads"] == [["LocalPlacement", 1]]
    assert all(place.endswith(SECOND_CPU) for place in found["graphs"])
    assert found["furthest"] <= 1e-3 * found["longest"]


@pytest.mark.slow
def test_every_model_trains_on_the_device_as_on_the_cpu() -> None:
    cases: list[dict[str, Any]] = [
        {"sg": 1, "window": 12},
        {"sg": 1, "optimizer": "adagrad"},
        {"sg": 0},
        {"sg": 0, "window": 12},
        {"sg": 1, "hs": 1, "negative": 0},
        {"sg": 0, "hs": 1, "negative": 0},
        {"sg": 0, "hs": 1, "optimizer": "adagrad"},
    ]
    for case, found in zip(cases, trained_on_the_stand_in(*cases), strict=True):
        assert all(place.endswith(SECOND_CPU) for _, place in found["places"]), case
        assert found["furthest"] <= 1e-3 * found["longest"], case


def test_a_training_may_resume_on_another_device() -> None:
    assert "device" in MAY_CHANGE
    assert "device" not in saved_state(TFWord2Vec(device="cpu"))

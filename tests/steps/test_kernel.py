"""Which kernel a process uses, and that blocks of any size share one graph of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.contract import PURE_MODES, SENTENCES, SMALL, two_topics
from support.error_table import cases_under
from support.example_blocks import SETTINGS, maker_from, random_tables, read, work_on

import gensim_tfw2v.operations as compiled
from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.placement.calls import worker_return
from gensim_tfw2v.placement.local import placement as placement_here
from gensim_tfw2v.placement.local.placement import LocalPlacement
from gensim_tfw2v.steps import kernel as kernels
from gensim_tfw2v.steps.kernel import COMPILED, PLAIN, chosen_kernel, kernel, load_kernel, plain_kernel

MESSAGES = cases_under("Steps without C")


def contains(message: str, case: str) -> bool:
    """Return whether a message contains what the table of errors has for a case."""
    return all(part in message for part in MESSAGES[case])


@pytest.fixture
def no_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Take the compiled operations away from what is loaded from now on."""
    found = tmp_path / "none.so"
    monkeypatch.setattr(compiled, "library_path", lambda: found)
    for cached in (compiled.operations, compiled.load_operations, kernels.compiled_kernel, kernel):
        cached.cache_clear()
    yield found
    for cached in (compiled.operations, compiled.load_operations, kernels.compiled_kernel, kernel):
        cached.cache_clear()


@pytest.fixture(autouse=True)
def _no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TFW2V_STEP", raising=False)


def test_the_compiled_kernel_is_used_where_it_can_be_loaded() -> None:
    assert kernel.__wrapped__().name == COMPILED


def test_the_environment_chooses_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (PLAIN, COMPILED):
        monkeypatch.setenv("TFW2V_STEP", name)
        assert kernel.__wrapped__().name == name


def test_a_kernel_that_does_not_exist_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFW2V_STEP", "fast")
    with pytest.raises(ValueError) as raised:
        chosen_kernel()
    assert contains(str(raised.value), "a kernel that does not exist")


def test_without_compiled_operations_one_warning_names_the_cost(
    no_libraries: Path, caplog: pytest.LogCaptureFixture
) -> None:
    load_kernel()
    with caplog.at_level(logging.WARNING):
        assert [kernel().name, kernel().name] == [PLAIN, PLAIN]
    (message,) = caplog.messages
    assert str(no_libraries) in message and "TensorFlow's own operations" in message and "as long" in message


def test_the_compiled_kernel_is_an_error_without_its_operations_if_it_was_chosen(
    no_libraries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TFW2V_STEP", COMPILED)
    for load in (kernel, load_kernel):
        with pytest.raises(ImportError) as raised:
            load()
        assert contains(str(raised.value), "no compiled operations, but they were chosen")


def test_a_chosen_plain_kernel_gives_no_warning(
    no_libraries: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TFW2V_STEP", PLAIN)
    load_kernel()
    assert kernel().name == PLAIN
    assert not caplog.messages


def test_tasks_without_compiled_operations_are_refused_by_a_process_that_trains_with_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tasks: Any = SimpleNamespace(described_steps={"worker 0": PLAIN, "worker 1": COMPILED, "ps 1": PLAIN})
    with pytest.raises(ClusterError) as raised:
        worker_return.check_steps(tasks)
    assert contains(str(raised.value), "a worker without compiled operations, for a process that has them")
    monkeypatch.setattr(worker_return, "kernel", plain_kernel)
    worker_return.check_steps(tasks)


def test_blocks_of_any_size_share_one_graph_over_several_epochs() -> None:
    traced: list[Any] = []

    def train(*arguments: Any) -> Any:
        traced.append(arguments)
        return plain_kernel().train(*arguments)

    placement = LocalPlacement(SETTINGS, maker_from(0), steps=plain_kernel()._replace(train=train))
    assert len(traced) == 1
    placement.load(random_tables())
    before = read(placement)
    for epoch in range(3):
        for words in (60, 40, 10):
            task = work_on(epoch, seed=words)
            placement.train_chunk(task)
    assert len(traced) == 1
    assert not np.array_equal(read(placement).inputs, before.inputs)
    placement.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", PURE_MODES)
def test_a_mode_has_one_trace_over_three_epochs_and_for_further_models(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    traced: list[str] = []

    def watched(field: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if not tf.executing_eagerly():
                traced.append(field)
            return function(*arguments, **named)

        return call

    plain = plain_kernel()
    functions = {field: watched(field, value) for field, value in plain._asdict().items() if callable(value)}
    counting = plain._replace(**functions)
    monkeypatch.setattr(placement_here, "kernel_on", lambda device: counting)
    settings: dict[str, Any] = {**SMALL, **PURE_MODES[name], "workers": 1, "optimizer": "sgd"}
    TFWord2Vec(SENTENCES[:50], **settings | {"epochs": 1})
    once = list(traced)
    assert once
    TFWord2Vec(SENTENCES, **settings, batch_words=170)  # blocks of several sizes, the last one of each epoch shorter
    TFWord2Vec(two_topics(), **settings | {"vector_size": 5})
    assert traced == once

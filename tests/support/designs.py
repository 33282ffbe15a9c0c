"""The table of designs that the contract suite tests: an entry for each design and place.

A new design needs an entry, and nothing else, to be tested by all of `tests/placement/test_design_*.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from gensim_tfw2v.placement.designs import DESIGNS, register_design
from support.design_promises import DesignPromises, No, Outcome
from support.solo import choose_solo
from support.trained_mode import MODE

_SERVERS_AND_WORKERS = ("ps 0", "ps 1", "worker 0", "worker 1")
_WORKERS = ("worker 0", "worker 1")
_THREADS = No("threads change the same rows without locks")
_CORES = No("cores change the same rows without locks")
_WITH_ONE_CORE = ("synchronous", "columns", "lbfgs")  # designs whose workers train with one core
_BLOCKS = No("blocks in flight change the tables in the order in which they end")
_ONE_PROCESS = No("it is one process")
_IN_FLIGHT = No("several chunks are in flight when tables are read, so their rows are of different moments")
_LOSSES = frozenset(("killed_worker", "killed_server", "waits_for_servers"))
# What the tests of training in one process and with "downpour" show first, each of them some seconds.
_LENGTHY = frozenset(("callbacks", "corpus_error", "freed_tables", "freezes", "resumes_equally", "weighs"))
_TOO_LONG = No("a step that is too long is not taken")
_MERGED = No("merging rotates all vectors")
_ONE_DIRECTION = No("a step is along one direction of all vectors")
_FROZEN: tuple[Mapping[str, Any], str] = ({"freeze": "outputs"}, "freeze='outputs'")
_ALSO_NOT_BY_LBFGS: tuple[tuple[Mapping[str, Any], str], ...] = (
    ({"hs": 1, "negative": 0}, "hierarchical softmax"),
    ({"negative": 0}, "negative sampling"),
    ({"optimizer": "adagrad"}, "is an optimizer itself"),
)
_UNWEIGHTED = No("every sentence counts once")
_HISTORY = No("a resumed descent begins with an empty history")


@contextmanager
def _solo_registered() -> Iterator[None]:
    """Have the package know the tests' own design, whether it knows it already or not."""
    if "solo" in DESIGNS:
        yield
        return
    remove = register_design("solo", choose=choose_solo)
    try:
        yield
    finally:
        remove()


# What the designs of a place have in common: in this process, with tables on servers, and with tables on workers.
_HERE = DesignPromises("", {}, is_local=True, like_one_process=_ONE_PROCESS)
_ON_SERVERS = DesignPromises(
    "",
    {},
    is_local=False,
    killed_worker=Outcome.CONTINUES,
    killed_server=Outcome.RECOVERS,
    equal_after_killed_worker=True,
    equal_after_killed_server=True,
    has_tables_on=("ps",),
    reports_tasks=_SERVERS_AND_WORKERS,
    report_keys=frozenset(("staleness",)),
)
_ON_WORKERS = replace(
    _ON_SERVERS,
    killed_server=Outcome.CONTINUES,
    has_tables_on=("worker",),
    reports_tasks=_WORKERS,
    report_keys=frozenset(),
)
_TABLE = (
    replace(
        _HERE,
        name="downpour-here",
        arguments={"distribution": "downpour", "batch_words": 1500},
        equal_runs_of_several=_THREADS,
        takes=frozenset(("cluster_overlap", "blocks_per_call", "max_workers", "vectors_on_servers")),
    ),
    replace(
        _HERE,
        name="partition-here",
        arguments={"distribution": "partition", "batch_words": 500, "submodels": 2},
        equal_runs_of_several=_THREADS,
        report_keys=frozenset(("submodels",)),
        freezes=_MERGED,
        takes=frozenset(("submodels", "sampling", "sampling_rate", "merge")),
        refuses=(_FROZEN,),
    ),
    replace(
        _HERE,
        name="lbfgs-here",
        arguments={"distribution": "lbfgs", "batch_words": 3000, "epochs": 8, "lbfgs_history": 2},
        resumes_equally=_HISTORY,
        resumes_in_training_equally=_HISTORY,
        moves_in_every_epoch=_TOO_LONG,
        report_keys=frozenset(("raw_words", "lbfgs", "tasks")),
        freezes=_ONE_DIRECTION,
        weighs=_UNWEIGHTED,
        takes=frozenset(("lbfgs_history",)),
        refuses=(_FROZEN, *_ALSO_NOT_BY_LBFGS),
    ),
    replace(
        _ON_SERVERS,
        name="downpour",
        arguments={"distribution": "downpour", "batch_words": 1500},
        equal_runs_of_several=_BLOCKS,
        tolerance=1e-5,
        equal_after_killed_worker=_BLOCKS,
        equal_after_killed_server=_BLOCKS,
        takes=frozenset(("cluster_overlap", "blocks_per_call", "max_workers", "vectors_on_servers")),
        slow=frozenset(("killed_server", "waits_for_servers", "freezes")),
    ),
    replace(
        _ON_SERVERS,
        name="synchronous",
        arguments={"distribution": "synchronous", "batch_words": 1500},
        tolerance=1e-5,
        report_keys=frozenset(("staleness", "rounds")),
        takes=frozenset(("round_words", "backup_workers", "max_workers", "vectors_on_servers")),
        slow=_LENGTHY | {"killed_worker", "waits_for_servers", "ctrl_c", "resumes_in_training_equally"},
    ),
    replace(
        _ON_WORKERS,
        name="averaging",
        arguments={"distribution": "averaging", "round_words": 2000},
        like_one_process=No("two workers average what each of them finds alone"),
        takes_in_late_workers=No("the other workers cannot call one that was away"),
        equal_after_killed_worker=No("the average is one of fewer workers"),
        report_keys=frozenset(("rounds",)),
        takes=frozenset(("round_words",)),
        slow=_LOSSES | _LENGTHY | {"ctrl_c", "resumes_in_training_equally", "threads_and_descriptors"},
    ),
    replace(
        _ON_SERVERS,
        name="columns",
        arguments={"distribution": "columns", "batch_words": 2000, "batch_tokens": 1024},
        equal_runs_of_several=_BLOCKS,
        moves_by_batch=True,
        tolerance=1e-4,
        equal_after_killed_worker=_BLOCKS,
        equal_after_killed_server=_BLOCKS,
        weighs=_UNWEIGHTED,
        refuses=(
            ({"sg": 0}, "skip-gram alone"),
            ({"hs": 1, "negative": 0}, "negative sampling alone"),
            ({"hs": 1}, "negative sampling alone"),
            ({"compute_dtype": "bfloat16"}, "multiplies in float32"),
            ({"optimizer": "adagrad"}, "no server has all numbers of a gradient"),
        ),
        all_slow=True,
    ),
    replace(
        _ON_WORKERS,
        name="partition",
        arguments={"distribution": "partition", "batch_words": 500, "submodels": 2},
        resumes_in_training_equally=_IN_FLIGHT,
        killed_worker=Outcome.LOSES_A_SUBMODEL,
        equal_after_killed_worker=No("a sub-model is lost"),
        report_keys=frozenset(("submodels",)),
        freezes=_MERGED,
        takes=frozenset(("submodels", "sampling", "sampling_rate", "merge")),
        refuses=(
            _FROZEN,
            ({"merge": "concatenate"}, "merge='concatenate'"),
            ({"sampling": "equal", "sampling_rate": 0.5}, "takes no sampling_rate"),
        ),
        all_slow=True,
    ),
    replace(
        _ON_SERVERS,
        name="lbfgs",
        arguments={"distribution": "lbfgs", "batch_words": 3000, "epochs": 8, "lbfgs_history": 2},
        tolerance=1e-3,
        resumes_equally=_HISTORY,
        resumes_in_training_equally=_HISTORY,
        moves_in_every_epoch=_TOO_LONG,
        equal_after_killed_server=_HISTORY,
        reports_tasks=(*_SERVERS_AND_WORKERS, "coordinator"),
        report_keys=frozenset(("staleness", "lbfgs")),
        freezes=_ONE_DIRECTION,
        weighs=_UNWEIGHTED,
        takes=frozenset(("lbfgs_history",)),
        refuses=(_FROZEN, *_ALSO_NOT_BY_LBFGS, ({"cluster_dtype": "bfloat16"}, "cluster_dtype='bfloat16'")),
        all_slow=True,
    ),
)
_SOLO = replace(
    _ON_WORKERS,
    name="solo",
    arguments={"distribution": "solo", "batch_words": 1500},
    killed_worker=Outcome.RECOVERS,
    registered=_solo_registered,
    slow=_LOSSES | {"freezes", "weighs"},
)


def _with_two_cores(entry: DesignPromises) -> DesignPromises:
    """Return the entry of a design for a cluster whose workers have two cores each."""
    found = replace(entry, name=f"{entry.name}-two-cores", cores=2, all_slow=True)
    if entry.distribution in _WITH_ONE_CORE:
        return found
    return replace(
        found,
        equal_runs_of_several=_CORES,
        equal_after_killed_worker=entry.equal_after_killed_worker and _CORES,
        equal_after_killed_server=entry.equal_after_killed_server and _CORES,
    )


def _with_calls_of_blocks(entry: DesignPromises) -> DesignPromises:
    """Return the entry of a design whose workers train several blocks in a call."""
    return replace(
        entry,
        name=f"{entry.name}-blocks-of-calls",
        arguments={**entry.arguments, "batch_words": 500, "blocks_per_call": 3},
        like_one_process=No("blocks of a call have random numbers of their own"),
        all_slow=True,
    )


def _with_adagrad(entry: DesignPromises) -> DesignPromises:
    """Return the entry of a design that trains with Adagrad."""
    return replace(
        entry,
        name=f"{entry.name}-adagrad",
        arguments={**entry.arguments, "optimizer": "adagrad"},
        tolerance=10 * entry.tolerance,  # first steps are twenty times as long
        slow=entry.slow | {"freezes"},
        all_slow=not entry.is_local,
    )


def _with_documents(entry: DesignPromises) -> DesignPromises:
    """Return the entry of a design that trains documents."""
    return replace(
        entry,
        name=f"{entry.name}-documents",
        tolerance=2 * entry.tolerance,
        documents=True,
        all_slow=not entry.is_local,
        slow=entry.slow | {"ctrl_c", "threads_and_descriptors"},
    )


def _reproducible(name: str, entry: DesignPromises) -> DesignPromises:
    """Return the entry, of that name, of a design that gives the same bits with any number of workers."""
    return replace(
        entry,
        name=name,
        arguments={"distribution": entry.distribution, "batch_words": 100, "reproducible": True},
        equal_runs_of_several=True,
        tolerance=0.0,
        slow=frozenset(),
        all_slow=True,
    )


_TWO_CORES = [_with_two_cores(entry) for entry in _TABLE if not entry.is_local]
_ADAGRAD = [_with_adagrad(entry) for entry in (*_TABLE, _SOLO) if entry.distribution not in ("columns", "lbfgs")]
_BY_NAME = {entry.name: entry for entry in _TABLE}
_DOCUMENTS = [_with_documents(_BY_NAME[name]) for name in ("downpour-here", "downpour", "synchronous", "averaging")]
_BLOCKS_OF_CALLS = _with_calls_of_blocks(_BY_NAME["downpour"])
_REPRODUCIBLE = [
    _reproducible("downpour-reproducible-here", _BY_NAME["downpour-here"]),
    _reproducible("synchronous-reproducible", _BY_NAME["synchronous"]),
]
REGISTRY: dict[str, DesignPromises] = {
    entry.name: entry
    for entry in (*_TABLE, _SOLO, *_TWO_CORES, *_ADAGRAD, _BLOCKS_OF_CALLS, *_REPRODUCIBLE, *_DOCUMENTS)
}
"""All entries by their names, the tests' own design among them.

Tests may add an entry for a design of their own before test files are collected.
"""


def every_design(slow_as: str = "") -> pytest.MarkDecorator:
    """Return a parametrization over all designs."""
    return _over(REGISTRY.values(), slow_as)


def designs_that(promise: str) -> pytest.MarkDecorator:
    """Return a parametrization over the designs that make a promise, which a field of this name says."""
    return _over((entry for entry in REGISTRY.values() if getattr(entry, promise)), promise)


def designs_that_do_not(promise: str) -> pytest.MarkDecorator:
    """Return a parametrization over the designs that do not make a promise, which a field of this name says."""
    return _over((entry for entry in REGISTRY.values() if isinstance(getattr(entry, promise), No)), promise)


def designs_in_one_process(slow_as: str = "") -> pytest.MarkDecorator:
    """Return a parametrization over the designs that train in this process."""
    return _over((entry for entry in REGISTRY.values() if entry.is_local), slow_as)


def designs_on_a_cluster(slow_as: str = "") -> pytest.MarkDecorator:
    """Return a parametrization over the designs that train on a cluster."""
    return _over((entry for entry in REGISTRY.values() if not entry.is_local), slow_as)


def designs_that_need_a_cluster() -> pytest.MarkDecorator:
    """Return a parametrization over the designs that no entry trains in this process."""
    here = {entry.distribution for entry in REGISTRY.values() if entry.is_local}
    return _over((entry for entry in REGISTRY.values() if entry.distribution not in here), "")


def _over(entries: Iterable[DesignPromises], slow_as: str) -> pytest.MarkDecorator:
    found = [
        pytest.param(entry, id=entry.name, marks=[pytest.mark.slow] if entry.all_slow or slow_as in entry.slow else [])
        for entry in entries
        if not any(MODE.items() >= refused.items() for refused, _ in entry.refuses)
    ]
    return pytest.mark.parametrize("design", found)

"""How trainings of every design end: at their end, by an error of the corpus, by Ctrl-C; and what is left of them."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from support.child_process import wait_until
from support.contract import assert_equal_models, assert_finite
from support.design_promises import DesignPromises
from support.design_trainings import (
    Disturbed,
    ctrl_c_interrupts,
    ends_within,
    place_of,
    press_ctrl_c,
    sentence_at,
    tables_freed,
    train,
    trained,
    undisturbed,
    untrained,
)
from support.designs import designs_on_a_cluster, every_design
from support.placements import leases_on
from support.stopping import StopError, stop

from gensim_tfw2v import TFWord2Vec


@designs_on_a_cluster("freed_tables")
def test_tables_are_where_the_table_says_and_are_freed_at_the_end(design: DesignPromises) -> None:
    jobs = ("ps", "worker")
    cluster = place_of(design)
    before = {job: leases_on(cluster, job) for job in jobs}
    found: set[str] = set()

    def look() -> None:
        found.update(job for job in jobs if leases_on(cluster, job) - before[job])

    with tables_freed(cluster):
        train(design, untrained(design), Disturbed(sentence_at(1.5), look))
    assert found == set(design.has_tables_on)


def assert_ended_by(design: DesignPromises, disturb: Callable[[TFWord2Vec], None], error: type[BaseException]) -> None:
    """Check that an error ends a training in its second epoch, what is left of it, and that the next one works."""
    model = untrained(design)
    before = model.wv.vectors.copy()
    with tables_freed(place_of(design)), ends_within(60), pytest.raises(error):
        train(design, model, Disturbed(sentence_at(1.5), lambda: disturb(model)))
    assert_finite(model)
    assert len(model.epoch_losses) == 1
    if design.moves_in_every_epoch:
        assert not np.array_equal(model.wv.vectors, before)
    assert_equal_models(trained(design), undisturbed(design.name))


@every_design("corpus_error")
def test_an_error_of_the_corpus_ends_training_and_the_next_training_works(design: DesignPromises) -> None:
    assert_ended_by(design, lambda model: stop(), StopError)


@every_design("ctrl_c")
def test_ctrl_c_ends_training_and_the_next_training_works(design: DesignPromises) -> None:
    def press_and_wait(model: TFWord2Vec) -> None:
        wait_until(lambda: len(model.epoch_losses) == 1)  # the main thread has counted the first epoch
        press_ctrl_c()
        time.sleep(0.1)  # the main thread stops the others while the corpus is being read

    with ctrl_c_interrupts():
        assert_ended_by(design, press_and_wait, KeyboardInterrupt)


def threads_and_descriptors() -> tuple[Counter[str], Counter[str]]:
    """Return the names of this process's threads, and what its open descriptors are, each with their number."""
    threads = Counter(thread.name for thread in threading.enumerate())
    kinds: Counter[str] = Counter()
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            kinds[os.readlink(f"/proc/self/fd/{descriptor}").partition(":")[0]] += 1
        except FileNotFoundError:  # of the listing itself
            continue
    return threads, kinds


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="only Linux lists a process's descriptors there")
@every_design("threads_and_descriptors")
def test_threads_and_open_descriptors_are_no_more_than_before_a_training(design: DesignPromises) -> None:
    trained(design)  # connects, after a training on another cluster, and makes graphs
    before = threads_and_descriptors()
    trained(design)

    def are_no_more() -> bool:
        return all(now <= then for now, then in zip(threads_and_descriptors(), before, strict=True))

    wait_until(are_no_more, seconds=20)

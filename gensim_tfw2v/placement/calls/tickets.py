"""Tickets: a worker may push only with a valid one, so servers drop what a hung worker pushes later.

Every server has a variable with a generation for each worker. A block goes to its worker with a ticket, the worker's
number and its generation, and servers accept changes only with the generation that they have. When a block goes to
another worker, the coordinator first gives the former worker a new generation on every server.
"""

from __future__ import annotations

import itertools
import secrets
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Int32Array, UInt8Array
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import device
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

TICKET_NUMBERS = 2  # int32: worker and generation
TICKET_BYTES = 4 * TICKET_NUMBERS
# All trainings share these numbers, because tables may outlive a training and a hung worker may push to them in the
# next one. They begin at a random number, because another process may have had tables of the same name.
_numbers = itertools.count(secrets.randbelow(2**30))


def first_generations(workers: int) -> Int32Array:
    """Return a new generation for each worker, the value of the servers' variables."""
    return np.full(workers, next(_numbers), np.int32)


class Tickets:
    """The tickets of a training's workers.

    Parameters
    ----------
    generations : ndarray
        The generations with which the servers' variables were made.
    handles : sequence
        The variable of each server.
    """

    def __init__(self, generations: Int32Array, handles: Sequence[Any]) -> None:
        self._generations = generations.copy()
        self.handles = tuple(handles)
        self._lock = threading.Lock()

    def sealed(self, assignment: UInt8Array, worker: int) -> UInt8Array:
        """Return an assignment with the worker's ticket after it."""
        ticket = np.array([worker, self._generations[worker]], "<i4")
        return np.concatenate([assignment, ticket.view(np.uint8)])

    def renew(self, worker: int) -> None:
        """Give a worker a new generation in this process: what is sent to it from now on has a new ticket."""
        self._generations[worker] = next(_numbers)

    def end_former(self) -> None:
        """Have every server drop what workers push with tickets that they had before `renew`.

        Changes that they pushed before have been added when this returns, or are dropped (`server_rows.push`).
        """
        with self._lock:  # the variables have the numbers of all workers
            for server in range(len(self.handles)):
                self._send(server, self._generations)

    def _send(self, server: int, generations: Int32Array) -> None:
        tf = load_tensorflow()
        value = remote_functions.local(generations)
        with tf.device(device("ps", server)):
            tf.raw_ops.AssignVariableOp(resource=self.handles[server], value=value)

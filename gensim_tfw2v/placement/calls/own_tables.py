"""Calls in which a worker trains a block on tables of its own: they send the model first and read the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gensim_tfw2v.arrays import UInt8Array
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import device
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.placement.tasks.model import EncodedModel
from gensim_tfw2v.placement.tasks.own_training import OwnTablesGraphs
from gensim_tfw2v.runtime.tensorflow import load_tensorflow


class OwnTablesCalls:
    """Has workers train blocks of one model.

    Make it in the thread that waits for the calls, not in the workers' threads. If several threads make graphs at the
    same time, all graphs but one are deleted later. TensorFlow reports the deletion to all tasks, and waits without a
    limit if one of them hangs.
    """

    def __init__(self, model: EncodedModel, graphs: OwnTablesGraphs) -> None:
        self._tf = load_tensorflow()
        self._model, self._graphs = model, graphs
        self._name = remote_functions.local(model.name)

    def train(self, member: Member, handles: Sequence[Any], assignment: UInt8Array, calls: Any) -> BlockReport:
        """Have a worker train a block on the tables with these handles; called in the worker's thread.

        Parameters
        ----------
        assignment : ndarray
            The bytes of an `Assignment`.
        """
        name, sent = self._name, remote_functions.local(assignment)

        def send_model() -> None:
            calls.run(self._graphs.register_model, name, remote_functions.local(self._model.data)).numpy()

        def train() -> Any:
            return calls.run(self._graphs.train, *handles, name, sent).numpy()

        with self._tf.device(device("worker", member.number)):
            numbers = member.registration.call(self._model.name, send_model, train)
        try:
            return BlockReport.from_array(numbers, servers=0)
        except ValueError as error:
            raise ClusterError(f"{member.name}: {error}") from None

"""Calls by which a worker trains a block on tables of its own: the model is sent before, and the report is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import device
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.tasks.assignment import Assignment
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.placement.tasks.codec import encode
from gensim_tfw2v.placement.tasks.model import EncodedModel
from gensim_tfw2v.placement.tasks.own_training import OwnTablesGraphs
from gensim_tfw2v.runtime.tensorflow import load_tensorflow


class TrainedBlock(NamedTuple):
    """What came of a block."""

    report: BlockReport
    sent_bytes: int  # to the worker


class OwnTablesCalls:
    """Has workers train blocks of one model.

    Make it in the thread that makes the calls wait, and not in the workers' threads: of graphs made at the same time
    all but one would be deleted later, and TensorFlow tells all tasks of that, without a limit of time if one of them
    hangs.
    """

    def __init__(self, model: EncodedModel, graphs: OwnTablesGraphs) -> None:
        self._tf = load_tensorflow()
        self._model, self._graphs = model, graphs

    def train(self, member: Member, handles: Sequence[Any], assignment: Assignment, calls: Any) -> TrainedBlock:
        """Have a worker train an assignment's block on the tables with these handles; called in the worker's thread."""
        data = encode(assignment)
        name, sent = remote_functions.local(self._model.name), remote_functions.local(data)

        def send_model() -> None:
            calls.run(self._graphs.register_model, name, remote_functions.local(self._model.data)).numpy()

        def train() -> Any:
            return calls.run(self._graphs.train, *handles, name, sent).numpy()

        with self._tf.device(device("worker", member.number)):
            numbers = member.registration.call(self._model.name, send_model, train)
        try:
            return TrainedBlock(BlockReport.from_array(numbers, servers=0), data.nbytes)
        except ValueError as error:
            raise ClusterError(f"{member.name}: {error}") from None

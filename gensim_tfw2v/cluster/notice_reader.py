"""The coordinator's thread that reads workers' notices: it takes in those that join, and lets go those that leave."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import Connection, device
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.exposure import check_allowed
from gensim_tfw2v.cluster.health import wait_while_answering
from gensim_tfw2v.cluster.notices import FULL, JOIN, LEAVE, READ, REFUSED, RELEASED, TAKEN, WAIT
from gensim_tfw2v.cluster.specification import VACANT, check_addresses
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

logger = logging.getLogger(__name__)

_SECONDS_BETWEEN_LOOKS = 0.5
_CALL_SECONDS = 5.0
_END_SECONDS = 5.0  # time that the last call may take

Answers = dict[str, tuple[str, str]]


class NoticeReader:
    """Reads the notices on the first server for a training that workers may join and leave."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tfw2v-notices", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Read no more; unless another training runs, say so on the server: workers that leave then need not wait."""
        self._ended.set()
        self._thread.join(_END_SECONDS)

    def _run(self) -> None:
        answers: Answers = {}
        while not self._ended.wait(_SECONDS_BETWEEN_LOOKS):
            wishes = self._read(answers)
            if wishes is not None:
                answers = answer_wishes(self._connection, wishes)
        if not self._connection.trainings:
            self._read(None)

    def _read(self, answers: Answers | None) -> Mapping[str, str] | None:
        """Send answers, and return all workers' wishes by address; None if the server does not answer."""

        def read() -> Mapping[str, str]:
            sent = remote_functions.local(json.dumps(answers))
            wishes: Mapping[str, str] = json.loads(remote_functions.ask(device("ps", 0), READ, [sent]))
            return wishes

        connection = self._connection
        first_server = {"ps 0": connection.addresses["ps"][0]}
        try:
            with connection.worker_locks.hold_servers():
                return wait_while_answering(read, first_server, _CALL_SECONDS)
        except (load_tensorflow().errors.OpError, ClusterError, ValueError) as error:
            logger.debug("the first server does not show its notices: %s", error)  # calls of the training find the loss
            return None


def answer_wishes(connection: Connection, wishes: Mapping[str, str]) -> Answers:
    """Take in workers that join, have trainings let go those that leave, and return an answer for each address."""
    numbers = {address: number for number, address in enumerate(connection.addresses["worker"]) if address != VACANT}
    leaving = {address for address, wish in wishes.items() if wish == LEAVE}
    unused = connection.attendance.set_leaving({numbers[address] for address in leaving & numbers.keys()})
    answers: Answers = {}
    for address in leaving:
        is_unused = address not in numbers or numbers[address] in unused
        answers[address] = (RELEASED if is_unused else WAIT, "")
    for address in [address for address, wish in wishes.items() if wish == JOIN]:
        answers[address] = _answer_to_join(connection, address)
    return answers


def _answer_to_join(connection: Connection, address: str) -> tuple[str, str]:
    is_known = address != VACANT and address in connection.addresses["worker"]
    if not is_known:
        try:
            check_addresses([address])
            check_allowed({"the worker": address}, connection.allow_network)
        except (ClusterError, ValueError) as error:
            return REFUSED, str(error)
    number = connection.take_in(address)
    if number is None:
        return FULL, f"waits until another one leaves: max_workers={connection.workers}"
    if not is_known:
        logger.info("worker %i at %s joins", number, address)
    return TAKEN, f"takes part as worker {number}"

"""Has a worker leave its training and end, from another process."""

from __future__ import annotations

import time

from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.exposure import check_allowed
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.cluster.session_calls import ask_task
from gensim_tfw2v.cluster.specification import check_addresses
from gensim_tfw2v.cluster.worker_notices import ASK_TO_LEAVE, LEAVING_SECONDS

_CALL_SECONDS = 20.0
_END_SECONDS = 10.0  # time that a worker may take to end, beside the time that it waits for its training
_SECONDS_BETWEEN_LOOKS = 0.2


def drain(address: str, allow_network: bool) -> None:
    """Have a worker leave, and wait until it has ended.

    Raise ClusterError if the task is no worker, does not answer, or does not end; ValueError if this is no address.
    """
    check_addresses([address])
    check_allowed({"the worker": address}, allow_network)
    ask_task(address, ASK_TO_LEAVE, "", _CALL_SECONDS)
    deadline = time.monotonic() + LEAVING_SECONDS + _END_SECONDS
    while answers(address):
        if time.monotonic() > deadline:
            raise ClusterError(f"the worker at {address} was asked to leave, and still answers")
        time.sleep(_SECONDS_BETWEEN_LOOKS)

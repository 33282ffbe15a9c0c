"""Waits for calls of workers. Every wait has a limit, and a worker that does not answer is named."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, wait
from typing import Any, NamedTuple, TypeVar

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.cutting import cut_silent
from gensim_tfw2v.cluster.errors import ClusterError, brief
from gensim_tfw2v.cluster.health import Silence, answering, answers
from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.calls.patience import Patience
from gensim_tfw2v.placement.calls.worker_return import can_be_called, is_lost
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

_Member = TypeVar("_Member", bound=Member)

_POLL_SECONDS = 0.2
_SECONDS_BETWEEN_LOOKS = 0.5
_LAST_SECONDS = 5.0  # time that a cancelled call may take to end


class MembersLost(Exception):
    """Raised when workers are lost: has the reason for each, and the results of the other workers' calls."""

    def __init__(self, reasons: Mapping[Any, str], values: Mapping[Any, Any] | None = None) -> None:
        super().__init__(", ".join(f"{member.name}: {reason}" for member, reason in reasons.items()))
        self.reasons, self.values = reasons, values or {}


class _Call:
    """A running call, and the workers without which it cannot end."""

    def __init__(self, caller: Member, needed: Sequence[Member], function: Callable[[Any], Any]) -> None:
        self.caller, self.needed = caller, needed
        self.finished = 0.0  # when it ended
        self.seconds = 0.0
        self.is_left = False  # it does not end, and nobody waits for it
        self._silences = {member: Silence() for member in needed}
        self.future, self._calls = caller.submit(function, [member.number for member in needed])
        self.future.add_done_callback(self._finish)

    def _finish(self, _: Future[Any]) -> None:
        self.finished = time.monotonic()

    def silent(self, there: Collection[str]) -> list[Member]:
        """Return the workers that have not answered several checks in a row, given the addresses that answer now."""
        return [member for member, silence in self._silences.items() if silence.record(member.address in there)]

    def cancel(self) -> None:
        """Cancel the call, which may not have begun."""
        self.future.cancel()
        self._calls.cancel()

    def leave(self) -> None:
        """Abandon the thread to the call if that has not ended."""
        if not self.future.done():
            self.is_left = True
            self.caller.begin_anew()


def _end(calls: Sequence[_Call]) -> None:
    """Cancel calls, and abandon threads that do not become free soon."""
    for call in calls:
        call.cancel()
    cut_silent([member.address for call in calls for member in call.needed])
    wait([call.future for call in calls], _LAST_SECONDS)
    for call in calls:
        call.leave()


class _Results(NamedTuple):
    """The results of calls, and when the calls ended."""

    values: dict[Any, Any]
    finished: dict[Any, float]


class Waiting:
    """Makes calls and waits for them.

    Parameters
    ----------
    timeout : float
        Seconds that a worker's call may take (`patience.Patience`).
    """

    def __init__(self, connection: Connection, timeout: float) -> None:
        self._tf = load_tensorflow()
        self._connection, self._timeout = connection, timeout
        self._patience: dict[str, Patience] = {}

    def each(self, kind: str, members: Sequence[_Member], function: Callable[[_Member, Any], Any]) -> _Results:
        """Call the function for all of these workers at the same time, and return the results.

        Raise MembersLost if some of them are lost, once the calls of the others have ended.
        """
        return self.results(kind, self.begin(members, function))

    def begin(self, members: Sequence[_Member], function: Callable[[_Member, Any], Any]) -> list[_Call]:
        """Queue a call of the function for each of these workers, after their present calls; `results` waits."""

        def call(member: _Member) -> _Call:
            return _Call(member, [member], lambda calls: function(member, calls))

        return [call(member) for member in members]

    def together(self, kind: str, members: Sequence[Member], function: Callable[[Any], Any]) -> Any:
        """Return the result of a function that needs all of these workers.

        If they do not finish it although all answer, the last one is lost, and cut off from the others.
        """
        call = _Call(members[0], members, function)
        return self.results(kind, [call]).values[members[0]]

    def results(self, kind: str, calls: list[_Call]) -> _Results:
        """Return the results of these calls; if workers are lost, raise MembersLost once the other calls have ended."""
        patience = self._patience.setdefault(kind, Patience(self._connection.workers, self._timeout))
        lost: dict[Member, str] = {}
        last_look = time.monotonic()
        while running := [call for call in calls if not (call.future.done() or call.is_left)]:
            wait([call.future for call in running], _POLL_SECONDS)
            elapsed = time.monotonic() - last_look
            if elapsed < _SECONDS_BETWEEN_LOOKS:
                continue
            last_look += elapsed
            for call in running:
                # Time in which this process was stopped, or the worker had other calls, does not count against it.
                call.seconds += min(elapsed, 2 * _SECONDS_BETWEEN_LOOKS) if call.future.running() else 0.0
            lost.update(self._look([call for call in running if not call.future.done()], patience))
        values: dict[Any, Any] = {}
        failure: Exception | None = None
        for call in calls:
            if call.caller in lost or not lost.keys().isdisjoint(call.needed):
                continue
            error = call.future.exception() if call.future.done() else None
            if error is None:
                values[call.caller] = call.future.result()
                patience.record(call.caller.number, max(call.seconds, 1e-3))
            elif not isinstance(error, Exception):  # this process is to end
                raise error
            elif found := self._lost_by(call, error):
                lost.update(found)
            else:
                failure = failure or self._error(call, error)
        if failure is not None:
            raise failure
        if lost:
            raise MembersLost(lost, values)
        return _Results(values, {call.caller: call.finished for call in calls})

    def _look(self, calls: Sequence[_Call], patience: Patience) -> dict[Member, str]:
        """Return the workers that hold up calls for too long, with reasons, and cancel these calls."""
        overdue = [call for call in calls if call.seconds > patience.limit(call.caller.number, is_answering=False)]
        there = answering(member.address for call in overdue for member in call.needed)
        found = {call: self._late(call, there, patience) for call in overdue}
        abandoned = self._connection.worker_locks.abandoned
        found |= {
            call: {call.caller: "hangs in an earlier call"}
            for call in calls
            if call.caller.number in abandoned and not (call.future.running() or call.future.done())
        }
        lost = {member: reason for of_call in found.values() for member, reason in of_call.items()}
        abandoned.update(member.number for member in lost)
        _end([call for call, of_call in found.items() if of_call])
        return lost

    def _late(self, call: _Call, there: Collection[str], patience: Patience) -> dict[Member, str]:
        """Return the workers that hold up a call for too long, with reasons, given the addresses that answer."""
        late = f"has not finished its call for {call.seconds:.0f} s"
        found = {member: f"{late} and is silent" for member in call.silent(there)}
        is_too_late = call.seconds > max(patience.limit(call.caller.number, is_answering=True), 2 * self._timeout)
        if found or not is_too_late:
            return found
        if len(call.needed) == 1:
            return {call.caller: late}
        last = call.needed[-1]  # which link is broken is not known: without enough of them, the others reach each other
        last.is_cut_off = True
        return {last: f"{late} with the others, although all answer: a link between workers may be broken"}

    def _lost_by(self, call: _Call, error: Exception) -> dict[Member, str]:
        """Return the workers whose loss caused an error, none if it has another cause."""
        if remote_functions.is_missing_function(error) or not isinstance(
            error, (self._tf.errors.OpError, ClusterError)
        ):
            return {}
        if remote_functions.task_error_message(error) is not None:
            return {}
        if len(call.needed) == 1:
            member = call.needed[0]
            return {member: brief(error)} if is_lost(member.address, error) else {}
        return {member: brief(error) for member in call.needed if self._is_gone(member)}

    def _is_gone(self, member: Member) -> bool:
        """Return whether a worker does not answer, or was restarted."""
        if not answers(member.address):
            return True
        try:
            self._connection.describe("worker", member.number)
        except (ClusterError, self._tf.errors.OpError):
            return True
        return False

    def _error(self, call: _Call, error: Exception) -> Exception:
        """Return the error to raise for an error that is not caused by the loss of workers."""
        name = call.caller.name
        if remote_functions.is_missing_function(error):
            return ClusterError(f"{name} was not started by `tfw2v server`")
        message = remote_functions.task_error_message(error)
        return error if message is None else ClusterError(f"{name}: {message}")

    def can_be_called(self, member: Member) -> bool:
        """Return whether a worker that answers accepts calls; a restarted one is connected again first."""
        try:
            return can_be_called(self._connection, member.number)
        except (ClusterError, self._tf.errors.OpError):
            return False

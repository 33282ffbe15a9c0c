"""Who answers requests: processes of this machine, and how requests are given to several encoders side by side.

A request whose encoder is lost is given to another one, or again to the same one, which then starts anew. So a lost
encoder costs the sections that it had, and nothing else.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from queue import SimpleQueue

from gensim_tfw2v.corpus.child_program import ChildProgram
from gensim_tfw2v.corpus.sections.requests import Answer, Request, answer_of, request_line

logger = logging.getLogger(__name__)

_MODULE = "gensim_tfw2v.corpus.sections.program"
_MOST_LOSSES = 3  # of encoders with the same request, which may be the cause


class LostEncoderError(RuntimeError):
    """An encoder has ended, or does not answer."""


class Encoder(ABC):
    """Answers requests. One thread calls it at a time."""

    width = 1
    """How many requests it takes at a time."""

    @property
    def is_there(self) -> bool:
        """Whether it can answer; one that is not there is asked no more in this phase of an encoding."""
        return True

    @abstractmethod
    def answers(self, requests: Sequence[Request]) -> list[Answer]:
        """Return the answers to requests; raise `LostEncoderError` if the encoder is lost."""

    @abstractmethod
    def close(self) -> None:
        """End it; a call that runs in another thread raises `LostEncoderError`."""


class ProcessEncoder(Encoder):
    """A process of this machine, which is started when it is first needed, and anew after it was lost."""

    def __init__(self) -> None:
        self._program: ChildProgram | None = None
        self._is_closed = False
        self._lock = threading.Lock()

    def answers(self, requests: Sequence[Request]) -> list[Answer]:
        return [answer_of(self.answer_line(request_line(request))) for request in requests]

    def answer_line(self, line: bytes) -> bytes:
        """Return the process's answer to a line."""
        program = self._running()
        found = b""
        with contextlib.suppress(OSError, ValueError):  # it has ended, or was closed by another thread
            program.input.write(line)
            program.input.flush()
            found = program.output.readline()
        if not found.endswith(b"\n"):
            raise self._loss()
        return found

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._end()

    def _running(self) -> ChildProgram:
        with self._lock:
            if self._is_closed:
                raise LostEncoderError("encoding has ended")
            if self._program is not None and self._program.has_ended:  # it had nothing to do for a long time
                self._end()
            if self._program is None:
                self._program = ChildProgram(_MODULE)
            return self._program

    def _loss(self) -> LostEncoderError:
        with self._lock:
            if self._program is None:
                return LostEncoderError("encoding has ended")
            how = self._program.how_it_ended()
            self._end()
        return LostEncoderError(f"an encoding process {how}")

    def _end(self) -> None:
        if self._program is not None:
            self._program.end()
            self._program = None


def answers_of(encoders: Sequence[Encoder], requests: Sequence[Request]) -> Iterator[tuple[int, Answer]]:
    """Yield the place of each request and its answer, in the order in which they are answered.

    Raise `LostEncoderError` if no encoder is left, or if a request ends one encoder after the other.
    """
    threads = _Threads(requests, [encoder for encoder in encoders if encoder.is_there])
    losses: Counter[int] = Counter()
    loss = LostEncoderError("nothing answers that could encode")
    left = len(requests)
    try:
        while left:
            if not threads.running:
                raise loss
            event = threads.found.get()
            if event is None:
                threads.running -= 1
                continue
            places, found = event
            if isinstance(found, LostEncoderError):
                loss = found
                losses.update(places)
                if max(losses.values()) >= _MOST_LOSSES:
                    raise loss
                logger.warning("%s; its part of the corpus is encoded again", found)
                threads.give_again(places)
            elif isinstance(found, Exception):
                raise found
            else:
                left -= len(places)
                yield from zip(places, found, strict=True)
    finally:
        threads.end()


class _Threads:
    """A thread for each encoder, which takes requests that may be answered in any order."""

    def __init__(self, requests: Sequence[Request], encoders: Sequence[Encoder]) -> None:
        self.running = len(encoders)
        # The places of requests with their answers or an error, or None when a thread has ended.
        self.found: SimpleQueue[tuple[list[int], list[Answer] | Exception] | None] = SimpleQueue()
        self._requests = requests
        self._waiting = deque(range(len(requests)))
        self._is_over = False
        self._changed = threading.Condition()
        for encoder in encoders:
            threading.Thread(target=self._serve, args=[encoder], name="tfw2v-encoder", daemon=True).start()

    def give_again(self, places: Sequence[int]) -> None:
        with self._changed:
            self._waiting.extendleft(places)
            self._changed.notify_all()

    def end(self) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def _serve(self, encoder: Encoder) -> None:
        while places := self._take(encoder.width):
            try:
                self.found.put((places, encoder.answers([self._requests[place] for place in places])))
            except LostEncoderError as error:
                self.found.put((places, error))
                if not encoder.is_there:
                    break
            except Exception as error:
                self.found.put((places, error))
        self.found.put(None)

    def _take(self, most: int) -> list[int]:
        """Return the places of the next requests, none when the phase is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_over)
            return [] if self._is_over else [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]

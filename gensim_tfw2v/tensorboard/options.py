"""What to log of a training for TensorBoard, and where."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

PROJECTOR_CHOICES = ("end", "epochs", "none")
PROJECTOR_WORDS = 10_000  # drawn smoothly, and searched without delay, by a browser on a laptop


@dataclass(frozen=True)
class TensorBoardLog:
    """What `logdir=` may be instead of a folder's name: the folder, and what to log there.

    Parameters
    ----------
    logdir : str or os.PathLike
        Folder of the run, made if need be. If it holds a run already, the next one goes to ``run-2`` in it.
    every_seconds : float
        Time between two points of a curve.
    pairs : sequence of str, optional
        Files of word pairs to score the vectors on, at the start, after each epoch and in between. None: wordsim353 and
        simlex999, which gensim brings.
    analogies : sequence of str
        Files of analogies likewise. None by default, because they take seconds:
        `gensim_tfw2v.evaluation.bundled_analogies()` names the set that gensim brings.
    score_every_seconds : float
        Time between two scores within an epoch; longer where scoring is slow.
    probes : sequence of str, optional
        Words whose nearest neighbours are shown. None: some frequent and some middling ones.
    neighbours : int
        How many neighbours each of them has.
    projector : {"end", "epochs", "none"}
        When the vectors are written for the projector: after training, after each epoch as well, or never.
    projector_words : int
        How many words it gets, the most frequent first.
    projector_outputs : bool
        Write the output vectors of negative sampling for the projector as well.
    trace_seconds : float
        Length of a ``tf.profiler`` trace, taken when training has got going; 0 for none.
    trace_hosts : sequence of str
        Addresses ``host:port`` of TensorFlow servers to trace. By default this process, or the workers of the cluster
        that trains. Each server writes its trace to the folder of that name on its own machine.
    """

    logdir: str | os.PathLike[str]
    every_seconds: float = 1.0
    pairs: Sequence[str] | None = None
    analogies: Sequence[str] = ()
    score_every_seconds: float = 30.0
    probes: Sequence[str] | None = None
    neighbours: int = 8
    projector: str = "end"
    projector_words: int = PROJECTOR_WORDS
    projector_outputs: bool = False
    trace_seconds: float = 0.0
    trace_hosts: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.projector not in PROJECTOR_CHOICES:
            raise ValueError(f"projector must be one of {', '.join(PROJECTOR_CHOICES)}, got {self.projector!r}")
        for name in ("neighbours", "projector_words"):
            value = getattr(self, name)
            if not (isinstance(value, numbers.Integral) and int(value) >= 1):
                raise ValueError(f"{name} must be an int of at least 1, got {value!r}")
        for name in ("every_seconds", "score_every_seconds", "trace_seconds"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)!r}")
        if math.isinf(self.trace_seconds):
            raise ValueError(f"trace_seconds must be finite, got {self.trace_seconds!r}")
        for name in ("pairs", "analogies", "probes", "trace_hosts"):
            if isinstance(getattr(self, name), str):
                raise TypeError(f"{name} must be a list of texts, got one text, {getattr(self, name)!r}")


LogDir = str | os.PathLike[str] | TensorBoardLog | None


def log_options(logdir: Any) -> TensorBoardLog | None:
    """Return a `logdir` argument as options: None stays None, and a folder gets the defaults."""
    if logdir is None or isinstance(logdir, TensorBoardLog):
        return logdir
    if isinstance(logdir, str | os.PathLike):
        return TensorBoardLog(logdir)
    raise TypeError(f"logdir must be a folder or a TensorBoardLog, got {logdir!r}")

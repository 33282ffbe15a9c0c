"""Options of a training's log for TensorBoard."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

PROJECTOR_CHOICES = ("end", "epochs", "none")
PROJECTOR_WORDS = 10_000  # a browser on a laptop draws this many smoothly and searches them without delay


@dataclass(frozen=True)
class TensorBoardLog:
    """A folder and what to log there; may be given as `logdir=` in place of the folder's name.

    Parameters
    ----------
    logdir : str or os.PathLike
        Folder of the TensorBoard run, made if it is missing. If it holds a run already, the next one goes to
        ``run-2`` in it.
    every_seconds : float
        Time between two points of a curve.
    pairs : sequence of str, optional
        Files of word pairs to score the vectors on: before training, within epochs and after each epoch. None:
        wordsim353 and simlex999, which come with gensim.
    analogies : sequence of str
        Files of analogies to score the vectors on. Empty by default, because analogies take seconds;
        `gensim_tfw2v.evaluation.bundled_analogies()` names the set that comes with gensim.
    score_every_seconds : float
        Time between two scores within an epoch; longer if scoring is slow.
    probes : sequence of str, optional
        Words whose nearest neighbours are shown. None: ten words, from frequent to middling.
    neighbours : int
        How many neighbours of each probe are shown.
    projector : {"end", "epochs", "none"}
        When the vectors are written for the projector: after training; after each epoch and after training; or never.
    projector_words : int
        How many words are written for the projector, the most frequent first.
    projector_outputs : bool
        Whether to write the output vectors of negative sampling for the projector as well.
    trace_seconds : float
        Length of a ``tf.profiler`` trace that starts once a first block is trained; 0 for no trace.
    trace_hosts : sequence of str
        Addresses ``host:port`` of TensorFlow servers to trace. Empty: the workers of the cluster that trains, or this
        process if there is no cluster. Each server writes its trace to the folder `logdir` on its own machine.

    Examples
    --------
    >>> from gensim_tfw2v import TensorBoardLog, Word2Vec
    >>> log = TensorBoardLog("runs/lee", probes=["the", "of"], projector="none")
    >>> model = Word2Vec(corpus_file="corpus.txt", epochs=1, logdir=log)
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
    """Return the options that a `logdir` argument stands for: None for None, the defaults for a folder."""
    if logdir is None or isinstance(logdir, TensorBoardLog):
        return logdir
    if isinstance(logdir, str | os.PathLike):
        return TensorBoardLog(logdir)
    raise TypeError(f"logdir must be a folder or a TensorBoardLog, got {logdir!r}")

"""A training that a process runs until a signal kills it, and what tests of resuming share.

`python resumed_training.py MODE FOLDER SENTENCE STAGE` trains with checkpoints in FOLDER, from the newest one on. It
kills itself with SIGKILL when it reads that many sentences, counted over all epochs. With STAGE "checkpoint", it waits
until it has written a checkpoint, and with STAGE "write", it kills itself while it writes the next one after that.
Further arguments are settings of the model as JSON, and numbers of processes that it kills as well.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from gensim_tfw2v import TFDoc2Vec, TFWord2Vec
from gensim_tfw2v.checkpoints.folder import CheckpointFolder
from gensim_tfw2v.cluster.local import LocalCluster
from support.child_process import environment, wait_until
from support.contract import PURE_MODES, two_topics
from support.documents import Tagged

SENTENCES = two_topics(6000)
WORDS = 12 * len(SENTENCES)
EPOCHS = 3
# Blocks of 2400 words, 30 an epoch; a checkpoint after every third. Sentences are read 4167 at a time.
SETTINGS: dict[str, Any] = {
    **{"vector_size": 12, "min_count": 1, "workers": 1, "seed": 5, "batch_words": 2400, "epochs": EPOCHS},
    "checkpoint_every": "7200 words",
}

OF_DOCUMENTS: dict[str, dict[str, Any]] = {"documents": {"dm": 1}}  # further modes


class Interrupted:
    """Sentences that call `stop` when so many have been read, over all passes."""

    def __init__(self, sentence: int, stop: Any) -> None:
        self.left, self._stop = sentence, stop

    def __iter__(self) -> Iterator[list[str]]:
        for sentence in SENTENCES:
            if self.left == 0:
                self._stop()
            self.left -= 1
            yield sentence


def untrained(mode: str, **settings: Any) -> TFWord2Vec:
    """Return a model with the vocabulary of the sentences."""
    is_of_documents = mode in OF_DOCUMENTS
    of_mode: dict[str, Any] = OF_DOCUMENTS[mode] if is_of_documents else PURE_MODES[mode]
    model = (TFDoc2Vec if is_of_documents else TFWord2Vec)(**SETTINGS | of_mode | settings)
    model.build_vocab(corpus_of(model, SENTENCES))
    return model


def corpus_of(model: TFWord2Vec, sentences: Any) -> Any:
    """Return sentences as the class of the model takes them."""
    return Tagged(sentences) if isinstance(model, TFDoc2Vec) else sentences


def train(model: TFWord2Vec, sentences: Any = None, **arguments: Any) -> TFWord2Vec:
    """Train the model to its end, and return it."""
    totals = {"total_examples": len(SENTENCES), "epochs": model.epochs, "total_words": WORDS}
    model.train(corpus_of(model, SENTENCES if sentences is None else sentences), **totals | arguments)
    return model


def killed(
    mode: str,
    folder: Path,
    sentence: int,
    stage: str = "",
    cluster: LocalCluster | None = None,
    others: bool = False,
    **settings: Any,
) -> None:
    """Run a training in a process that is killed at a sentence, and all tasks of its cluster with it if `others`."""
    command = [sys.executable, __file__, mode, str(folder), str(sentence), stage]
    if cluster is not None:
        settings["cluster"] = cluster.addresses
    command.append(json.dumps(settings))
    if cluster is not None and others:
        command += [str(process.pid) for process in cluster.processes.values()]
    ended = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def kill_this_process() -> None:
    """End this process as a crash would."""
    os.kill(os.getpid(), signal.SIGKILL)


def kill_after_a_checkpoint(folder: str) -> None:
    """End this process once it has written a checkpoint."""
    wait_until(lambda: bool(CheckpointFolder(folder).checkpoints()))
    kill_this_process()


def kill_while_writing(folder: str) -> None:
    """Have this process end while the next checkpoint after the first one is written."""
    wait_until(lambda: bool(CheckpointFolder(folder).checkpoints()))
    os.fsync = lambda _: kill_this_process()


def _kill(others: list[str]) -> None:
    """End other processes and this one as a crash of the machine would."""
    for process in others:
        os.kill(int(process), signal.SIGKILL)
    kill_this_process()


if __name__ == "__main__":
    mode, folder, sentence, stage, *rest = sys.argv[1:]
    stops = {
        "": partial(_kill, rest[1:]),
        "checkpoint": partial(kill_after_a_checkpoint, folder),
        "write": partial(kill_while_writing, folder),
    }
    model = untrained(mode, checkpoint_dir=folder, cache_memory=0, **json.loads(rest[0]))
    train(model, Interrupted(int(sentence), stops[stage]), resume=True)

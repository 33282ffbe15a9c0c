"""The coordinator of one training of `faults.py`: `python -m fault_injection.training REQUEST.json`.

It resumes from the newest checkpoint if there is one, so it can be killed and started again.
"""

from __future__ import annotations

import faulthandler
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from machines.trainer import end_with
from measuring.checkout import use_checkout
from measuring.jobs import Job
from measuring.scores import is_finite, scores_of


def main() -> int:
    """Train as the request says, and write the results to the file that it names; the status is 0."""
    use_checkout()
    faulthandler.register(signal.SIGUSR1, all_threads=True)  # `faults.py` asks for it when the training hangs
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    request = json.loads(Path(sys.argv[1]).read_text())
    with patch("gensim_tfw2v.model.loop.TrainingLog", recorded_log(request["progress"])):
        model = _trained(request, Job(**request["job"]))
    trained_at = time.time()
    vectors = vectors_of(model, Path(request["result"]).with_suffix(".kv"))
    result = {
        "trained_at": trained_at,
        "losses": model.epoch_losses,
        "report": model.training_report,
        "scores": scores_of(vectors),
        "finite": is_finite(vectors),
        "tables_left": _leases(request["cluster"]),
    }
    write_result(Path(request["result"]), result)
    return 0


def _trained(request: dict[str, Any], job: Job) -> Any:
    """Return the model after its training, which begins or resumes."""
    from gensim_tfw2v import TFWord2Vec
    from gensim_tfw2v.checkpoints.folder import CheckpointFolder

    own = {**request["settings"], "cluster": request["cluster"], "allow_network": True, "progress": False}
    if CheckpointFolder(own["checkpoint_dir"]).checkpoints():
        return TFWord2Vec.resume(own.pop("checkpoint_dir"), corpus_file=job.corpus, **own)
    return TFWord2Vec(
        **job.gensim_arguments(),
        **job.own_arguments(),
        **own,
        vectors_on_servers=request["on_servers"],
        corpus_file=job.corpus,
    )


def recorded_log(path: str) -> Any:
    """Return a class of log that also appends the words trained so far to a file, a line of JSON at a time."""
    from gensim_tfw2v.training.display import TrainingLog
    from gensim_tfw2v.training.progress import EpochPosition, EpochProgress

    class RecordedLog(TrainingLog):
        """Writes `is_start` where training begins or resumes, with the raw words that are not trained again."""

        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self._words: dict[int, int] = {}  # of each epoch

        def continue_from(self, positions: Sequence[EpochPosition]) -> None:
            super().continue_from(positions)
            self._words = {position.epoch: position.counts.raw_words for position in positions}
            self._record(is_start=True)

        def advance(self, progress: EpochProgress) -> None:
            super().advance(progress)
            self._words[progress.epoch] = progress.counts.raw_words
            self._record()

        def end_epoch(self, progress: EpochProgress) -> None:
            super().end_epoch(progress)
            self._words[progress.epoch] = progress.counts.raw_words
            self._record()

        def _record(self, is_start: bool = False) -> None:
            line = {"words": sum(self._words.values()), "is_start": is_start}
            append_line(path, line)

    return RecordedLog


def append_line(path: str, line: dict[str, Any]) -> None:
    """Append a line of JSON to a file of progress, with the time and the process."""
    with open(path, "a") as lines:
        lines.write(json.dumps({**line, "at": time.time(), "process": os.getpid()}) + "\n")


def vectors_of(model: Any, path: Path) -> Any:
    """Return the vectors in this process; free those on the servers."""
    from gensim.models import KeyedVectors

    if not model.vectors_on_servers:
        return model.wv
    model.export_vectors(path)
    model.free_server_vectors()
    return KeyedVectors.load(str(path))


def _leases(cluster: Any) -> int:
    """Return how many models have tables on the servers."""
    from gensim_tfw2v.cluster.connection import connect

    connection = connect(cluster, allow_network=True)
    return len({lease for server in range(connection.servers) for lease in connection.describe("ps", server)["runs"]})


def write_result(path: Path, result: dict[str, Any]) -> None:
    """Write the results in one step."""
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(json.dumps(result))
    os.replace(unfinished, path)


if __name__ == "__main__":
    raise SystemExit(main())

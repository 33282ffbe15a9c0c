"""The coordinator of a training with a schedule: `python -m fault_injection.scheduled_training REQUEST.json NAME`.

It resumes from the newest checkpoint if there is one, so it can be killed and started again. The coordinator "probe"
opens every checkpoint, trains for one more epoch, or for one if no checkpoint could be written, and says what is left
on the tasks. The exit status is 3 after an error, which is written in place of the results.
"""

from __future__ import annotations

import faulthandler
import json
import logging
import os
import signal
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from typing import Any
from unittest.mock import patch

from machines.trainer import end_with
from measuring.checkout import use_checkout
from measuring.planted import planted_score
from measuring.scores import is_finite

from fault_injection.stages import recorded_stages
from fault_injection.training import append_line, recorded_log, vectors_of, write_result

PROBE = "probe"
ERROR_STATUS = 3


def main() -> int:
    """Train as the request says, and write the results; the status is 0, or 3 after an error."""
    request, name = json.loads(Path(sys.argv[1]).read_text()), sys.argv[2]
    append_line(request["progress"], {"stage": "start"})
    tempfile.tempdir = request["temporary"]
    use_checkout()
    faulthandler.register(signal.SIGUSR1, all_threads=True)  # the parent asks for it when the training hangs
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    path = Path(request["folder"]) / f"result-{name}.json"
    try:
        if name == PROBE:
            result = _probe(request)
        else:
            log = patch("gensim_tfw2v.model.loop.TrainingLog", recorded_log(request["progress"]))
            with recorded_stages(request["progress"]), log:
                result = _train(request, path)
    except Exception as error:
        traceback.print_exc()
        append_line(request["progress"], {"stage": "error", "type": type(error).__name__, "message": str(error)})
        return ERROR_STATUS
    write_result(path, result)
    return 0


def _train(request: dict[str, Any], path: Path) -> dict[str, Any]:
    from gensim_tfw2v import TFWord2Vec
    from gensim_tfw2v.checkpoints.folder import CheckpointFolder

    own, corpus = {**request["may_change"], "cluster": request["cluster"]}, request["corpus"]
    if CheckpointFolder(own["checkpoint_dir"]).checkpoints():
        model = TFWord2Vec.resume(own.pop("checkpoint_dir"), corpus_file=corpus, **own)
    else:
        model = TFWord2Vec(corpus_file=corpus, **request["fixed"], **own)
    losses, report = model.epoch_losses, model.training_report
    vectors = vectors_of(model, path.with_suffix(".kv"))
    return {
        "losses": losses,
        "recoveries": report["recoveries"]["count"] if report else 0,  # none of a training that was finished before
        "lost_submodels": sum(one["lost"] > 0 for one in report.get("submodels", ())) if report else None,
        "score": planted_score(vectors),
        "finite": is_finite(vectors),
    }


def _probe(request: dict[str, Any]) -> dict[str, Any]:
    from gensim_tfw2v import TFWord2Vec
    from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder
    from gensim_tfw2v.cluster.connection import connect
    from gensim_tfw2v.training.state import state_in

    own, corpus = {**request["may_change"], "cluster": request["cluster"]}, request["corpus"]
    folder = CheckpointFolder(own.pop("checkpoint_dir"))
    for path in (found := folder.checkpoints()):
        Checkpoint(path).check()
    if found:
        model = TFWord2Vec.resume(folder.path, corpus_file=corpus, epochs=request["epochs"] + 1, **own)
    else:
        fixed = {**request["fixed"], "epochs": 1, "checkpoint_dir": str(folder.path)}
        model = TFWord2Vec(corpus_file=corpus, **fixed, **own)
    vectors = vectors_of(model, Path(request["folder"]) / "probe.kv")
    connection = connect(request["cluster"], allow_network=True)
    described = connection.describe_all("ps") | connection.describe_answering_workers()  # others joined, and have left
    return {
        "has_resumed": bool(found),
        "finite": is_finite(vectors),
        "epoch_words": [position.counts.raw_words for position in state_in(folder.newest()).epochs],
        "described": len(described),
        "tables": {task: sorted(found["runs"]) for task, found in described.items() if found["runs"]},
        "checkpoint_files": sorted(os.listdir(folder.path)),
    }


if __name__ == "__main__":
    raise SystemExit(main())

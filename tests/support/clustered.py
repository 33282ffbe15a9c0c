"""A logged training over two servers and two workers, which the tests of its log share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gensim_tfw2v import TensorBoardLog, TFWord2Vec
from support.placements import shared_cluster

EPOCHS = 6
WORKERS = ["worker 0", "worker 1"]
TASKS = [*WORKERS, "ps 0", "ps 1"]


@dataclass(frozen=True)
class Clustered:
    """The model, and the folder of its log."""

    model: TFWord2Vec
    folder: Path


def train_on_cluster(folder: Path, sentences: list[list[str]]) -> Clustered:
    """Return a model trained over the cluster with everything logged, one block of the corpus after the other."""
    log = TensorBoardLog(folder, every_seconds=0, probes=["fire", "australia"], projector_outputs=True)
    model = TFWord2Vec(sentences, sg=1, epochs=EPOCHS, seed=3, batch_words=3000, cluster=shared_cluster(), logdir=log)
    return Clustered(model, folder)

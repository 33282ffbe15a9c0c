"""A training that may be stopped at any moment and continues: `python examples/preempted.py FOLDER`.

SIGTERM, which Slurm, Kubernetes and cloud machines send before they stop a program, makes the training write a last
checkpoint and end with status 130. The same command continues. Without FOLDER, the program starts itself, stops itself
in the middle, continues, and compares the vectors with those of an uninterrupted training.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors
from gensim.models.word2vec import LineSentence
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

from gensim_tfw2v import Checkpoints, TFWord2Vec


def train(folder: Path) -> None:
    """Begin a training, or continue the one in a folder, and save its vectors there."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends training as Ctrl-C does
    corpus = folder / "corpus.txt"
    if not corpus.exists():
        texts = [" ".join(simple_preprocess(" ".join(words))) for words in LineSentence(datapath("lee_background.cor"))]
        corpus.write_text("\n".join(texts) + "\n", encoding="utf-8")
    # One worker and one seed: a training that was stopped gives the vectors of one that was not, bit for bit.
    checkpoints = Checkpoints(folder / "checkpoints", every="1s")
    model = TFWord2Vec(sg=1, epochs=80, workers=1, seed=1, checkpoints=checkpoints)
    model.build_vocab(corpus_file=str(corpus))
    words = {"total_examples": model.corpus_count, "total_words": model.corpus_total_words}
    try:
        model.train(corpus_file=str(corpus), epochs=model.epochs, resume=True, **words)
    except KeyboardInterrupt:
        print(f"stopped after {len(model.epoch_losses)} whole epochs, with a checkpoint", flush=True)
        raise SystemExit(130) from None
    model.wv.save(str(folder / "vectors.kv"))
    print(f"finished after {len(model.epoch_losses)} epochs", flush=True)


def started(folder: Path) -> subprocess.Popen[bytes]:
    """Start this program in a process of its own, as a scheduler does."""
    folder.mkdir(exist_ok=True)
    return subprocess.Popen([sys.executable, __file__, str(folder)])


def main() -> None:
    """Train in a folder; without one, stop such a training in the middle, continue it, and compare its vectors."""
    if len(sys.argv) > 1:
        return train(Path(sys.argv[1]))
    with tempfile.TemporaryDirectory() as name:
        stopped, whole = Path(name) / "stopped", Path(name) / "whole"
        process = started(stopped)
        while process.poll() is None and not list((stopped / "checkpoints").glob("checkpoint-*")):
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        print(f"status {process.wait()}", flush=True)
        print(f"status {started(stopped).wait()}", flush=True)
        print(f"status {started(whole).wait()}", flush=True)
        one, other = (KeyedVectors.load(str(folder / "vectors.kv")).vectors for folder in (stopped, whole))
    print(f"equal vectors: {np.array_equal(one, other)}")


if __name__ == "__main__":
    main()

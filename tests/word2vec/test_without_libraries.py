"""Without compiled libraries the package trains as well: in a copy that has none, and in suites that all steps pass."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.child_process import environment
from support.contract import PURE_MODES

import gensim_tfw2v

ROOT = Path(__file__).parents[2]
PLAIN = {"TFW2V_STEP": "plain"}
SUITES = {
    "gensim's own tests": ["tests/word2vec/test_gensim_suite.py"],
    "training and determinism": [
        "tests/word2vec/test_contract_training.py",
        "tests/word2vec/test_contract_determinism.py",
    ],
    "losses": ["tests/word2vec/test_contract_loss.py"],
}
TRAIN_EVERY_MODE = """
import logging
import numpy as np
from gensim.test.utils import datapath
import gensim_tfw2v
from gensim_tfw2v import TFWord2Vec
logging.basicConfig(format="%(levelname)s %(message)s", level=logging.WARNING)
print(gensim_tfw2v.__file__)
for mode in MODES:
    model = TFWord2Vec(vector_size=20, workers=1, seed=1, **mode)
    model.build_vocab(corpus_file=datapath("lee_background.cor"))
    before = model.wv.vectors.copy()
    model.train(corpus_file=datapath("lee_background.cor"), total_words=model.corpus_total_words, epochs=1)
    assert np.isfinite(model.wv.vectors).all()
    print(np.abs(model.wv.vectors - before).mean() > 1e-3)
"""
TRAIN_ON_A_CLUSTER = """
import numpy as np
from gensim_tfw2v import TFWord2Vec, local_cluster
from support.contract import PURE_MODES, SENTENCES, SMALL, topic_gap, two_topics
if __name__ == "__main__":
    with local_cluster(ps=1, workers=2) as cluster:
        for name, mode in PURE_MODES.items():
            epochs = 5 if name == "skipgram-negative" else 1  # the others are slow
            here, there = (
                TFWord2Vec(SENTENCES, **SMALL, **mode, workers=1, seed=1, cluster=where, cluster_dtype=kind)
                for where, kind in ((None, None), (cluster, "float32"))
            )
            print(float(np.abs(here.wv.vectors - there.wv.vectors).max()) < 1e-5)
            model = TFWord2Vec(two_topics(), min_count=1, epochs=epochs, workers=2, cluster=cluster, **mode)
            print(epochs == 1 or topic_gap(model.wv) > 0.3)
"""


def run(script: str, extra: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python code of a file in a process of its own."""
    path = folder / "train.py"
    path.write_text(script)
    return subprocess.run(
        [sys.executable, str(path)], env=environment() | extra, capture_output=True, text=True, timeout=600
    )


def copy_without_libraries(folder: Path) -> Path:
    """Copy the package without its compiled libraries; return the folder to import it from."""
    source = Path(gensim_tfw2v.__file__).parent
    shutil.copytree(source, folder / "gensim_tfw2v", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    return folder


@pytest.mark.slow
def test_a_copy_without_libraries_trains_in_every_mode_after_one_warning_for_each_library(tmp_path: Path) -> None:
    copy = copy_without_libraries(tmp_path)
    path = os.pathsep.join([str(copy), environment()["PYTHONPATH"]])
    script = TRAIN_EVERY_MODE.replace("MODES", repr(list(PURE_MODES.values())))
    done = run(script, {"PYTHONPATH": path}, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(copy / "gensim_tfw2v" / "__init__.py"), *["True"] * 4]
    warnings = [line for line in done.stderr.splitlines() if "Training uses TensorFlow's own" in line]
    substitutes = [line for line in done.stderr.splitlines() if "NumPy makes blocks" in line]
    assert (len(warnings), len(substitutes)) == (1, 1), done.stderr
    assert "compiled.so" in substitutes[0]


@pytest.mark.slow
def test_the_plain_step_trains_on_a_cluster_as_in_one_process(tmp_path: Path) -> None:
    done = run(TRAIN_ON_A_CLUSTER, PLAIN, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "True"] * 4


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_passes_with_the_plain_step(suite: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *SUITES[suite]],
        env=environment() | PLAIN,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout[-4000:]

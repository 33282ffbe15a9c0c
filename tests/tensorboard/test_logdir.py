"""Where a log is written, and what it leaves as it was: training, the model, and the disk's space."""

from __future__ import annotations

import os
import pickle
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from support.contract import SENTENCES
from support.event_files import SMALL, events_of, values_of
from tensorboard.plugins.hparams import metadata

from gensim_tfw2v import TensorBoardLog, TFWord2Vec


def test_a_second_run_in_the_same_folder_has_a_folder_of_its_own(tmp_path: Path) -> None:
    model = TFWord2Vec(SENTENCES, **SMALL, logdir=tmp_path)
    model.train(SENTENCES, total_examples=len(SENTENCES), epochs=2)
    assert len(values_of(tmp_path, "loss/epoch")) == 3
    assert len(values_of(tmp_path / "run-2", "loss/epoch")) == 2


def test_the_logdir_of_a_call_comes_before_the_models(tmp_path: Path) -> None:
    model = TFWord2Vec(SENTENCES, **SMALL, logdir=tmp_path / "model")
    model.train(SENTENCES, total_examples=len(SENTENCES), epochs=1, logdir=tmp_path / "call")
    assert len(values_of(tmp_path / "call", "loss/epoch")) == 1
    assert not (tmp_path / "model" / "run-2").exists()


def test_logging_changes_nothing_of_what_is_learnt(tmp_path: Path) -> None:
    logged, plain = TFWord2Vec(SENTENCES, **SMALL, logdir=tmp_path), TFWord2Vec(SENTENCES, **SMALL)
    np.testing.assert_array_equal(logged.wv.vectors, plain.wv.vectors)


def test_nothing_of_tensorboard_is_loaded_without_a_logdir() -> None:
    code = (
        "import sys; from gensim.test.utils import common_texts; from gensim_tfw2v import TFWord2Vec; "
        "TFWord2Vec(common_texts, min_count=1, epochs=1); print('tensorboard.summary' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_logdir_is_not_saved_with_the_model(tmp_path: Path) -> None:
    model = TFWord2Vec(SENTENCES, **SMALL, logdir=tmp_path)
    assert pickle.loads(pickle.dumps(model)).logdir is None
    assert model.to_gensim().__dict__.keys() & {"logdir"} == set()


def test_an_interrupted_training_keeps_its_curves(tmp_path: Path) -> None:
    class Stop(CallbackAny2Vec):  # type: ignore[misc]
        def on_epoch_end(self, model: Any) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        TFWord2Vec(SENTENCES, **SMALL, logdir=tmp_path, callbacks=[Stop()])
    content = events_of(tmp_path).summary_metadata[metadata.SESSION_END_INFO_TAG].plugin_data.content
    assert metadata.parse_session_end_info_plugin_data(content).status == 2  # STATUS_FAILURE
    assert len(values_of(tmp_path, "loss/epoch")) == 1


def test_a_relative_folder_is_that_of_the_start_wherever_a_callback_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Wanderer(CallbackAny2Vec):  # type: ignore[misc]
        def on_epoch_end(self, model: Any) -> None:
            monkeypatch.chdir(tmp_path / "elsewhere")

    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    options = TensorBoardLog("log", pairs=[])
    TFWord2Vec(SENTENCES, min_count=1, epochs=1, vector_size=4, callbacks=[Wanderer()], logdir=options)
    assert (tmp_path / "log" / "projector_config.pbtxt").is_file()
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize(
    "option", [{"projector_words": 100.0}, {"neighbours": 3.5}, {"neighbours": 0}, {"trace_seconds": float("inf")}]
)
def test_options_that_would_fail_later_are_refused(option: dict[str, Any]) -> None:
    (name,) = option
    with pytest.raises(ValueError, match=f"{name} must be .*, got {option[name]}"):
        TensorBoardLog("log", **option)


FULL_DISK = """
import resource, signal, sys
from support.contract import two_topics
from gensim_tfw2v import TFWord2Vec

model = TFWord2Vec(vector_size=8, min_count=1, workers=1)
sentences = two_topics()
model.build_vocab(sentences)
model.train(sentences, total_examples=len(sentences), epochs=1)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
print(model.train(sentences, total_examples=len(sentences), epochs=40, logdir="log")[1])
"""


def run_with_file_limit(folder: Path, size: int) -> subprocess.CompletedProcess[str]:
    """Train where no file can grow beyond `size` bytes, as on a disk that is full."""
    paths = os.pathsep.join([str(Path(__file__).parents[1]), str(Path(__file__).parents[2])])
    command = [sys.executable, "-c", FULL_DISK, str(size)]
    environment = {**os.environ, "PYTHONPATH": paths}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="the system does not limit the size of files")
def test_a_disk_that_is_full_fails_before_training(tmp_path: Path) -> None:
    done = run_with_file_limit(tmp_path, 100)
    assert done.returncode == 1
    assert "OSError" in done.stderr.splitlines()[-1]
    assert "'log'" in done.stderr.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="the system does not limit the size of files")
def test_a_disk_that_fills_up_midway_is_warned_of_once_and_training_goes_on(tmp_path: Path) -> None:
    done = run_with_file_limit(tmp_path, 120_000)
    assert (done.returncode, done.stdout) == (0, f"{40 * 7200}\n"), done.stderr
    assert done.stderr.count("cannot write logs to logdir 'log'") == 1
    assert "training continues" in done.stderr

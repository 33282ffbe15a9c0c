"""Progress as the user sees it."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import pytest
from gensim.test.utils import common_texts

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.training import display
from gensim_tfw2v.training.display import TrainingLog
from gensim_tfw2v.training.progress import EpochCounts, EpochProgress


def progress(seconds: float, fraction: float = 0.5) -> EpochProgress:
    """Return the progress of an epoch at this time."""
    counts = EpochCounts(10, 1000, 700, loss=1.5, measured_pairs=1.0, seconds=seconds)
    return EpochProgress(0, 5, fraction, 0.02, counts)


def test_bars_show_vocabulary_epochs_speed_loss_and_rate(capfd: pytest.CaptureFixture[str]) -> None:
    TFWord2Vec(common_texts, min_count=1, sample=0, epochs=2, progress=True)
    shown = capfd.readouterr().err
    for part in ("vocabulary", "epoch 1/2", "epoch 2/2", "words/s", "loss", "alpha", "100%"):
        assert part in shown


def test_a_bar_has_one_comma_between_its_numbers(capfd: pytest.CaptureFixture[str]) -> None:
    TFWord2Vec(common_texts, min_count=1, sample=0, epochs=2, progress=True)
    shown = capfd.readouterr().err
    assert re.search(r"epoch 2/2 100%\|#*█*\| 00:00<00:00, [\d,]+ words/s, loss \d\.\d{4}, alpha 0\.\d{5}\n", shown)
    assert ", ," not in shown


def test_a_bar_ends_with_the_validation_loss(capfd: pytest.CaptureFixture[str]) -> None:
    model = TFWord2Vec(common_texts, min_count=1, sample=0, epochs=2, progress=True, validation=common_texts)
    shown = capfd.readouterr().err
    for loss in model.validation_losses:
        assert re.search(rf" 100%.*, loss \d\.\d{{4}}, validation loss {loss:.4f}, alpha ", shown)


def test_no_state_of_a_bar_is_drawn_twice_where_drawings_stay(capfd: pytest.CaptureFixture[str]) -> None:
    TFWord2Vec(common_texts, min_count=1, sample=0, epochs=2, progress=True)
    drawn = [line.strip() for line in re.split(r"[\r\n]", capfd.readouterr().err) if line.strip()]
    assert len(drawn) == len(set(drawn))
    assert sum("epoch 1/2" in line for line in drawn) <= 2  # at the beginning and at the end


def test_the_vocabulary_bar_ends_with_the_number_of_sentences(capfd: pytest.CaptureFixture[str]) -> None:
    TFWord2Vec(common_texts, min_count=1, epochs=1, progress=True)
    assert "vocabulary 9/9 sentences" in capfd.readouterr().err


def on_a_terminal(code: str) -> str:
    """Return what a program writes to its standard error if that is a terminal of 120 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))  # lines, columns, and no pixels
    with subprocess.Popen([sys.executable, "-c", code], stderr=theirs, stdin=subprocess.DEVNULL) as process:
        os.close(theirs)
        written = bytearray()
        with contextlib.suppress(OSError):  # raised at the end of the other side
            while data := os.read(ours, 65536):
                written += data
    os.close(ours)
    assert process.returncode == 0, written.decode()
    return written.decode()


@pytest.mark.slow
def test_bars_on_a_terminal_say_what_takes_time() -> None:
    shown = on_a_terminal(
        "from gensim.test.utils import common_texts; from gensim_tfw2v import TFWord2Vec; "
        "TFWord2Vec(common_texts * 50, min_count=1, sample=0, epochs=2)"
    )
    lines = [line.rpartition("\r")[2].strip() for line in shown.split("\r\n")]  # as the terminal shows them in the end
    assert re.match(r"vocabulary 450/450 sentences \[00:\d\d<00:00\]", lines[0])
    for epoch, line in enumerate(lines[1:3], start=1):
        assert re.match(rf"epoch {epoch}/2 100%\|█+\| 00:\d\d<00:00, [\d,]+ words/s, loss \d\.\d+, alpha 0\.\d+", line)
    assert lines[3:] == [""]
    assert "\rloading TensorFlow" in shown


def test_bars_are_wanted_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert display.wants_bar(None)
    shell.config = {"TerminalIPythonApp": {}}
    assert not display.wants_bar(None)


def test_nothing_is_drawn_where_there_is_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    TFWord2Vec(common_texts, min_count=1, epochs=2)
    assert capfd.readouterr().err == ""


def test_the_log_has_the_loss_of_each_epoch(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        TFWord2Vec(common_texts, min_count=1, sample=0, epochs=2)
    assert caplog.text.count("mean loss") == 2


def test_the_log_reports_no_more_often_than_asked(caplog: pytest.LogCaptureFixture) -> None:
    log = TrainingLog(report_delay=1.0)
    with caplog.at_level(logging.INFO):
        for tenth in range(1, 31):
            log.advance(progress(tenth / 10))
    assert caplog.text.count("PROGRESS") == 3


def test_progress_is_reported_while_the_corpus_makes_its_next_sentence(caplog: pytest.LogCaptureFixture) -> None:
    reported = threading.Event()

    class Reported(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "PROGRESS: at" in record.getMessage():
                reported.set()

    class Slow:
        was_reported = False

        def __iter__(self) -> Iterator[list[str]]:
            yield from common_texts
            self.was_reported = reported.wait(20)

    model = TFWord2Vec(min_count=1, progress=False)
    model.build_vocab(common_texts)
    corpus, handler, logger = Slow(), Reported(), logging.getLogger("gensim_tfw2v.training.display")
    logger.addHandler(handler)
    try:
        with caplog.at_level(logging.INFO):
            model.train(corpus, total_examples=9, epochs=1, report_delay=0.01)
    finally:
        logger.removeHandler(handler)
    assert corpus.was_reported


def test_a_report_before_the_first_block_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        TrainingLog().advance(EpochProgress(0, 5, 0.0, 0.025, EpochCounts(seconds=2.0)))
    assert caplog.messages == ["EPOCH 0 - PROGRESS: at 0.00%, no block trained yet"]


def test_a_report_without_measured_batches_has_no_loss(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        TrainingLog().advance(EpochProgress(0, 5, 0.5, 0.025, EpochCounts(raw_words=3000, seconds=2.0)))
    assert caplog.messages == ["EPOCH 0 - PROGRESS: at 50.00%, 1,500 words/s, alpha 0.02500"]


def test_words_per_second_are_raw_words_by_time() -> None:
    assert progress(2.0).counts.words_per_second == pytest.approx(500)


def test_counts_add_up_and_give_back_what_came_after_earlier_ones() -> None:
    before = EpochCounts(examples=2, raw_words=30, loss=1.5, measured_pairs=3.0, clipped_rows=1, seconds=0.5)
    part = EpochCounts(examples=1, raw_words=10, loss=2.5, measured_pairs=5.0, touched_rows=7, seconds=0.25)
    total = replace(before)
    total += part
    assert total == EpochCounts(3, 40, loss=4.0, measured_pairs=8.0, touched_rows=7, clipped_rows=1, seconds=0.75)
    assert total.since(before) == part
    assert total.mean_loss == 0.5


def test_the_log_says_that_tensorflow_is_loaded_and_nothing_else_is_printed() -> None:
    code = (
        "import logging; logging.basicConfig(level=logging.INFO, format='logged by %(name)s: %(message)s'); "
        "from gensim.test.utils import common_texts; from gensim_tfw2v import TFWord2Vec; "
        "TFWord2Vec(common_texts, min_count=1, epochs=1)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = result.stderr.splitlines()
    assert "logged by gensim_tfw2v.runtime.tensorflow: loading TensorFlow" in lines
    assert [line for line in lines if not line.startswith("logged by gensim")] == []
    assert result.stdout == ""


@pytest.mark.slow
def test_a_program_that_set_tensorflows_threads_keeps_them() -> None:
    code = (
        "import tensorflow as tf; tf.config.threading.set_intra_op_parallelism_threads(2); "
        "from gensim.test.utils import common_texts; from gensim_tfw2v import TFWord2Vec; "
        "TFWord2Vec(common_texts, min_count=1, epochs=1); print(tf.config.threading.get_intra_op_parallelism_threads())"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "2\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("replaced", "progress"),
    [
        ("sys.stderr = None", None),
        pytest.param("sys.stderr = None", True, marks=pytest.mark.slow),
        pytest.param("sys.stderr = Writer()", None, marks=pytest.mark.slow),
        pytest.param("sys.stderr.close()", None, marks=pytest.mark.slow),
    ],
    ids=["none", "none, and bars wanted", "without isatty", "closed"],
)
def test_training_needs_no_standard_error(replaced: str, progress: bool | None) -> None:
    code = f"""
import sys
class Writer:
    def write(self, text): pass
    def flush(self): pass
{replaced}
from gensim.test.utils import common_texts
from gensim_tfw2v import TFWord2Vec
print(len(TFWord2Vec(common_texts, min_count=1, epochs=1, progress={progress}).wv))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.stdout == "12\n", result.stderr

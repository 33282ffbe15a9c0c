"""Progress as the user sees it."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from gensim.test.utils import common_texts

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.training.progress import EpochCounts, EpochProgress, TrainingLog


def progress(seconds: float, fraction: float = 0.5) -> EpochProgress:
    """Return the progress of an epoch at this time."""
    counts = EpochCounts(10, 1000, 700, loss=1.5, measured_pairs=1.0, seconds=seconds)
    return EpochProgress(0, 5, fraction, 0.02, counts)


def test_bars_show_vocabulary_epochs_speed_loss_and_rate(capfd: pytest.CaptureFixture[str]) -> None:
    TFWord2Vec(common_texts, min_count=1, epochs=2, progress=True)
    shown = capfd.readouterr().err
    for part in ("vocabulary", "epoch 1/2", "epoch 2/2", "words/s", "loss", "alpha", "100%"):
        assert part in shown


def test_nothing_is_drawn_where_there_is_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    TFWord2Vec(common_texts, min_count=1, epochs=2)
    assert capfd.readouterr().err == ""


def test_the_log_has_the_loss_of_each_epoch(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        TFWord2Vec(common_texts, min_count=1, epochs=2)
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
    corpus, handler, logger = Slow(), Reported(), logging.getLogger("gensim_tfw2v.training.progress")
    logger.addHandler(handler)
    try:
        with caplog.at_level(logging.INFO):
            model.train(corpus, total_examples=9, epochs=1, report_delay=0.01)
    finally:
        logger.removeHandler(handler)
    assert corpus.was_reported


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


def test_training_prints_nothing_of_tensorflows() -> None:
    code = (
        "from gensim.test.utils import common_texts; from gensim_tfw2v import TFWord2Vec; "
        "TFWord2Vec(common_texts, min_count=1, epochs=1)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (result.stdout, result.stderr) == ("", "")


def test_a_program_that_set_tensorflows_threads_keeps_them() -> None:
    code = (
        "import tensorflow as tf; tf.config.threading.set_intra_op_parallelism_threads(2); "
        "from gensim.test.utils import common_texts; from gensim_tfw2v import TFWord2Vec; "
        "TFWord2Vec(common_texts, min_count=1, epochs=1); print(tf.config.threading.get_intra_op_parallelism_threads())"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "2\n"


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

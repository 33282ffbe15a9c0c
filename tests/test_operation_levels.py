"""Operations do the same whichever of a processor's instructions they are compiled for."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
import test_candidates
import test_context_operations
import test_negatives
import test_operations
import test_predictions
from child_process import run_script
from operation_inputs import BATCH, SIZES

from gensim_tfw2v.runtime.processor import instruction_level

LEVELS = ["baseline", "v3", "v4"]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors have one level")
@pytest.mark.parametrize("level", LEVELS)
def test_every_level_that_the_processor_can_run_does_the_same(level: str) -> None:
    if LEVELS.index(level) > LEVELS.index(instruction_level()):
        pytest.skip(f"the processor does not have the instructions of {level}")
    done = run_script(
        "import sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import gensim_tfw2v.operations as package\n"
        f"package.instruction_level = lambda: {level!r}\n"
        "from test_operation_levels import check_every_operation\n"
        "check_every_operation()\n"
        "print(*(line for line in open('/proc/self/maps') if 'gensim_tfw2v/operations' in line))"
    )
    assert done.returncode == 0, done.stderr
    assert f"/{level}." in done.stdout
    assert not any(f"/{other}." in done.stdout for other in LEVELS if other != level)


def check_every_operation() -> None:
    """Check one case of each operation in vectors of each size."""
    contexts = test_context_operations.some_contexts()
    for size in SIZES:
        test_operations.test_rows_are_read_and_written_where_they_are(size)
        for number_type in ("float32", "bfloat16"):
            test_operations.test_rows_of_a_batch_are_gathered(size, BATCH, number_type)
            test_operations.check_moved_rows(size, number_type)
        test_context_operations.check_mixtures(size, contexts)
        test_context_operations.check_moved_contexts(size, contexts)
        test_candidates.check_meeting(test_candidates.meeting(size))
        test_negatives.check(test_negatives.sampling(size))
        for every_context in (True, False):
            test_predictions.check_prediction(test_predictions.prediction(size, every_context, busy=4))
    for code in (0, 1):
        for score in (-1e30, 0.0, 20.0, 79.0, 1e30):
            test_predictions.test_one_score_has_the_loss_and_the_gradient_of_a_sigmoid(score, code)

"""Operations do the same whichever of a processor's instructions they are compiled for."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
from support.child_process import run_script

from gensim_tfw2v.operations import library_path
from gensim_tfw2v.runtime.processor import instruction_level

LEVELS = ["baseline", "v3", "v4"]


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors have one level")
@pytest.mark.parametrize("level", LEVELS)
def test_every_level_that_the_processor_can_run_does_the_same(level: str) -> None:
    if LEVELS.index(level) > LEVELS.index(instruction_level()):
        pytest.skip(f"the processor does not have the instructions of {level}")
    if level == instruction_level():
        pytest.skip("the other tests run at this level")
    folder = str(library_path().parent)
    done = run_script(
        "import sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n"
        "import gensim_tfw2v.operations as package\n"
        f"package.instruction_level = lambda: {level!r}\n"
        "from support.every_operation import check_every_operation\n"
        "check_every_operation()\n"
        f"print(*(line for line in open('/proc/self/maps') if {folder!r} in line))"
    )
    assert done.returncode == 0, done.stderr
    assert f"/{level}." in done.stdout
    assert not any(f"/{other}." in done.stdout for other in LEVELS if other != level)


def test_runs_of_any_length_are_trained_at_the_lowest_level() -> None:
    """Its registers are shorter than the rows that are scored together."""
    tests = Path(__file__).parent / "test_training_operations.py"
    done = run_script(
        "import sys\n"
        "import pytest\n"
        "import gensim_tfw2v.operations as package\n"
        "package.instruction_level = lambda: 'baseline'\n"
        f"sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', {str(tests)!r}, '-k', 'of_any_number']))"
    )
    assert done.returncode == 0, done.stdout

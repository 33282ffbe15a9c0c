"""Operations pass their tests whichever of a processor's instructions they are compiled for."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
from child_process import run_script

from gensim_tfw2v.runtime.processor import instruction_level

LEVELS = ["baseline", "v3", "v4"]
TESTS_OF_OPERATIONS = sorted(
    str(path)
    for path in Path(__file__).parent.glob("test_*.py")
    if "\nfrom operation_inputs import" in path.read_text(encoding="utf-8")
)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors have one level")
@pytest.mark.parametrize("level", LEVELS)
def test_operations_of_every_level_that_the_processor_can_run_pass_their_tests(level: str) -> None:
    if LEVELS.index(level) > LEVELS.index(instruction_level()):
        pytest.skip(f"the processor does not have the instructions of {level}")
    if level == instruction_level():
        pytest.skip("the other tests run at this level")
    assert len(TESTS_OF_OPERATIONS) >= 5
    done = run_script(
        "import pytest\n"
        "import gensim_tfw2v.operations as package\n"
        f"package.instruction_level = lambda: {level!r}\n"
        f"print('ended with', int(pytest.main(['-q', '-p', 'no:cacheprovider', *{TESTS_OF_OPERATIONS!r}])))\n"
        "print(*(line for line in open('/proc/self/maps') if 'gensim_tfw2v/operations' in line))"
    )
    assert "\nended with 0\n" in done.stdout, done.stdout + done.stderr
    assert f"/{level}." in done.stdout
    assert not any(f"/{other}." in done.stdout for other in LEVELS if other != level)

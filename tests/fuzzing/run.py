"""Gives targets random examples for a time: `python -m fuzzing.run MINUTES [TARGET...]`, as `scripts/fuzz` does.

Each target runs in a process of its own with limits of memory and time, so that a crash is a failure like others.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, seed, settings

from fuzzing.target import EXAMPLE_SECONDS, Target, time_limit
from fuzzing.targets import TARGETS, target_named

_MEMORY_BYTES = 2**34  # of address space, much of which TensorFlow reserves and does not use
_ROUND = 50  # examples between looks at the clock
_GRACE_SECONDS = 300  # for loading TensorFlow, and for making a failing example small


def fuzz(name: str, target: Target, seconds: float, first_seed: int, corpus: Path) -> tuple[int, int]:
    """Return how many examples ran, and how many rounds failed; a failed round ends with its smallest example."""
    ran = failures = 0
    last = corpus / f"{name}.last-example"
    number = first_seed
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:

        def check(example: Any) -> None:
            nonlocal ran
            ran += 1
            last.write_text(repr(example), encoding="utf-8", errors="backslashreplace")  # which a crash leaves behind
            with time_limit():
                target.check(example)

        check.__name__ = name.replace("-", "_")
        rounds = settings(
            max_examples=_ROUND,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        )
        try:
            seed(number)(rounds(given(target.examples)(check)))()
        except Exception:
            failures += 1
            shown = f"{name} failed; again: scripts/fuzz --seed {number} 1 {name}\n{traceback.format_exc()}"
            (corpus / f"{name}-{number}.failure").write_text(shown, encoding="utf-8", errors="backslashreplace")
            print(f"\n{shown}", flush=True)
            if failures == 3:
                break
        number += 1
    last.unlink(missing_ok=True)
    return ran, failures


def _run_alone(name: str, seconds: float, first_seed: int, corpus: Path) -> tuple[int, int]:
    """Return what `fuzz` returns in a process of its own; a process that ends in another way is a failure."""
    command = [sys.executable, "-X", "faulthandler", "-m", "fuzzing.run", "--corpus", str(corpus)]
    command += ["--seed", str(first_seed), "--alone", str(seconds / 60), name]
    result = corpus / f"{name}.result"
    result.unlink(missing_ok=True)
    try:
        code = subprocess.run(command, timeout=seconds + EXAMPLE_SECONDS + _GRACE_SECONDS, check=False).returncode
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    except subprocess.TimeoutExpired:
        how = "because it took too long"
    if result.exists():
        ran, failures = json.loads(result.read_text())
        result.unlink()
        return ran, failures
    last = corpus / f"{name}.last-example"
    example = last.read_text(encoding="utf-8") if last.exists() else "none"
    print(f"\n{name}: the process ended {how}; the last example (in {last}):\n{example[:2000]}", flush=True)
    return 0, 1


def main() -> int:
    """Fuzz, and return the exit code: 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description="Gives targets random examples for some minutes.")
    parser.add_argument("minutes", type=float, help="of all targets together")
    parser.add_argument("targets", nargs="*", metavar="target", help=f"by default all: {', '.join(TARGETS)}")
    parser.add_argument("--seed", type=int, help="of the first round; by default a random one")
    parser.add_argument("--corpus", type=Path, default=Path(".hypothesis/fuzz"), help="folder for failing examples")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if unknown := [name for name in options.targets if name not in TARGETS]:
        parser.error(f"no target {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    names = options.targets or list(TARGETS)
    first_seed = int.from_bytes(os.urandom(4), "little") if options.seed is None else options.seed
    corpus = options.corpus.absolute()
    corpus.mkdir(parents=True, exist_ok=True)
    seconds = 60 * options.minutes / len(names)
    if options.alone:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        found = fuzz(names[0], target_named(names[0]), seconds, first_seed, corpus)
        (corpus / f"{names[0]}.result").write_text(json.dumps(found))
        return 0
    print(f"seed {first_seed}; {len(names)} targets, {seconds:.0f} s each; failing examples: {corpus}", flush=True)
    results = {name: _run_alone(name, seconds, first_seed, corpus) for name in names}
    for name, (ran, failures) in results.items():
        print(f"{name}: {ran} examples, {failures} failures")
    return int(any(failures for _, failures in results.values()))


if __name__ == "__main__":
    sys.exit(main())

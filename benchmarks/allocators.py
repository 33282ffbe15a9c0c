"""Times two concurrent steps with each of TensorFlow's two allocators: `python benchmarks/allocators.py --help`.

It also measures how far apart the cores are: how long a number that one core writes takes to reach the other.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from multiprocessing import shared_memory
from typing import Any

from measuring.checkout import use_checkout
from measuring.jobs import MODES, Job, add_corpus_argument, add_model_arguments, job_from
from profile_step import make_block, prepare, with_rate
from report.reports import add_output_arguments, start_report

_ALLOCATORS = {"the C library's (default)": "1", "oneDNN's, one pool for all threads": "0"}
_VARIABLE = "TF_ONEDNN_USE_SYSTEM_ALLOCATOR"
_HANDOVERS = 20_000
_PATIENCE = 60  # seconds that all handovers may take
_NEAR, _FAR = 1.25, 1.5  # times the shortest handover: near cores take at most the first, far ones at least the second
_NOTES = (
    "Each allocator has a process; they take turns. ns/token: processor nanoseconds for each token. Two threads train "
    "blocks at the same time on the same tables. Blocks are made before the timing.",
    "handover: nanoseconds from one core to the other, Python's overhead included; the mean of before and after. The "
    "machine may move its cores at any time, also in between.",
    f"near: rounds whose handovers all took at most {_NEAR} times the shortest. far: at least {_FAR} times.",
)


def main(argv: list[str] | None = None) -> int:
    """Time the rounds and report them; the exit status is 0."""
    arguments = _parser().parse_args(argv)
    job = job_from(arguments, system="tfw2v", workers=2)
    if arguments.serve:
        _serve(job, arguments.blocks)
        return 0
    report = start_report("Memory for two steps side by side", arguments, ("mode", "vector_size", "rounds"), _NOTES)
    steppers = {name: _start(value, argv) for name, value in _ALLOCATORS.items()}
    try:
        rounds = [_round(steppers) for _ in range(arguments.rounds)]
    finally:
        for stepper in steppers.values():
            stepper.kill()
            stepper.wait()
    print(report.save({"Results": _summary(rounds), "Every round": _all(rounds)}, {"rounds": rounds}))
    return 0


def _start(allocator: str, argv: list[str] | None) -> subprocess.Popen[str]:
    """Return a process with this allocator, ready to train."""
    command = [sys.executable, __file__, *(sys.argv[1:] if argv is None else argv), "--serve"]
    environment = os.environ | {_VARIABLE: allocator}
    stepper = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    _answer(stepper)
    return stepper


def _answer(stepper: subprocess.Popen[str]) -> float:
    assert stepper.stdout is not None
    return float(stepper.stdout.readline())


def _serve(job: Job, blocks: int) -> None:
    """Answer each line of standard input with nanoseconds per token."""
    use_checkout()
    maker, placement, chunks, _ = prepare(job, blocks)
    prepared = [with_rate(make_block(maker, chunk), job.alpha, measure_every=0) for chunk in chunks]
    tokens = sum(each.block.tokens for each in prepared)

    def step(own: list[Any]) -> None:
        for each in own:
            placement.train_prepared(each)

    step(prepared[:2])
    print(0.0, flush=True)
    for _ in sys.stdin:
        began = time.process_time()
        threads = [threading.Thread(target=step, args=(own,)) for own in (prepared, prepared[::-1])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print((time.process_time() - began) / (2 * tokens) * 1e9, flush=True)


def _round(steppers: dict[str, subprocess.Popen[str]]) -> dict[str, dict[str, float]]:
    """Return the nanoseconds per token of each allocator, and of the handovers before and after it."""
    measured = {}
    before = handover_nanoseconds()
    for name, stepper in steppers.items():
        assert stepper.stdin is not None
        stepper.stdin.write("\n")
        stepper.stdin.flush()
        step = _answer(stepper)
        after = handover_nanoseconds()
        measured[name] = {"ns_per_token": step, "handover_ns": (before + after) / 2}
        before = after
    return measured


def handover_nanoseconds() -> float:
    """Return the nanoseconds until a process on one core sees what a process on another has written."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        raise SystemExit("two cores are needed")
    memory = shared_memory.SharedMemory(create=True, size=64)
    other = multiprocessing.Process(target=_hand_over, args=(memory.name, cores[1], 1))
    before = signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(_PATIENCE)
    try:
        memory.buf[0] = 2  # neither process may continue yet
        other.start()
        began = _hand_over(memory.name, cores[0], 0)
        seconds = time.perf_counter() - began
        other.join()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        if other.is_alive():
            other.kill()
        memory.close()
        memory.unlink()
        os.sched_setaffinity(0, cores)
    return seconds / (2 * _HANDOVERS) * 1e9


def _give_up(*_: object) -> None:
    raise SystemExit(f"the process on the other core has not answered for {_PATIENCE} seconds")


def _hand_over(name: str, core: int, number: int) -> float:
    """Wait for the turn and give it to the other process, repeatedly; return the time when this began."""
    os.sched_setaffinity(0, {core})
    memory = shared_memory.SharedMemory(name)
    turn = memory.buf
    if number:
        turn[0] = 0  # ready
    while turn[0] == 2:
        pass
    began = time.perf_counter()
    for _ in range(_HANDOVERS):
        while turn[0] != number:
            pass
        turn[0] = 1 - number
    del turn
    memory.close()
    return began


def _summary(rounds: list[dict[str, dict[str, float]]]) -> list[list[str]]:
    """Return the table of all rounds, and of those in which the cores were near or far for both allocators."""
    least = min(measured["handover_ns"] for one in rounds for measured in one.values())

    def all_between(low: float, high: float) -> list[dict[str, dict[str, float]]]:
        return [one for one in rounds if all(low <= each["handover_ns"] / least <= high for each in one.values())]

    kinds = {"all": rounds, "near": all_between(1.0, _NEAR), "far": all_between(_FAR, math.inf)}
    rows = [["cores", "rounds", "allocator", "ns/token, median", "smallest", "largest"]]
    for kind, chosen in kinds.items():
        for name in _ALLOCATORS if chosen else ():
            values = [one[name]["ns_per_token"] for one in chosen]
            shown = (f"{value:.0f}" for value in (statistics.median(values), min(values), max(values)))
            rows.append([kind, str(len(chosen)), name, *shown])
    return rows


def _all(rounds: list[dict[str, dict[str, float]]]) -> list[list[str]]:
    heading = ["round"]
    for name in _ALLOCATORS:
        heading += [f"{name}: ns/token", "handover ns"]
    rows = [heading]
    for number, measured in enumerate(rounds, 1):
        cells = (f"{value:.0f}" for name in _ALLOCATORS for value in measured[name].values())
        rows.append([str(number), *cells])
    return rows


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    add_corpus_argument(parser)
    parser.add_argument("--mode", choices=list(MODES), default="cbow-neg", help="default: %(default)s")
    parser.add_argument("--vector-size", type=int, default=100, metavar="N", help="default: %(default)s")
    add_model_arguments(parser)
    parser.add_argument("--blocks", type=int, default=6, help="blocks of each thread in a round (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=30, help="default: %(default)s")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    add_output_arguments(parser, "allocators")
    return parser


if __name__ == "__main__":
    sys.exit(main())

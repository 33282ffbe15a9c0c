"""Compares the training operations with what a core can compute: `python benchmarks/operations.py --help`."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from measuring.jobs import MODES, OPTIMIZERS, Job, add_corpus_argument, add_model_arguments, job_from, number_from
from profile_step import make_block, prepare, with_rate
from report.reports import add_output_arguments, start_report

_LOSS_EVERY = 64  # batches, as in training
_FLOP_A_CYCLE = {"v4": 64, "v3": 32, "baseline": 8}  # two fused multiply-adds on a register; without AVX one of each
_SETTINGS = ("vector_size", "window", "negative", "sample", "run_tokens", "shared_negatives")
_NOTES = (
    "ns/token: processor time of one thread for each token that subsampling keeps, the least of all rounds.",
    "kflop/token: multiplications and additions of scores, gradients and sums, without padding, sigmoids and moves.",
    "limit: nanoseconds that this arithmetic takes if a core does nothing else, at the clock that the system reports.",
)


class Cost(NamedTuple):
    """What a token costs."""

    nanoseconds: float
    flop: float
    limit: float  # nanoseconds

    def cells(self) -> list[str]:
        """Return the cells of a table."""
        share = 100 * self.limit / self.nanoseconds
        return [f"{self.nanoseconds:.0f}", f"{self.flop / 1e3:.1f}", f"{self.limit:.0f}", f"{share:.0f} %"]


def main(argv: list[str] | None = None) -> int:
    """Print the table; the exit status is 0."""
    arguments = _parser().parse_args(argv)
    report = start_report("Training operations", arguments, _SETTINGS, _NOTES)
    rows, data = [["mode", "optimizer", "ns/token", "kflop/token", "limit", "share"]], []
    for mode in arguments.modes:
        for optimizer in arguments.optimizers:
            arguments.mode = mode
            job = replace(job_from(arguments, system="tfw2v", workers=1), optimizer=optimizer)
            cost = cost_of(job, arguments.blocks, arguments.rounds)
            rows.append([mode, optimizer, *cost.cells()])
            data.append({"mode": mode, "optimizer": optimizer, **cost._asdict()})
    print(report.save({"Costs": rows}, {"costs": data}))
    return 0


def cost_of(job: Job, blocks: int, rounds: int) -> Cost:
    """Return what a token of the first blocks of a corpus costs."""
    maker, placement, chunks, _ = prepare(job, blocks)
    placement = getattr(placement, "_placement", placement)  # without the columns of states, which training hides
    made = [block for block in (make_block(maker, chunk) for chunk in chunks) if block is not None]
    tokens = sum(block.tokens for block in made)
    prepared = [with_rate(block, job.alpha, _LOSS_EVERY) for block in made]

    def seconds() -> float:
        began = time.process_time()
        for block in prepared:
            placement.train_prepared(block)
        return time.process_time() - began

    seconds()
    nanoseconds = min(seconds() for _ in range(rounds)) / tokens * 1e9
    flop = sum(flop_of(block, job) for block in made) / tokens
    return Cost(nanoseconds, flop, flop / flop_a_nanosecond())


def flop_of(block: Any, job: Job) -> float:
    """Return the multiplications and additions that the products of a block's vectors need."""
    contexts = float(block.left.sum(dtype="int64") + block.right.sum(dtype="int64"))
    trained = float(((block.left + block.right) > 0).sum())
    is_skip_gram = block.target_ids is None and block.input_ids.shape == block.left.shape
    products = 0.0  # of two vectors
    if block.candidate_ids is not None:
        shared = block.candidate_ids.shape[2]
        if is_skip_gram:
            shared -= block.left.shape[2] + 2 * block.window
        # Each score is followed by two sums: into the hidden vector's gradient, and into the row's.
        products += 3 * (trained * shared + (contexts if is_skip_gram else trained))
    if block.tree is not None:
        products += 3 * _steps(block, contexts, trained, is_skip_gram)
    if not is_skip_gram:
        products += 2 * contexts  # a sum into the hidden vector, and one back
    return 2 * job.vector_size * products


def _steps(block: Any, contexts: float, trained: float, is_skip_gram: bool) -> float:
    """Return about how many steps of Huffman paths the tokens of a block are trained with."""
    lengths = block.tree.offsets[1:] - block.tree.offsets[:-1]
    inside = block.tree.words[:, :, block.window : block.tree.words.shape[2] - block.window]
    mean = float(lengths[inside][(block.left + block.right) > 0].mean())
    return mean * (contexts if is_skip_gram else trained)


def flop_a_nanosecond() -> float:
    """Return what a core of this machine computes in a nanosecond at most."""
    from gensim_tfw2v.runtime.processor import instruction_level

    lines = Path("/proc/cpuinfo").read_text().splitlines()
    megahertz = [float(line.rpartition(":")[2]) for line in lines if line.startswith("cpu MHz")]
    return _FLOP_A_CYCLE[instruction_level()] * max(megahertz) / 1e3


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Compares the training operations of one thread with what a core can compute."
    )
    add_corpus_argument(parser)
    add_output_arguments(parser, "operations")
    add_model_arguments(parser)
    add = parser.add_argument
    add("--vector-size", type=number_from(1), default=100, metavar="N", help="default: 100")
    add("--run-tokens", type=number_from(1), metavar="N", help="default: chosen")
    add("--shared-negatives", type=number_from(1), metavar="N", help="default: chosen")
    add("--modes", nargs="+", choices=list(MODES), default=list(MODES), metavar="MODE", help="default: all")
    add("--optimizers", nargs="+", choices=OPTIMIZERS, default=list(OPTIMIZERS), metavar="NAME", help="default: all")
    add("--blocks", type=number_from(1), default=10, metavar="N", help="of the corpus (default 10)")
    add("--rounds", type=number_from(1), default=7, metavar="N", help="the least time of so many counts (default 7)")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

"""A choice of tasks → a table for people, and an object for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gensim_tfw2v.planning.choice import Choice
from gensim_tfw2v.planning.commands import command_lines, host_lines
from gensim_tfw2v.planning.plan import Plan
from gensim_tfw2v.planning.units import duration, large, size


def as_text(choice: Choice, corpus: str | None = None) -> str:
    """Return the plan as a table, with reasons, warnings and commands below it."""
    plan = choice.plan
    rows = list(_rows(plan))
    width = max(len(name) for name, _ in rows)
    lines = [f"{name.ljust(width)}  {value}" for name, value in rows]
    lines += ["", *(f"why: {reason}" for reason in choice.reasons)]
    lines += [f"warning: {warning}" for warning in plan.warnings]
    hosts = host_lines(plan)
    lines += ["", *([f"hosts.txt: {hosts[0]} ... {hosts[-1]}"] if hosts else []), *command_lines(plan, corpus)]
    return "\n".join(lines)


def as_object(choice: Choice, corpus: str | None = None) -> dict[str, Any]:
    """Return the plan as an object for JSON: bytes, seconds and words a second."""
    return {
        **_numbers(choice.plan),
        "reasons": choice.reasons,
        "warnings": choice.plan.warnings,
        "commands": command_lines(choice.plan, corpus),
        "hosts": host_lines(choice.plan),
        "one_machine": _numbers(choice.one_machine),
    }


def _rows(plan: Plan) -> Iterator[tuple[str, str]]:
    workload, layout, speed = plan.workload, plan.layout, plan.speed
    cores = f"{plan.machine.cores:g} cores"
    yield "training", f"{large(workload.words)} words, epochs: {workload.epochs}, {workload.mode}"
    if workload.vocabulary_range is not None:
        least, most = workload.vocabulary_range
        yield "vocabulary", f"about {workload.vocabulary:,}, from {least:,} to {most:,}"
    yield "model", f"{large(workload.vocabulary)} words of {workload.vector_size} numbers, {size(workload.table_bytes)}"
    if plan.traffic is None:
        yield "design", f"one process on {cores}"
    else:
        where = "processes on one machine" if layout.host_cores is not None else f"machines of {cores}"
        yield "design", f"{layout.design}; workers: {layout.workers}, servers: {layout.servers}, a coordinator; {where}"
    for task, needed in plan.memory.items():
        yield f"memory of the {task}", size(needed)
    if plan.traffic is not None:
        yield "bytes a word", f"{plan.traffic.bytes_a_word:,.1f}, blocks of {plan.traffic.block_words:,.0f} words"
        yield "words/s of a worker", large(speed.of_worker)
    yield "words/s", f"{large(speed.words_a_second)}, limited by {speed.bottleneck}"
    if len(speed.limits) > 1:
        yield "words/s if alone", "; ".join(f"{name} {large(words)}" for name, words in speed.limits.items())
    yield (
        "time",
        (
            f"{duration(plan.seconds)}: {duration(plan.training_seconds)} to train, "
            f"{duration(plan.counting_seconds)} to count words"
        ),
    )
    if plan.cost is not None:
        yield "cost", f"{plan.cost:,.2f}, machines: {layout.machines}"
    yield (
        "checkpoint",
        (f"{size(plan.checkpoint_bytes)}; one every ten minutes writes {size(plan.checkpoint_bytes_a_second)}/s"),
    )
    yield "costs measured on", plan.profile.processor


def _numbers(plan: Plan) -> dict[str, Any]:
    traffic, speed = plan.traffic, plan.speed
    return {
        "design": plan.layout.design,
        "workers": plan.layout.workers,
        "servers": plan.layout.servers,
        "machines": plan.layout.machines,
        "cores": plan.machine.cores,
        "words": plan.workload.words,
        "vocabulary": plan.workload.vocabulary,
        "vocabulary_range": plan.workload.vocabulary_range,
        "memory": dict(plan.memory),
        "model": plan.workload.model_bytes,
        "block_words": None if traffic is None else traffic.block_words,
        "bytes_a_word": 0.0 if traffic is None else traffic.bytes_a_word,
        "words_a_second": speed.words_a_second,
        "words_a_second_of_worker": speed.of_worker,
        "limits": dict(speed.limits),
        "bottleneck": speed.bottleneck,
        "processor_nanoseconds_a_word": dict(speed.processor_nanoseconds),
        "counting_seconds": plan.counting_seconds,
        "training_seconds": plan.training_seconds,
        "seconds": plan.seconds,
        "cost": plan.cost,
        "checkpoint_bytes": plan.checkpoint_bytes,
        "checkpoint_bytes_a_second": plan.checkpoint_bytes_a_second,
        "fits": plan.fits,
        "vectors_on_servers": plan.vectors_on_servers,
        "profile": plan.profile.processor,
    }

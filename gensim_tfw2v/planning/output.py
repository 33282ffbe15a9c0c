"""A choice of tasks → a table for people, an object for programs, and the commands that start the tasks."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from gensim_tfw2v.arguments.argument import flag_of
from gensim_tfw2v.arguments.units import duration, large, size
from gensim_tfw2v.corpus.shards import is_encoded
from gensim_tfw2v.planning.choice import Choice
from gensim_tfw2v.planning.machines import DOWNPOUR, HERE
from gensim_tfw2v.planning.plan import Plan
from gensim_tfw2v.planning.workload import Workload

CHECKPOINT_SECONDS = 600.0  # `checkpoint_every`
_CORPUS, _FOLDER, _OUTPUT = "corpus.txt", "encoded-corpus", "vectors.kv"


def as_text(choice: Choice, corpus: str | None = None) -> str:
    """Return the plan as a table, with reasons, warnings and commands. `corpus` is the one that was sampled."""
    plan = choice.plan
    hosts = host_lines(plan)
    ends = [*([f"hosts.txt: {hosts[0]} ... {hosts[-1]}"] if hosts else []), *command_lines(plan, corpus)]
    return table_text(_rows(plan), choice.reasons, plan.warnings, ends)


def table_text(
    rows: Iterable[tuple[str, str]], reasons: Iterable[str], warnings: Iterable[str], ends: Iterable[str]
) -> str:
    """Return a table of names and values, and what comes after it; at the end stand the commands."""
    found = list(rows)
    width = max(len(name) for name, _ in found)
    lines = [f"{name.ljust(width)}  {value}" for name, value in found]
    lines += ["", *(f"why: {reason}" for reason in reasons), *(f"warning: {warning}" for warning in warnings)]
    return "\n".join([*lines, "", *ends])


def workload_rows(workload: Workload) -> Iterator[tuple[str, str]]:
    """Yield the rows of the table about what is trained."""
    yield "training", f"{large(workload.words)} words, epochs: {workload.epochs}, {workload.mode}"
    if workload.vocabulary_range is not None:
        least, most = workload.vocabulary_range
        yield "vocabulary", f"about {workload.vocabulary:,}, from {least:,} to {most:,}"


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


def command_lines(plan: Plan, corpus: str | None = None) -> list[str]:
    """Return the commands that train as a plan says, in their order."""
    found = corpus or _CORPUS
    lines = []
    if plan.workload.encoded and not is_encoded(corpus):
        lines.append(shlex.join(["tfw2v", "encode", found, _FOLDER]))
        found = _FOLDER
    layout, cores = plan.layout, plan.machine.whole_cores
    train = train_command(plan.workload, found, layout.batch_words, _OUTPUT)
    if layout.design == HERE:
        return [*lines, f"{train} --workers {cores}"]
    if layout.host_cores is not None:
        flag = "" if cores == 1 else f" --cores {cores}"
        lines.append(f"cluster/local.sh{flag} {layout.servers} {layout.workers}")
        train += " --cluster tfw2v-cluster/cluster.json"
    else:
        lines.append("cluster/ssh.sh hosts.txt")
        train += " --cluster cluster.json --allow-network"
    train += "" if layout.design == DOWNPOUR else f" --distribution {layout.design}"
    return [*lines, train + (" --vectors-on-servers" if plan.vectors_on_servers else "")]


def host_lines(plan: Plan) -> list[str]:
    """Return the lines of hosts.txt, one for each task."""
    if plan.layout.design == HERE or plan.layout.host_cores is not None:
        return []
    servers = [f"ps      ps{number}:23450" for number in range(plan.layout.servers)]
    return servers + [f"worker  worker{number}:23450" for number in range(plan.layout.workers)]


def train_command(workload: Workload, corpus: str | None, batch_words: int | None, output: str) -> str:
    """Return the command that trains vectors of words on a corpus, without the cores to use."""
    flags = ["--sg"] if workload.skip_gram else []
    if workload.tree:
        flags += ["--hs", "1", "--negative", "0"]
    elif workload.negative != Workload.negative:
        flags += ["--negative", str(workload.negative)]
    for name in ("vector_size", "window", "epochs", "min_count", "sample"):
        value = getattr(workload, name)
        if value != getattr(Workload, name):
            flags += [flag_of(name), f"{value:g}" if isinstance(value, float) else str(value)]
    if batch_words is not None:
        flags += ["--batch-words", str(batch_words)]
    return shlex.join(["tfw2v", "train", corpus or _CORPUS, "--output", output, *flags])


def _rows(plan: Plan) -> Iterator[tuple[str, str]]:
    workload, layout, traffic, speed = plan.workload, plan.layout, plan.traffic, plan.speed
    cores, tables = f"{plan.machine.cores:g} cores", workload.table_bytes
    yield from workload_rows(workload)
    yield "model", f"{large(workload.vocabulary)} words of {workload.vector_size} numbers, {size(tables)}"
    if traffic is None:
        yield "design", f"one process on {cores}"
    else:
        where = "processes on one machine" if layout.host_cores is not None else f"machines of {cores}"
        yield "design", f"{layout.design}; workers: {layout.workers}, servers: {layout.servers}, a coordinator; {where}"
    for task, needed in plan.memory.items():
        yield f"memory of the {task}", size(needed)
    if traffic is not None:
        yield "bytes a word", f"{traffic.bytes_a_word:,.1f}, blocks of {traffic.block_words:,.0f} words"
        yield "words/s of a worker", large(speed.of_worker)
    yield "words/s", f"{large(speed.words_a_second)}, limited by {speed.bottleneck}"
    if len(speed.limits) > 1:
        yield "words/s if alone", "; ".join(f"{name} {large(words)}" for name, words in speed.limits.items())
    parts = f"{duration(plan.training_seconds)} to train, {duration(plan.counting_seconds)} to count words"
    yield "time", f"{duration(plan.seconds)}: {parts}"
    if plan.cost is not None:
        yield "cost", f"{plan.cost:,.2f}, machines: {layout.machines}"
    yield "checkpoint", f"{size(tables)}; one every ten minutes writes {size(tables / CHECKPOINT_SECONDS)}/s"
    yield "costs measured on", plan.profile.processor


def _numbers(plan: Plan) -> dict[str, Any]:
    traffic, speed, tables = plan.traffic, plan.speed, plan.workload.table_bytes
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
        "checkpoint_bytes": tables,
        "checkpoint_bytes_a_second": tables / CHECKPOINT_SECONDS,
        "fits": plan.fits,
        "vectors_on_servers": plan.vectors_on_servers,
        "profile": plan.profile.processor,
    }

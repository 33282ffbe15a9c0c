"""A plan → the command lines that start it."""

from __future__ import annotations

import shlex

from gensim_tfw2v.corpus.shards import is_encoded
from gensim_tfw2v.planning.machines import DOWNPOUR, HERE
from gensim_tfw2v.planning.plan import Plan
from gensim_tfw2v.planning.workload import Workload

_CORPUS, _FOLDER, _OUTPUT = "corpus.txt", "encoded-corpus", "vectors.kv"


def command_lines(plan: Plan, corpus: str | None = None) -> list[str]:
    """Return the commands that train as a plan says, in their order.

    Parameters
    ----------
    corpus : str, optional
        The corpus that was sampled.
    """
    found = corpus or _CORPUS
    lines = []
    if plan.workload.encoded and not is_encoded(corpus):
        lines.append(shlex.join(["tfw2v", "encode", found, _FOLDER]))
        found = _FOLDER
    if plan.layout.design == HERE:
        threads = f"--workers {plan.machine.whole_cores}"
        return [*lines, f"{_train(plan, found)} {threads}"]
    if plan.layout.host_cores is not None:
        lines.append(f"cluster/local.sh{_cores(plan)} {plan.layout.servers} {plan.layout.workers}")
        where = "--cluster tfw2v-cluster/cluster.json"
    else:
        lines.append("cluster/ssh.sh hosts.txt")
        where = "--cluster cluster.json --allow-network"
    return [*lines, f"{_train(plan, found)} {where}{_flags_of_design(plan)}"]


def host_lines(plan: Plan) -> list[str]:
    """Return the lines of hosts.txt, one for each task."""
    if plan.layout.design == HERE or plan.layout.host_cores is not None:
        return []
    servers = [f"ps      ps{number}:23450" for number in range(plan.layout.servers)]
    return servers + [f"worker  worker{number}:23450" for number in range(plan.layout.workers)]


def _train(plan: Plan, corpus: str) -> str:
    workload = plan.workload
    flags = ["--sg"] if workload.skip_gram else []
    if workload.tree:
        flags += ["--hs", "1", "--negative", "0"]
    elif workload.negative != Workload.negative:
        flags += ["--negative", str(workload.negative)]
    for name in ("vector_size", "window", "epochs", "min_count", "sample"):
        value = getattr(workload, name)
        if value != getattr(Workload, name):
            flags += [f"--{name.replace('_', '-')}", f"{value:g}" if isinstance(value, float) else str(value)]
    if plan.layout.batch_words is not None:
        flags += ["--batch-words", str(plan.layout.batch_words)]
    return shlex.join(["tfw2v", "train", corpus, "--output", _OUTPUT, *flags])


def _cores(plan: Plan) -> str:
    return "" if plan.machine.whole_cores == 1 else f" --cores {plan.machine.whole_cores}"


def _flags_of_design(plan: Plan) -> str:
    flags = "" if plan.layout.design == DOWNPOUR else f" --distribution {plan.layout.design}"
    return flags + (" --vectors-on-servers" if plan.vectors_on_servers else "")

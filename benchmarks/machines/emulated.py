"""The machines that a benchmark emulates, as its arguments ask and as this machine allows."""

from __future__ import annotations

import argparse
import functools
import re
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from measuring.jobs import Job, number_from
from report.reports import Report, say

from machines import networks
from machines.cluster import NodeCluster
from machines.networks import Loopback, Network, NetworkError
from machines.processes import COORDINATOR, NodeError, NodeProcesses
from machines.quotas import Quotas, find_quotas

MACHINE_SETTINGS = ("ps", "cpu", "worker_cores", "ps_cpu", "coordinator_cpu", "rate")
Cores = dict[str, float | None]  # of each machine by name; None: unlimited
Starter = Callable[[Network | Loopback, Quotas | None, Cores, Path], NodeProcesses]


class Machines:
    """The emulated machines: network namespaces, quotas and rates where the system allows them, else processes."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        plain = "--plain was given" if arguments.plain else None
        no_network = plain or networks.why_not(None)
        no_rate = no_network or (arguments.rate and networks.why_not(arguments.rate))
        quotas = plain or find_quotas()
        self._has_network = no_network is None
        self._rate = arguments.rate if no_rate is None else None
        self._quotas = quotas if isinstance(quotas, Quotas) else None
        limits = {"workers": arguments.cpu, "ps": arguments.ps_cpu, "coordinator": arguments.coordinator_cpu}
        limited = ", ".join(f"{name} {'unlimited' if cores is None else cores}" for name, cores in limits.items())
        self.emulated = {
            "machines": no_network or "a network namespace and an address for each task and the coordinator",
            "processor": f"cores for each of the {limited}" if self._quotas else quotas,
            "network": no_rate or (f"{self._rate} each way and machine" if self._rate else "unlimited"),
        }
        self.is_whole = self._has_network and self._quotas is not None and self._rate == arguments.rate

    def cores(self, workers: int, times: int = 1) -> Cores:
        """Return the cores of the servers, of so many workers that are `times` as large, and of the coordinator."""
        asked = self._arguments
        cores = {f"ps{number}": asked.ps_cpu for number in range(asked.ps)}
        cores |= {f"worker{number}": asked.cpu and times * asked.cpu for number in range(workers)}
        return cores | {COORDINATOR: asked.coordinator_cpu}

    def run(self, job: Job, folder: Path, cores: Cores, start: Starter | None = None) -> dict[str, Any]:
        """Return the results of a training on new machines, or its "error"; by default on a cluster of ours."""
        start = start or functools.partial(NodeCluster, worker_cores=self._arguments.worker_cores)
        began = time.monotonic()
        try:
            with ExitStack() as stack:
                network = Network(list(cores), self._rate) if self._has_network else Loopback(list(cores))
                stack.enter_context(closing(network))
                if self._quotas is not None:
                    stack.callback(self._quotas.clear)
                cluster = start(network, self._quotas, cores, folder)
                stack.callback(cluster.stop)
                cluster.start()
                record = cluster.train(job, getattr(self._arguments, "batch_words", None))
        except (NodeError, NetworkError) as error:
            record = {"error": str(error)}
        return record | {"seed": job.seed, "epochs": job.epochs, "seconds_in_all": time.monotonic() - began}

    def describe_in(self, report: Report) -> None:
        """Say in a report what is emulated, with a warning if not all of it is."""
        emulated = [f"{part}: {how}" for part, how in self.emulated.items()]
        report.notes = (*report.notes, *emulated)
        if not self.is_whole:
            warning = "NOT ALL OF IT IS EMULATED: " + "; ".join(emulated)
            say(f"\n*** {warning} ***\n")
            report.head["warnings"].append(warning)
        report.head["emulated"] = self.emulated

    def close(self) -> None:
        """Remove network namespaces and quotas that are left."""
        if self._has_network:
            networks.clear()
        if self._quotas is not None:
            self._quotas.clear()


def add_machine_arguments(
    parser: argparse.ArgumentParser,
    cpu: float,
    ps_cpu: float | None = None,
    coordinator_cpu: float | None = None,
    has_worker_cores: bool = True,
) -> None:
    """Add what the machines are like; the numbers are the defaults of their cores.

    `has_worker_cores` adds the argument that gives all workers the same number of cores.
    """
    add, count, cores = parser.add_argument, number_from(1), number_from(0.01, float)

    def shown(default: float | None) -> str:
        return "unlimited" if default is None else str(default)

    add("--ps", type=count, default=2, metavar="N", help="parameter servers (default 2)")
    add("--cpu", type=cores, default=cpu, metavar="X", help=f"cores of a worker (default {cpu})")
    if has_worker_cores:
        add("--worker-cores", type=count, default=1, metavar="N",
            help="cores of a worker that train a block side by side, within --cpu (default 1)")  # fmt: skip
    add("--ps-cpu", type=cores, default=ps_cpu, metavar="X",
        help=f"cores of a parameter server (default: {shown(ps_cpu)})")  # fmt: skip
    add("--coordinator-cpu", type=cores, default=coordinator_cpu, metavar="X",
        help=f"cores of the coordinator (default: {shown(coordinator_cpu)})")  # fmt: skip
    add(
        "--rate",
        type=rate_from,
        default="1gbit",
        help="of every machine's link, each way (default 1gbit; or unlimited)",
    )
    add("--plain", action="store_true", help="plain processes, as without root")


def rate_from(text: str) -> str | None:
    """Return the rate of a link that a text means, such as "1gbit"; None is unlimited."""
    if text == "unlimited":
        return None
    if not re.fullmatch(r"[1-9][0-9]*[kmg]?bit", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no rate like 100mbit or 1gbit, nor 'unlimited'")
    return text

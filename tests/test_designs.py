"""Names of designs are known to the registry and arguments alone; and no task of any design calls the coordinator."""

from __future__ import annotations

import ast
from pathlib import Path

import psutil
import pytest
from contract import SMALL, two_topics
from placements import shared_cluster

import gensim_tfw2v
from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.placement.designs import DESIGNS, SOME_TAKE

PACKAGE = Path(gensim_tfw2v.__file__).parent
MAY_NAME_DESIGNS = {"placement/designs.py", "model/arguments.py"}


@pytest.mark.parametrize("name", DESIGNS)
def test_a_design_takes_arguments_that_there_are(name: str) -> None:
    assert DESIGNS[name].arguments <= set(SOME_TAKE)


def test_the_names_of_designs_are_written_in_few_places() -> None:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        module = path.relative_to(PACKAGE).as_posix()
        own = {name for name in DESIGNS if module.startswith(f"placement/{name}/")}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            if isinstance(node, ast.Constant) and node.value in set(DESIGNS) - own:
                found.add(module)
    assert found <= MAY_NAME_DESIGNS


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_no_task_calls_the_coordinator(name: str) -> None:
    """Its port answers its own machine alone: on several machines, such a call would fail."""
    settings = SMALL | {"sg": 1, "negative": 5, "distribution": name, "epochs": 1}
    TFWord2Vec(two_topics(1500), **settings, cluster=shared_cluster())
    found = psutil.Process().net_connections("tcp")
    ports = {one.laddr.port for one in found if one.status == psutil.CONN_LISTEN}
    assert ports
    assert not [one for one in found if one.status == psutil.CONN_ESTABLISHED and one.laddr.port in ports]

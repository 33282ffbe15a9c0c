"""The registry of designs: their arguments, designs that are added, and where their names may be written."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
from support.contract import SMALL, two_topics
from support.placements import shared_cluster

import gensim_tfw2v
from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.arguments.argument import Argument
from gensim_tfw2v.cli.main import build_parser
from gensim_tfw2v.placement.design_arguments import DESIGN_ARGUMENTS
from gensim_tfw2v.placement.designs import DEFAULT_DESIGN, DESIGNS, register_design
from gensim_tfw2v.placement.request import LocalRequest, PlacementChoice

PACKAGE = Path(gensim_tfw2v.__file__).parent
# The planner has formulas for some designs.
MAY_NAME_DESIGNS = {"placement/designs.py", "placement/design_arguments.py", "planning/machines.py"}


@pytest.mark.parametrize("argument", DESIGN_ARGUMENTS, ids=lambda argument: argument.name)
def test_an_argument_names_the_designs_that_have_it(argument: Argument) -> None:
    assert set(argument.designs) == {name for name, design in DESIGNS.items() if argument.name in design.arguments}
    assert argument.designs
    assert not argument.default  # a value that is false counts as not given


def test_the_names_of_designs_are_written_in_few_places() -> None:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        module = path.relative_to(PACKAGE).as_posix()
        own = {name for name in DESIGNS if module.startswith(f"placement/{name}/")}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            if isinstance(node, ast.Constant) and node.value in set(DESIGNS) - own:
                found.add(module)
    assert found <= MAY_NAME_DESIGNS


@pytest.fixture
def solo_requests() -> Iterator[list[LocalRequest]]:
    """Register a seventh design, which trains as one process does; give the requests that it gets."""
    requests: list[LocalRequest] = []

    def choose_local(request: LocalRequest) -> PlacementChoice:
        requests.append(request)
        in_one_process = DESIGNS[DEFAULT_DESIGN].choose_local
        assert in_one_process is not None
        return in_one_process(request)

    remove = register_design(
        "solo",
        choose=DESIGNS[DEFAULT_DESIGN].choose,
        choose_local=choose_local,
        arguments=["round_words"],
        why_not=lambda arguments: "trains no CBOW" if not arguments["sg"] else None,
    )
    yield requests
    remove()


def test_a_registered_design_trains_with_its_arguments(solo_requests: list[LocalRequest]) -> None:
    settings = SMALL | {"sg": 1, "epochs": 1, "workers": 1}
    model = TFWord2Vec(two_topics(), **settings, distribution="solo", round_words=70)
    (request,) = solo_requests
    assert (request.options.distribution, request.options.of_design) == ("solo", {"round_words": 70})
    np.testing.assert_array_equal(model.wv.vectors, TFWord2Vec(two_topics(), **settings).wv.vectors)


def test_a_registered_design_is_a_choice_of_the_command_line(solo_requests: list[LocalRequest]) -> None:
    command = ["train", "corpus", "--output", "model", "--distribution", "solo", "--round-words", "70"]
    parsed = build_parser().parse_args(command)
    assert (parsed.distribution, parsed.round_words) == ("solo", 70)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sg": 0}, "distribution='solo' trains no CBOW"),
        ({"sg": 1, "backup_workers": 1}, "backup_workers=1 does not go with distribution='solo'"),
    ],
)
def test_a_registered_design_is_checked_as_others_are(
    settings: dict[str, int], message: str, solo_requests: list[LocalRequest]
) -> None:
    with pytest.raises(ValueError, match=message):
        TFWord2Vec(distribution="solo", **settings)


def test_a_design_that_is_removed_is_unknown_again() -> None:
    register_design("solo", choose=DESIGNS[DEFAULT_DESIGN].choose)()
    with pytest.raises(ValueError, match=f"distribution must be '{DEFAULT_DESIGN}' or .*, got 'solo'"):
        TFWord2Vec(distribution="solo")


@pytest.mark.parametrize(("name", "arguments"), [(DEFAULT_DESIGN, []), ("solo", ["rounds"])])
def test_a_design_needs_a_name_and_arguments_that_can_be_used(name: str, arguments: list[str]) -> None:
    before = dict(DESIGNS)
    with pytest.raises(ValueError, match=repr(arguments[0] if arguments else name)):
        register_design(name, choose=DESIGNS[DEFAULT_DESIGN].choose, arguments=arguments)
    assert before == DESIGNS


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

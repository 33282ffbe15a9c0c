"""One table holds the class's own arguments: signature, docstring, documentation and command line follow it."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from typing import Any

import pytest
from gensim.models import Word2Vec

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.arguments.argument import Argument
from gensim_tfw2v.arguments.texts import meaning_of
from gensim_tfw2v.cli.main import build_parser
from gensim_tfw2v.model.own_arguments import OWN_ARGUMENTS
from gensim_tfw2v.model.results import RESULTS, Result

ROOT = Path(__file__).parents[2]
# All but those that hold several of the others.
FLAT_ARGUMENTS = [argument for argument in OWN_ARGUMENTS if argument.name not in ("cache", "checkpoints")]


def shown(default: Any) -> str:
    """Return a default as the page shows it."""
    return "2**28" if default == 2**28 else f"{default:g}" if isinstance(default, float) else repr(default)


def table_in_markdown() -> str:
    """Return the own arguments as docs/reference/arguments.md has them: links in it begin in that folder."""
    rows = [f"| `{one.name}` | `{shown(one.default)}` | {meaning_of(one)} |" for one in OWN_ARGUMENTS]
    table = "\n".join(["| argument | default | meaning |", "|---|---|---|", *rows])
    return table.replace("``", "`").replace("](docs/", "](../")


def test_the_constructors_own_arguments_are_those_of_the_table() -> None:
    gensims = inspect.signature(Word2Vec.__init__).parameters
    ours = inspect.signature(TFWord2Vec.__init__).parameters
    own = {name: parameter.default for name, parameter in ours.items() if name not in gensims}
    assert own == {argument.name: argument.default for argument in OWN_ARGUMENTS}


def test_the_model_keeps_every_own_argument_as_an_attribute() -> None:
    model = TFWord2Vec()
    assert {argument.name: getattr(model, argument.name) for argument in OWN_ARGUMENTS} == {
        argument.name: argument.default for argument in OWN_ARGUMENTS
    }


def test_the_page_of_arguments_has_the_tables_rows() -> None:
    """To update it, print what `table_in_markdown` returns."""
    page = ROOT / "docs" / "reference" / "arguments.md"
    assert table_in_markdown() in page.read_text(encoding="utf8")


@pytest.mark.parametrize(
    ("given", "kept"),
    [("10min", 600.0), ("30s", 30.0), ("1.5 hours", 5400.0), (90, 90.0), ("5e6 words", "5e6 words")],
)
def test_the_time_between_checkpoints_may_have_a_unit(given: float | str, kept: float | str, tmp_path: Path) -> None:
    sentences = [["a", "b"]] * 5
    model = TFWord2Vec(sentences, min_count=1, vector_size=4, checkpoint_dir=tmp_path, checkpoint_every=given)
    assert model.checkpoint_every == kept
    flag = ["train", "corpus", "--output", "model", "--checkpoint-every", str(given)]
    assert build_parser().parse_args(flag).checkpoint_every == kept


@pytest.mark.parametrize("argument", OWN_ARGUMENTS, ids=lambda argument: argument.name)
def test_the_docstring_describes_every_own_argument(argument: Argument) -> None:
    described = " ".join((TFWord2Vec.__doc__ or "").split())
    first_sentence = argument.help.partition(". ")[0].partition("[")[0]
    assert f"{argument.name} : {argument.type} {first_sentence}" in described


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: result.name)
def test_the_docstring_describes_every_result(result: Result) -> None:
    described = " ".join((TFWord2Vec.__doc__ or "").split())
    assert f"{result.name} : {result.type} {result.help}" in described


@pytest.mark.parametrize("argument", FLAT_ARGUMENTS, ids=lambda argument: argument.name)
def test_every_own_argument_has_a_flag_with_help(argument: Argument) -> None:
    parsed = vars(build_parser().parse_args(["train", "corpus", "--output", "model"]))
    assert parsed[argument.name] == argument.default


@pytest.mark.parametrize(("name", "value"), [("batch_tokens", 64), ("update_bound", 5.0)])
def test_deprecated_arguments_warn_where_they_are_set_and_still_work(name: str, value: float) -> None:
    with pytest.warns(DeprecationWarning, match=f"{name} is deprecated: .*leave it out") as warned:
        model = TFWord2Vec(**{name: value})
    assert [warning.filename for warning in warned] == [__file__]
    assert getattr(model, name) == value


def test_defaults_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TFWord2Vec(batch_tokens=None)

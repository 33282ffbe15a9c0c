"""`tfw2v plan`: tables, JSON, samples of corpora, and errors."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.command_line import SENTENCES, error_of, run, write_corpus
from support.error_table import cases_under

from gensim_tfw2v import encode_corpus

SIZES = ["--words", "1e9", "--vocabulary", "1e5", "--cores", "8", "--memory", "64GB", "--profile", "avx2"]
REFUSED = cases_under("Plans that cannot be")


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with corpora and a damaged profile the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_corpus(tmp_path)
    (tmp_path / "blank.txt").write_text("\n \n")
    with gzip.open(tmp_path / "corpus.txt.gz", "wt") as file:
        file.write("\n".join(SENTENCES))
    (tmp_path / "cache" / "gensim_tfw2v").mkdir(parents=True)
    (tmp_path / "cache" / "gensim_tfw2v" / "costs.json").write_text("no JSON")
    return tmp_path


def planned(capsys: pytest.CaptureFixture[str], *arguments: Any) -> dict[str, Any]:
    assert run("plan", *arguments, "--json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("command", REFUSED)
def test_a_plan_that_cannot_be_is_one_line(scratch: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert run(*shlex.split(command)[1:]) == 2
    message = error_of(capsys)
    assert [fragment for fragment in REFUSED[command] if fragment not in message] == [], message


def test_a_table_has_memory_speed_time_reasons_and_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("plan", *SIZES, "--workers", 4, "--ps", 2, "--price-per-hour", 2, "--distribution", "downpour") == 0
    lines = capsys.readouterr().out.splitlines()
    for name in ("model", "design", "memory of the worker", "bytes a word", "words/s", "time", "cost", "checkpoint"):
        assert any(line.startswith(f"{name} ") for line in lines), name
    assert any(line.startswith("why: one machine") for line in lines)
    assert lines[-1].startswith("tfw2v train ")
    assert "--cluster cluster.json" in lines[-1]


def test_json_has_the_same_plan_beside_one_machine(capsys: pytest.CaptureFixture[str]) -> None:
    found = planned(capsys, *SIZES, "--workers", 4, "--ps", 2, "--network", "1Gbit", "--epochs", 3)
    assert (found["workers"], found["servers"], found["machines"]) == (4, 2, 7)
    assert found["memory"].keys() == {"worker", "server", "coordinator"}
    assert found["words_a_second"] <= min(found["limits"].values())
    assert found["one_machine"]["design"] == "one machine"
    assert found["seconds"] == pytest.approx(found["counting_seconds"] + found["training_seconds"])
    assert found["training_seconds"] > 3e9 / found["words_a_second"]
    assert found["cost"] is None


def test_one_machine_is_said_to_be_enough(capsys: pytest.CaptureFixture[str]) -> None:
    found = planned(capsys, *SIZES)
    assert found["design"] == "one machine"
    assert "one machine is enough" in found["reasons"][0]


def test_a_corpus_and_its_encoding_have_one_vocabulary(scratch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    encode_corpus(scratch / "corpus.txt", scratch / "encoded")
    settings = ["--min-count", 2, "--profile", "amx", "--mode", "sg-hs"]
    text, encoded = (planned(capsys, "--corpus", name, *settings) for name in ("corpus.txt", "encoded"))
    assert text["words"] == encoded["words"] == sum(len(sentence.split()) for sentence in SENTENCES)
    assert text["vocabulary"] == encoded["vocabulary"] == len(set(" ".join(SENTENCES).split()))
    assert text["commands"][-1].startswith("tfw2v train corpus.txt ")
    assert encoded["commands"] == [text["commands"][-1].replace("corpus.txt", "encoded")]


def test_a_part_of_a_corpus_gives_a_range_of_the_vocabulary(scratch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = planned(capsys, "--corpus", "corpus.txt", "--words", "1e6", "--min-count", 2, "--profile", "amx")
    least, most = found["vocabulary_range"]
    assert found["words"] == 10**6
    assert least <= found["vocabulary"] <= most
    assert least >= len(set(" ".join(SENTENCES).split()))


def test_all_tasks_may_share_one_machine(capsys: pytest.CaptureFixture[str]) -> None:
    found = planned(capsys, *SIZES, "--workers", 2, "--ps", 1, "--one-machine")
    assert found["machines"] == 1
    assert "the machine's cores" in found["limits"]
    assert found["commands"][-2:][0].startswith("cluster/local.sh ")


def test_planning_imports_neither_gensim_nor_tensorflow() -> None:
    code = (
        "import sys; from gensim_tfw2v.cli.main import main; "
        f"main({['plan', *SIZES]!r}); print(*{{name.split('.')[0] for name in sys.modules}})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"gensim", "tensorflow"} & set(done.stdout.splitlines()[-1].split())


def test_the_example_of_the_page_is_what_its_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(__file__).parents[2] / "docs" / "how-it-works" / "planning.md"
    example = page.read_text(encoding="utf8").partition("\n## An example")[2]
    command, whole = re.findall(r"^```(?:text)?\n(.+?)\n```$", example, re.MULTILINE | re.DOTALL)
    arguments = shlex.split(command)[1:]
    assert run(*arguments) == 0
    assert capsys.readouterr().out.partition("\n\n")[0] == whole

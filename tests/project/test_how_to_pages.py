"""How-to pages show what works: their Python is run, and commands are run or read by the commands' parsers."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from gensim.test.utils import datapath
from support.child_process import environment, wait_until
from support.free_ports import free_ports
from support.pages import blocks, without_blocks

from gensim_tfw2v.cli import main as cli
from gensim_tfw2v.cluster.specification import addresses_of, read_file

ROOT = Path(__file__).parents[2]
PAGES = {page.name: page for page in sorted((ROOT / "docs" / "how-to").glob("*.md"))}
EXPECTED = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)
# Pages whose Python starts clusters, or trains for long: it runs in a process of its own.
LONG_PAGES = ["choose-a-distribution.md", "deploy.md", "machines.md", "other-libraries.md", "search-settings.md",
              "tensorboard.md", "tune.md"]  # fmt: skip
# Pages without Python that could run here.
WITHOUT_PYTHON = {"changing-workers.md", "encrypt.md", "slurm.md", "kubernetes.md", "docker.md", "ray.md", "gpu.md"}
SHORT_PAGES = sorted(PAGES.keys() - LONG_PAGES - WITHOUT_PYTHON)
# Commands of other programs, and scripts that need other machines.
OTHERS = {"lscpu", "pip", "scp", "sha256sum", "unshare", "cluster/ssh.sh", "cluster/tunnel.sh", "scripts/check-gpu"}
OTHERS |= {"docker", "export", "kubectl", "ray", "sbatch", "scancel", "scontrol", "squeue", "srun", "tail"}
ENDLESS = {"server", "tensorboard"}
LONG = {"tune"}  # it trains many models
OF_TASKS = {"cluster"}  # it asks tasks that do not run
ARTICLES = 100  # of news: 19,000 words


def texts(page: str, language: str) -> list[str]:
    """Return the texts of a page's blocks of a language; those without one are commands and files."""
    return [block.text for block in blocks(PAGES[page]) if block.language == language]


def commands(page: str) -> list[list[str]]:
    """Return the commands in a page."""
    found = [shlex.split(command) for block in blocks(PAGES[page]) if not block.language for command in block.commands]
    return [words for words in found if words[0] not in ("ps", "worker")]


def hosts_in(page: str) -> str:
    """Return the first list of hosts in a page."""
    return next(block for block in texts(page, "") if re.match("ps +", block))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the corpora that pages name in a folder, and work there; return the folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TF_CONFIG", raising=False)
    articles = Path(datapath("lee_background.cor")).read_text(encoding="utf8").splitlines()[:ARTICLES]
    for name in ("corpus.txt", "sessions.txt", "walks.txt"):
        Path(name).write_text("\n".join(articles) + "\n", encoding="utf8")
    Path("weights.txt").write_text("0.5\n" * ARTICLES)
    if find_spec("pyarrow") is not None:
        write_table(articles)
    return tmp_path


def write_table(articles: list[str]) -> None:
    """Write the table that pages name."""
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table({"title": [article.split(".")[0] for article in articles], "text": articles})
    pyarrow.parquet.write_table(table, "reviews.parquet")


def skip_without_pyarrow(page: str) -> None:
    """Skip the test of a page that reads tables where nothing can read them."""
    if page == "tables.md":
        pytest.importorskip("pyarrow", reason="needs pyarrow, which the extra `test` installs")


def check_printed(program: str, printed: str) -> None:
    """Check that a program has printed what its comments say."""
    assert [line for line in printed.splitlines() if line] == EXPECTED.findall(program)


@pytest.mark.parametrize("page", SHORT_PAGES)
def test_the_python_of_a_page_runs_in_order(page: str, folder: Path) -> None:
    skip_without_pyarrow(page)
    program = "\n".join(texts(page, "python"))
    assert program
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(program, page, "exec"), {"__name__": "__main__"})
    check_printed(program, printed.getvalue())


@pytest.mark.slow
@pytest.mark.parametrize("page", LONG_PAGES)
def test_the_python_of_a_page_that_takes_longer_runs_in_order(page: str, folder: Path) -> None:
    program = "\n".join(texts(page, "python"))
    assert program
    (folder / "page.py").write_text(program, encoding="utf8")
    done = subprocess.run([sys.executable, "page.py"], env=environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    check_printed(program, done.stdout)


@pytest.mark.parametrize("page", [page for page in PAGES if any(words[0] == "tfw2v" for words in commands(page))])
def test_the_commands_of_a_page_run_in_order(page: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    skip_without_pyarrow(page)
    if page == "merge.md":
        make_models()
    for words in commands(page):
        if words[0] != "tfw2v":
            continue
        needs_others = "--cluster" in words or "--device" in words  # tasks, or a GPU
        if words[1] in ENDLESS | LONG | OF_TASKS or needs_others or not has_packages(words):
            cli.parse_arguments(words[1:])
        else:
            assert cli.main(words[1:]) == 0, capsys.readouterr().err


def has_packages(words: list[str]) -> bool:
    """Return whether what a command needs is installed: faiss, for an index."""
    has_index = words[1] == "index" or "--index" in words
    return not has_index or find_spec("faiss") is not None


def make_models() -> None:
    """Write the models that the page on merging names."""
    for name in ("first.kv", "second.bin", "third.model"):
        assert cli.main(["train", "corpus.txt", "--output", name, "--vector-size", "8", "--epochs", "1"]) == 0


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_only_programs_that_are_known(page: str) -> None:
    for words in commands(page):
        if words[0].startswith("cluster/"):
            assert (ROOT / words[0]).is_file()
        elif words[0] == "python":
            assert (ROOT / words[1]).is_file()
        else:
            assert words[0] in {"tfw2v", *OTHERS}


@pytest.mark.parametrize("page", PAGES)
def test_commands_within_the_text_of_a_page_have_flags_that_exist(page: str) -> None:
    text = " ".join(without_blocks(PAGES[page]).split())
    parsers = {name: parser.format_help() for name, parser in subparsers().items()}
    for command, rest in re.findall(r"`(?:TFW2V\w+=\S+ )?tfw2v (\w+)([^`]*)`", text):
        assert [flag for flag in re.findall(r"--[\w-]+", rest) if f" {flag} " not in parsers[command]] == []


def subparsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command by its name."""
    actions = cli.build_parser()._actions
    return dict(next(action.choices for action in actions if isinstance(action, argparse._SubParsersAction)))


@pytest.mark.parametrize("page", ["deploy.md", "encrypt.md", "machines.md"])
def test_a_list_of_hosts_is_read_by_the_scripts(page: str, folder: Path) -> None:
    (folder / "hosts.txt").write_text(hosts_in(page))
    script = f'source {ROOT / "cluster" / "common.sh"} run; read_hosts hosts.txt; echo "$servers ${{hosts[*]}}"'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    servers, *hosts = done.stdout.split()
    assert int(servers) >= 1
    assert hosts == re.findall(r"node\d:\d+", hosts_in(page))


def test_the_addresses_and_the_variable_for_clusters_are_understood(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, variable = texts("deploy.md", "json")
    (folder / "cluster.json").write_text(file)
    monkeypatch.setenv("TF_CONFIG", variable)
    assert read_file(folder / "cluster.json") == addresses_of("env") == json.loads(file)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no program openssl")
def test_the_tunnel_has_the_folders_that_the_page_copies_and_runs(folder: Path) -> None:
    (folder / "hosts.txt").write_text(hosts_in("encrypt.md"))
    scripted = [words[1:] for words in commands("encrypt.md") if words[0] == "cluster/tunnel.sh"]
    made, *run = scripted
    subprocess.run(["bash", str(ROOT / "cluster" / "tunnel.sh"), *made], capture_output=True, check=True)
    copied = next(words[-2] for words in commands("encrypt.md") if words[0] == "scp")
    assert (folder / copied / "cluster.json").is_file()
    assert [words for words, _ in run] == ["run", "run"]
    assert {Path(name).name for _, name in run} == {Path(copied).name, "coordinator"}
    for words in commands("encrypt.md"):
        if "--cluster" in words:
            assert (folder / words[words.index("--cluster") + 1]).is_file()


@pytest.mark.slow
@pytest.mark.parametrize("page", ["deploy.md", "machines.md"])
def test_a_cluster_of_the_script_trains_by_the_commands_of_the_page(page: str, folder: Path) -> None:
    script = next(words for words in commands(page) if words[0] == "cluster/local.sh")
    variables = environment() | {"TFW2V_PYTHON": sys.executable, "TFW2V_PORT": str(free_ports(3))}
    with (folder / "script.log").open("wb") as log:
        command = ["bash", str(ROOT / script[0]), *script[1:]]
        process = subprocess.Popen(command, env=variables, stdout=log, stderr=log)
    try:
        wait_until(lambda: "ready" in (folder / "script.log").read_text() or process.poll() is not None)
        assert process.poll() is None, (folder / "script.log").read_text()
        for words in commands("deploy.md"):
            if "tfw2v-cluster/cluster.json" in words:
                program = [sys.executable, "-m", "gensim_tfw2v", *words[1:]]
                done = subprocess.run(program, env=variables, capture_output=True, text=True, timeout=120)
                assert done.returncode == 0, done.stderr
        assert Path("vectors.kv").is_file()
    finally:
        process.terminate()
        process.wait()

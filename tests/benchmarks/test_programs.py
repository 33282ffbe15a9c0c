"""Programs in C and C++ that benchmarks run: how they are built, called and read."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import compare
import pytest
from measuring import programs, systems
from measuring.jobs import Job
from support.benchmark_commands import commit_in, corpus_in
from support.compiler import compile_c, needs_a_compiler

PROGRAM = """#!{python}
import pathlib, sys
with open(pathlib.Path(__file__).with_suffix(".log"), "a") as log:
    print(*sys.argv[1:], file=log)
if "-output" in sys.argv:
    output = sys.argv[sys.argv.index("-output") + 1]
    pathlib.Path(output{ending}).write_text("2 3\\nhuman 1 0 0\\nsystem 0 1 0\\n")
"""
HALF_OF_84 = """
#include "half.h"
int main(void) { return half(84); }
"""


def half_in(folder: Path) -> programs.Source:
    """Return the source of a program whose status is 42, which needs a header and a shared library."""
    (folder / "headers").mkdir()
    (folder / "libraries").mkdir()
    (folder / "headers" / "half.h").write_text("int half(int number);")
    (folder / "half.c").write_text("int half(int number) { return number / 2; }")
    (folder / "program.c").write_text(HALF_OF_84)
    library = folder / "libraries" / "libhalf.so.1"
    assert compile_c("-shared", "-fPIC", "-Wl,-soname,libhalf.so.1", folder / "half.c", "-o", library).returncode == 0
    commit = commit_in(folder)
    (folder / "program.c").write_text("a later commit, which cannot be compiled")
    commit_in(folder)
    return programs.Source(
        "half/program.c",
        ("cc",),
        repository=str(folder),
        commit=commit,
        headers="half/headers",
        libraries="half/libraries",
        linked=("libhalf.so.*",),
    )


def test_compare_leaves_out_a_program_that_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    arguments = compare._parser().parse_args([str(corpus_in(tmp_path)), "--systems", "gensim", "word2vec"])
    jobs, _ = compare.plan(arguments)
    assert {job.system for job in jobs} == {"gensim"}
    assert "leaving out word2vec" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "ending", "flags"),
    [
        ("word2vec", "", ("-iter 7 ", "-size 3 ")),
        ("fasttext", " + '.vec'", ("-epoch 7 ", "-dim 3 ")),
        ("pWord2Vec", "", ("-iter 7 ", "-size 3 ", "-batch-size 11 ")),
    ],
)
def test_a_program_is_run_with_the_jobs_settings_and_its_vectors_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, ending: str, flags: tuple[str, ...]
) -> None:
    program = tmp_path / name
    program.write_text(PROGRAM.format(python=sys.executable, ending=ending))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    outcome = systems.SYSTEMS[name.lower()].run(Job(name.lower(), str(corpus_in(tmp_path)), vector_size=3, epochs=7))
    command = f"{program.with_suffix('.log').read_text().splitlines()[-1]} "
    assert outcome.keyed_vectors.index_to_key == ["human", "system"]
    assert outcome.raw_words == 1500
    assert all(flag in command for flag in flags)


@pytest.mark.parametrize("name", ["word2vec", "fasttext", "pword2vec"])
def test_a_program_can_keep_its_own_learning_rate_and_subsampling(name: str, tmp_path: Path) -> None:
    program, job = systems.SYSTEMS[name], Job(name, "corpus.txt", window=4)
    assert isinstance(program, systems.Program)
    given, own = (program.training(tmp_path / "vectors.vec", one) for one in (job, replace(job, own_rates=True)))
    rates = {"-t", "-lr"} if name == "fasttext" else {"-sample", "-alpha"}
    assert rates <= set(given)
    assert not rates & set(own)
    assert set(given) - set(own) == rates | {str(job.sample), str(job.alpha)}


def test_fasttext_trains_ngrams_where_they_are_asked_for(tmp_path: Path) -> None:
    program, job = systems.SYSTEMS["fasttext"], Job("fasttext", "corpus.txt")
    assert isinstance(program, systems.Program)
    plain, with_ngrams = (program.training(tmp_path / "vectors.vec", replace(job, subwords=each)) for each in (0, 1))
    assert plain[plain.index("-maxn") + 1] == "0"
    assert "-maxn" not in with_ngrams  # its own default is gensim's


def test_a_mode_that_a_program_does_not_train_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "pWord2Vec"
    program.touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    flags = ["--systems", "gensim", "pword2vec", "--modes", "sg-neg", "cbow-neg"]
    jobs, _ = compare.plan(compare._parser().parse_args([str(corpus_in(tmp_path)), *flags]))
    assert {job.mode for job in jobs if job.system == "pword2vec"} == {"sg-neg"}
    assert {job.mode for job in jobs if job.system == "gensim"} == {"sg-neg", "cbow-neg"}


@needs_a_compiler
def test_a_program_is_built_from_a_commit_with_its_headers_and_libraries(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    source = half_in(tmp_path / "source")
    programs.build("half", tmp_path / "built", source)
    assert sorted(path.name for path in (tmp_path / "built").iterdir()) == ["half", "half-libraries"]
    assert subprocess.run([tmp_path / "built" / "half"]).returncode == 42


@needs_a_compiler
def test_a_program_that_is_not_compiled_leaves_no_libraries(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    source = replace(half_in(tmp_path / "source"), commit="HEAD")
    with pytest.raises(programs.BuildError, match=r"cc .* ended with status 1"):
        programs.build("half", tmp_path / "built", source)
    assert not list((tmp_path / "built").iterdir())


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (programs.Source("*.c", ("cc",), repository="no such folder", commit="1"), "git clone --quiet ended with"),
        (programs.Source("*.c", ("cc",)), r"nothing that was downloaded has the name \*\.c"),
    ],
    ids=["no repository", "no files"],
)
def test_what_cannot_be_built_says_why(tmp_path: Path, source: programs.Source, message: str) -> None:
    with pytest.raises(programs.BuildError, match=message):
        programs.build("half", tmp_path, source)
    assert not list(tmp_path.iterdir())


def test_programs_that_are_there_are_not_built_and_others_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.environ["PATH"])
    (tmp_path / "word2vec").touch(0o755)
    built: list[str] = []
    monkeypatch.setattr(systems, "build", lambda name, *_: built.append(name))
    systems.find_or_build(["gensim", "word2vec", "pword2vec"], tmp_path, lambda _: None)
    assert built == ["pWord2Vec"]
    assert os.environ["PATH"].split(os.pathsep)[0] == str(tmp_path)


def test_a_program_that_cannot_be_built_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # without git
    monkeypatch.setitem(systems.SOURCES, "pWord2Vec", programs.Source("*.c", ("cc",), repository="a", commit="1"))
    said: list[str] = []
    systems.find_or_build(["pword2vec"], tmp_path / "built", said.append)
    assert said[1:] == ["pWord2Vec cannot be built: there is no program 'git' on the PATH"]

"""`tfw2v train --logdir`, `tfw2v projector` and `tfw2v tensorboard`."""

from __future__ import annotations

import re
import signal
import socket
import urllib.request
from pathlib import Path

import pytest
from gensim.models import Word2Vec
from support.command_line import error_of, run, train, write_corpus
from support.event_files import text_of, values_of
from support.tensorboard_server import printed_file, serving

from gensim_tfw2v.cli import main as cli
from gensim_tfw2v.cli.main import parse_arguments
from gensim_tfw2v.cli.train_arguments import settings_of


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path)


@pytest.fixture
def model(tmp_path: Path, corpus: Path) -> Path:
    """A gensim model of the small corpus."""
    path = tmp_path / "model"
    Word2Vec(corpus_file=str(corpus), vector_size=4, min_count=1).save(str(path))
    return path


def test_training_is_logged_with_the_words_asked_for(corpus: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert train(corpus, tmp_path / "model", "--logdir", log, "--log-probe", "cat", "--log-probe", "dog") == 0
    assert len(values_of(log, "loss/epoch")) == 1
    assert [line.split()[1] for line in text_of(log, "neighbours")[-1].splitlines()[2:]] == ["cat", "dog"]


def test_every_flag_about_the_log_reaches_it() -> None:
    flags = ["--log-pairs=p", "--log-analogies=a", "--log-probe=w", "--log-projector=none", "--log-trace=2"]
    log = settings_of(parse_arguments(["train", "corpus", "--output", "model", "--logdir", "log", *flags]))["logdir"]
    assert (log.logdir, log.pairs, log.analogies) == ("log", ["p"], ["a"])
    assert (log.probes, log.projector, log.trace_seconds) == (["w"], "none", 2)


def test_saying_what_to_log_but_not_where_is_refused(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(corpus, tmp_path / "model", "--log-probe", "cat") == 2
    error = error_of(capsys)
    assert "--log-probe" in error
    assert "--logdir" in error


def test_a_logdir_that_cannot_be_written_is_refused_before_training(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(corpus, tmp_path / "model", "--logdir", corpus) == 2
    assert str(corpus) in error_of(capsys)
    assert not (tmp_path / "model").exists()


def test_a_model_is_written_for_the_projector(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("projector", model, "--logdir", tmp_path / "log", "--top", 3, "--output-vectors") == 0
    assert "3 words" in capsys.readouterr().out
    lines = (tmp_path / "log" / "projector" / "vectors-metadata.tsv").read_text().splitlines()
    assert len(lines) == 4
    assert (tmp_path / "log" / "projector" / "vectors-output.bytes").stat().st_size == 3 * 4 * 4


def test_the_words_of_a_file_are_written(model: Path, tmp_path: Path) -> None:
    (tmp_path / "words").write_text("dog\ncat\n")
    assert run("projector", model, "--logdir", tmp_path / "log", "--words", tmp_path / "words") == 0
    lines = (tmp_path / "log" / "projector" / "vectors-metadata.tsv").read_text().splitlines()
    assert [line.split("\t")[0] for line in lines] == ["word", "dog", "cat"]


def test_a_word_without_a_vector_is_named(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "words").write_text("dog\nwolf\n")
    assert run("projector", model, "--logdir", tmp_path / "log", "--words", tmp_path / "words") == 2
    assert "'wolf'" in error_of(capsys)


def test_vectors_without_outputs_have_none_to_show(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Word2Vec.load(str(model)).wv.save(str(tmp_path / "model.kv"))
    assert run("projector", tmp_path / "model.kv", "--logdir", tmp_path / "log", "--output-vectors") == 2
    assert "no output vectors" in error_of(capsys)


def test_tensorboard_of_a_folder_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("tensorboard", "no/such/folder") == 2
    assert "no/such/folder" in error_of(capsys)


def test_tensorboard_serves_on_loopback_until_interrupted_and_prints_its_address_alone(
    corpus: Path, tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    assert train(corpus, tmp_path / "model", "--logdir", logs, "--quiet") == 0
    with serving(logs) as (address, process):
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=60) as page:
            assert b"TensorBoard" in page.read()
        for other in ("data/plugins_listing", "data/plugin/projector/runs"):
            urllib.request.urlopen(address + other, timeout=60).close()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) in (0, 130)
    first, second = printed_file(logs).read_text().splitlines()
    assert first == f"starting TensorBoard on '{logs}'"
    assert re.fullmatch(rf"TensorBoard \S+ at {address} \(Press CTRL\+C to quit\)", second)


def test_a_port_that_is_taken_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert run("tensorboard", tmp_path, "--port", port) == 1
    assert f"127.0.0.1:{port}" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
def test_files_without_output_vectors_are_named_and_not_unpickled(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], binary: bool
) -> None:
    Word2Vec.load(str(model)).wv.save_word2vec_format(str(tmp_path / "vectors"), binary=binary)
    assert run("projector", tmp_path / "vectors", "--logdir", tmp_path / "log", "--output-vectors") == 2
    error = error_of(capsys)
    assert str(tmp_path / "vectors") in error
    assert "gensim model" in error


@pytest.mark.parametrize("flag", ["--log-pairs", "--log-analogies"])
def test_a_missing_file_to_score_on_is_refused_before_the_corpus_is_read(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, flag: str
) -> None:
    monkeypatch.setattr(cli.train, "_train", lambda arguments: pytest.fail("read the corpus"))
    assert train(corpus, tmp_path / "model", "--logdir", tmp_path / "log", flag, tmp_path / "nope") == 2
    error = error_of(capsys)
    assert flag in error
    assert str(tmp_path / "nope") in error
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize("flag", ["--log-pairs", "--log-analogies"])
@pytest.mark.parametrize("content", [b"", b"cat sat\n", b"\xff\xfe\n"], ids=["empty", "other lines", "no text"])
def test_a_file_to_score_on_that_has_no_valid_line_is_refused_before_the_corpus_is_read(
    corpus: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    flag: str,
    content: bytes,
) -> None:
    monkeypatch.setattr(cli.train, "_train", lambda arguments: pytest.fail("read the corpus"))
    (tmp_path / "questions").write_bytes(content)
    assert train(corpus, tmp_path / "model", "--logdir", tmp_path / "log", flag, tmp_path / "questions") == 2
    error = error_of(capsys)
    assert flag in error
    assert str(tmp_path / "questions") in error
    assert not (tmp_path / "log").exists()


def test_an_unknown_word_to_probe_is_a_wrong_argument(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--logdir", tmp_path / "log", "--log-probe", "cat", "--log-probe", "zzzz", "--quiet"]
    assert train(corpus, tmp_path / "model", *flags) == 2
    error = error_of(capsys)
    assert "--log-probe" in error
    assert "'zzzz'" in error

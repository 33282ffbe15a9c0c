"""`tfw2v train` with checkpoints: killed and started again, finished, and refused where it cannot resume."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors
from support.child_process import environment
from support.command_line import error_of, run
from support.contract import two_topics

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.checkpoints.folder import CheckpointFolder
from gensim_tfw2v.cli import main as cli
from gensim_tfw2v.model.checkpointing import Checkpointer

SETTINGS = ["--min-count", "1", "--vector-size", "8", "--workers", "1", "--batch-words", "2000", "--quiet"]

# Runs a command line, and kills it when 18 of 36 blocks are trained and a checkpoint is there.
KILLED = """
import os, signal, sys
from gensim_tfw2v.cli.main import main
from gensim_tfw2v.model.checkpointing import Checkpointer

after_chunk, chunks = Checkpointer.after_chunk, iter(range(100))

def after_chunk_or_never(self, *rest):
    after_chunk(self, *rest)
    if next(chunks) == 17:
        self._writing.join()
        os.kill(os.getpid(), signal.SIGKILL)

Checkpointer.after_chunk = after_chunk_or_never
main(sys.argv[1:])
"""


def command(corpus: Path, output: Path, checkpoints: Path, *flags: Any) -> list[str]:
    """Return a command line that trains with checkpoints."""
    files = ["train", corpus, "--output", output, "--checkpoint-dir", checkpoints]
    return [str(part) for part in (*files, *SETTINGS, "--checkpoint-every", "8000 words", *flags)]


def write_corpus(folder: Path) -> Path:
    """Write a corpus of twelve blocks of 2,000 words, and return its path."""
    path = folder / "corpus.txt"
    path.write_text("".join(" ".join(sentence) + "\n" for sentence in two_topics(2000)))
    return path


def vectors_in(path: Path) -> np.ndarray:
    """Return the vectors of a file of keyed vectors."""
    vectors: np.ndarray = KeyedVectors.load(str(path)).vectors
    return vectors


def test_a_killed_command_goes_on_and_a_finished_one_writes_its_model_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, output, folder = write_corpus(tmp_path), tmp_path / "resumed.kv", CheckpointFolder(tmp_path / "new")
    arguments = command(corpus, output, folder.path, "--epochs", "3", "--resume")
    killed = subprocess.run([sys.executable, "-c", KILLED, *arguments], env=environment(), timeout=120)
    assert killed.returncode == -signal.SIGKILL
    assert folder.checkpoints()
    assert not output.exists()

    arguments.remove("--quiet")
    assert run(*arguments) == 0
    resumed = capsys.readouterr().out
    assert "vocabulary  40 words, from the checkpoint" in resumed
    assert "trained on  72,000 words" in resumed
    assert " words since checkpoint-" in resumed
    assert run("train", corpus, "--output", tmp_path / "whole.kv", *SETTINGS, "--epochs", "3") == 0
    np.testing.assert_array_equal(vectors_in(output), vectors_in(tmp_path / "whole.kv"))

    monkeypatch.setattr(TFWord2Vec, "train", lambda *_, **__: pytest.fail("trained"))
    written = output.stat().st_mtime_ns
    assert run(*arguments) == 0
    assert "3 epochs, before this command" in capsys.readouterr().out
    assert output.stat().st_mtime_ns > written
    np.testing.assert_array_equal(vectors_in(output), vectors_in(tmp_path / "whole.kv"))


@pytest.mark.parametrize("tables", [[], ["--tables-dir", "."]], ids=["in memory", "in files"])
def test_a_finished_command_without_a_number_of_epochs_writes_its_model_again(
    tmp_path: Path, tables: list[str]
) -> None:
    corpus, output = write_corpus(tmp_path), tmp_path / "model.kv"
    arguments = command(corpus, output, tmp_path / "checkpoints", *tables)
    assert cli.main(arguments) == 0
    trained = vectors_in(output)
    output.unlink()
    assert cli.main([*arguments, "--resume", "--force"]) == 0
    np.testing.assert_array_equal(vectors_in(output), trained)


def test_a_training_that_is_told_to_end_writes_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Schedulers and container engines send SIGTERM."""
    after_chunk, chunks = Checkpointer.after_chunk, iter(range(100))

    def end(checkpointer: Checkpointer, *rest: Any) -> None:
        after_chunk(checkpointer, *rest)
        if next(chunks) == 4:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.1)

    flags = ["--epochs", "3", "--checkpoint-every", "1e9 words"]  # so that none is due before
    arguments = command(write_corpus(tmp_path), tmp_path / "model", tmp_path / "checkpoints", *flags)
    with monkeypatch.context() as ending:
        ending.setattr(Checkpointer, "after_chunk", end)
        assert run(*arguments) == 130
    assert len(list((tmp_path / "checkpoints").glob("checkpoint-*"))) == 1
    assert run(*arguments, "--resume") == 0


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a corpus and the checkpoints of a command that was interrupted in its second epoch."""
    folder = tmp_path_factory.mktemp("unfinished")
    after_chunk = Checkpointer.after_chunk
    chunks = iter(range(100))
    with pytest.MonkeyPatch.context() as monkeypatch:

        def interrupt(checkpointer: Checkpointer, *rest: Any) -> None:
            after_chunk(checkpointer, *rest)
            if next(chunks) == 18:
                raise KeyboardInterrupt

        monkeypatch.setattr(Checkpointer, "after_chunk", interrupt)
        write_corpus(folder)
        assert run(*command(folder / "corpus.txt", folder / "model", folder / "checkpoints", "--epochs", "3")) == 130
    return folder


@pytest.fixture
def folder(unfinished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of that folder, whose corpus nobody counts again."""
    monkeypatch.setattr(TFWord2Vec, "build_vocab", lambda *_, **__: pytest.fail("counted the words"))
    return shutil.copytree(unfinished, tmp_path / "copy")


def repeat(folder: Path, *flags: Any) -> int:
    """Run the command again, with further flags."""
    return run(*command(folder / "corpus.txt", folder / "model", folder / "checkpoints", "--epochs", "3", *flags))


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "not finished; resume it (resume=True, on the command line --resume)"),
        (["--resume", "--window", "4"], "window is 4, and the training in "),
        (["--resume", "--alpha", "0.05"], "alpha is 0.05, and the training in "),
        (["--resume", "--min-count", "30"], "min_count is 30, and the training in "),
        (["--resume", "--epochs", "2"], "epochs is 2, and the training in "),
        (["--resume", "--log-probe", "zebra", "--logdir", "log"], "--log-probe 'zebra' is not a word"),
    ],
)
def test_another_training_than_the_one_that_was_interrupted_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], scratch: Path, flags: list[str], message: str
) -> None:
    assert repeat(folder, *flags) == cli.USAGE
    assert message in error_of(capsys)
    assert not (folder / "model").exists()


def test_another_corpus_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = folder / "corpus.txt"
    corpus.write_text(corpus.read_text().replace("cat1 ", "cat2 ", 1))
    assert repeat(folder, "--resume") == cli.USAGE
    error = error_of(capsys)
    assert f"corpus '{corpus}': the first " in error
    assert "are others now" in error


def test_a_folder_in_use_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with CheckpointFolder(folder / "checkpoints").held():
        assert repeat(folder, "--resume") == cli.USAGE
    assert "checkpoints' is in use by another training" in error_of(capsys)


def test_a_damaged_checkpoint_is_named_with_the_one_before_it_which_can_be_given(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, newest = CheckpointFolder(folder / "checkpoints").checkpoints()[-2:]
    (newest / "inputs.array").write_bytes(b"")
    assert repeat(folder, "--resume") == cli.FAILURE
    assert f"resume from {before} instead" in error_of(capsys)
    assert repeat(folder, "--resume", "--checkpoint-dir", before) == 0
    assert (folder / "model").exists()
    assert CheckpointFolder(folder / "checkpoints").checkpoints()[-1].name > newest.name


def test_more_epochs_and_other_workers_are_taken(folder: Path) -> None:
    assert repeat(folder, "--resume", "--epochs", "4", "--workers", "2") == 0
    model = TFWord2Vec.load(str(folder / "model"))
    assert (model.epochs, len(model.epoch_losses), model.workers) == (4, 4, 2)


def test_an_output_of_another_command_is_not_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "precious").write_text("precious")
    assert repeat(folder, "--resume", "--output", folder / "precious") == cli.USAGE
    assert "--force" in error_of(capsys)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--resume"], "--resume needs the --checkpoint-dir"),
        (["--checkpoint-dir", "checkpoints", "--checkpoint-every", "0"], "--checkpoint-every: '0' is not a number of"),
        (["--checkpoint-dir", "checkpoints", "--checkpoint-every", "5e6 pages"], "'5e6 pages' is not a number of"),
        (["--checkpoint-dir", "checkpoints", "--keep-checkpoints", "0"], "--keep-checkpoints: '0' is not a whole"),
        (["--checkpoint-dir", "corpus.txt"], "--checkpoint-dir 'corpus.txt': "),
        (["--checkpoint-dir", "checkpoint-000009"], "has the name of a checkpoint"),
        (["--checkpoint-dir", "checkpoint-000009", "--resume"], "has the name of a checkpoint"),
        (["--checkpoint-dir", "/proc/self/checkpoints"], "--checkpoint-dir '/proc/self/checkpoints': "),
    ],
)
def test_flags_that_cannot_be_used_are_named(
    scratch: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    flags: list[str],
    message: str,
) -> None:
    monkeypatch.setattr(TFWord2Vec, "build_vocab", lambda *_, **__: pytest.fail("counted the words"))
    assert run("train", write_corpus(scratch), "--output", "model", "--quiet", *flags) == cli.USAGE
    assert message in error_of(capsys)
    assert sorted(path.name for path in scratch.iterdir()) == ["corpus.txt"]


def test_checkpoints_among_the_files_of_the_corpus_are_refused(
    scratch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (scratch / "texts").mkdir()
    write_corpus(scratch / "texts")
    assert run("train", "texts", "--output", "model", "--checkpoint-dir", "texts/checkpoints") == cli.USAGE
    assert "'texts/checkpoints' lies in the corpus folder" in error_of(capsys)


@pytest.mark.parametrize(("text", "value"), [("90", 90.0), ("5e6 words", "5e6 words"), ("1,000 words", "1,000 words")])
def test_intervals_are_seconds_or_words(text: str, value: float | str) -> None:
    parsed = cli.parse_arguments(["train", "corpus", "--output", "model", "--checkpoint-every", text])
    assert parsed.checkpoint_every == value

"""Workers that encode a corpus: the files of one process, also when workers are lost meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.child_process import wait_until
from support.command_line import run
from support.interrupts import freeze, kill
from support.placements import mortal_cluster, shared_cluster

from gensim_tfw2v import encode_corpus, tuning
from gensim_tfw2v.cluster.errors import ClusterError, TaskError
from gensim_tfw2v.corpus.encode import encode_with
from gensim_tfw2v.corpus.sections.requests import MergeRequest, answer_of, request_line
from gensim_tfw2v.placement.calls.encoding_workers import worker_encoders
from gensim_tfw2v.placement.tasks.encoding_processes import MOST_REQUESTS, EncodingProcesses

SIZES = {"part_bytes": 20_000, "section_bytes": 20_000}


def _calls_under_way() -> list[Any]:
    """Return the frames of this process's threads that call an encoding worker."""
    return [frame for frame in sys._current_frames().values() if "ask" in _functions_of(frame)]


def _functions_of(frame: Any) -> list[str]:
    return [entry.name for entry in traceback.extract_stack(frame)]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Return a text of some sections."""
    random = np.random.default_rng(5)
    lines = [" ".join(f"w{word}" for word in random.zipf(1.3, 30) % 5000) for _ in range(2000)]
    (tmp_path / "text.txt").write_text("\n".join(lines))
    return tmp_path / "text.txt"


@pytest.fixture
def expected(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Return the files that one process writes."""
    monkeypatch.setattr(tuning, "FILE_PART_BYTES", 20_000)
    encode_corpus(text, tmp_path / "by one", workers=1)
    return files_of(tmp_path / "by one")


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the content of each file of a folder."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize("cores", [1, 2])
def test_workers_give_the_files_of_one_process(
    cores: int, text: Path, tmp_path: Path, expected: dict[str, bytes]
) -> None:
    encoders = worker_encoders(shared_cluster(2, 2, cores))
    assert [encoder.width for encoder in encoders] == [cores, cores]
    encode_with(encoders, text, tmp_path / "new", **SIZES)
    assert files_of(tmp_path / "new") == expected


@pytest.mark.slow
def test_the_command_has_workers_encode(text: Path, tmp_path: Path, expected: dict[str, bytes]) -> None:
    (tmp_path / "cluster.json").write_text(json.dumps(shared_cluster().addresses))
    assert run("encode", text, tmp_path / "new", "--cluster", tmp_path / "cluster.json", "--quiet") == 0
    assert files_of(tmp_path / "new") == expected


@pytest.mark.slow
def test_a_killed_worker_costs_its_sections_and_helps_again_once_it_is_started(
    text: Path, tmp_path: Path, expected: dict[str, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    cluster = mortal_cluster()
    killed: list[subprocess.Popen[Any]] = []

    def kill_one(*_: int) -> None:
        if not killed:
            killed.append(cluster.processes["worker", 1])
            kill(killed[0])

    encode_with(worker_encoders(cluster), text, tmp_path / "new", progress=kill_one, **SIZES)
    assert files_of(tmp_path / "new") == expected
    assert killed
    assert "worker 1" in caplog.text
    encode_with(worker_encoders(mortal_cluster()), text, tmp_path / "again", **SIZES)
    assert files_of(tmp_path / "again") == expected


@pytest.mark.slow
def test_the_sections_of_a_worker_that_hangs_are_encoded_by_another_one(
    text: Path, tmp_path: Path, expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gensim_tfw2v.placement.calls.encoding_workers._ANSWER_SECONDS", 3.0)
    cluster = mortal_cluster()
    frozen: list[subprocess.Popen[Any]] = []

    def freeze_one(*_: int) -> None:
        if not frozen:
            frozen.append(cluster.processes["worker", 1])
            freeze(frozen[0])

    encode_with(worker_encoders(cluster), text, tmp_path / "new", progress=freeze_one, **SIZES)
    assert files_of(tmp_path / "new") == expected
    assert frozen[0].poll() is None  # it hung all the time
    wait_until(lambda: not _calls_under_way(), seconds=10)


@pytest.mark.slow
def test_an_error_names_the_worker_that_does_not_see_the_corpus(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = shared_cluster()
    encoders = worker_encoders(cluster)
    monkeypatch.setattr("gensim_tfw2v.corpus.encode.sections_of", _sections_elsewhere)
    with pytest.raises(ClusterError, match=r"worker [01] at 127\.0\.0\.1:\d+: .*elsewhere.*same|the paths"):
        encode_with(encoders, text, tmp_path / "new", **SIZES)
    assert not (tmp_path / "new").exists()


def _sections_elsewhere(*arguments: Any) -> Any:
    from dataclasses import replace

    from gensim_tfw2v.corpus.sections.plan import sections_of

    return [replace(section, path=f"{section.path}.elsewhere") for section in sections_of(*arguments)]


def test_a_workers_processes_answer_in_order_and_end_when_nothing_is_left(tmp_path: Path) -> None:
    processes = EncodingProcesses()
    lines = [request_line(MergeRequest(str(tmp_path), bucket, 2, [])) for bucket in range(2)]
    found = processes.answer(np.array(b"".join(lines), object)).splitlines()
    assert [answer_of(line) for line in found] == [answer_of(found[0])] * 2
    assert sorted(path.name for path in tmp_path.iterdir())[0] == "bucket-0000.counts"
    assert processes.answer(b"") == b""
    assert processes._encoders == []


@pytest.mark.parametrize("lines", ["text", 5, b"\n" * (MOST_REQUESTS + 1)])
def test_what_is_no_list_of_requests_is_refused(lines: Any) -> None:
    with pytest.raises(TaskError, match="requests"):
        EncodingProcesses().answer(lines)

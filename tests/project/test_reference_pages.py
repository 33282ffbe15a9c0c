"""The reference names all keys of reports, tags of logs and flags of commands, and shards have the bytes it says."""

from __future__ import annotations

import argparse
import hashlib
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.clustered import Clustered
from support.contract import SENTENCES
from support.event_files import events_of
from support.placements import shared_cluster

from gensim_tfw2v import TFWord2Vec, encode_corpus
from gensim_tfw2v.cli import main as cli

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
REPORTS = (REFERENCE / "reports-and-tags.md").read_text(encoding="utf8")
COMMANDS = (REFERENCE / "cli.md").read_text(encoding="utf8")
FORMATS = (REFERENCE / "formats.md").read_text(encoding="utf8")
NAMED = set(re.findall(r"`([\w/]+)`", REPORTS))


def keys_of(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of a report; names of tasks are none."""
    for key, value in report.items():
        if key != "tasks" and not re.match(r"worker \d", key):
            yield key
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, Mapping) and key != "tasks":
                yield from keys_of(part)


def keys_of_tasks(report: Mapping[str, Any]) -> set[str]:
    """Return the tags of all tasks in a report."""
    return {f"tasks/{key}" for metrics in report["tasks"].values() for key in metrics}


@pytest.mark.slow
def test_every_key_of_a_report_of_a_cluster_is_named(clustered: Clustered) -> None:
    report = clustered.model.training_report
    assert report is not None
    assert set(keys_of(report)) - NAMED == set()
    assert keys_of_tasks(report) - NAMED == set()


@pytest.mark.slow
@pytest.mark.parametrize("distribution", ["synchronous", "averaging", "partition", "columns", "lbfgs"])
def test_every_key_of_a_report_of_another_design_is_named(distribution: str, tmp_path: Path) -> None:
    cluster = shared_cluster()
    model = TFWord2Vec(
        SENTENCES, sg=1, min_count=1, vector_size=8, cluster=cluster, distribution=distribution, checkpoint_dir=tmp_path
    )
    assert model.training_report is not None
    assert set(keys_of(model.training_report)) - NAMED == set()
    assert keys_of_tasks(model.training_report) - NAMED == set()


@pytest.mark.slow
def test_every_tag_of_a_log_is_named(clustered: Clustered) -> None:
    tags = set(events_of(clustered.folder).Tags()["scalars"])
    groups = {group for group in ("essentials", "scores", "final") if f"`{group}/…`" in REPORTS}
    assert {tag for tag in tags if tag.partition("/")[0] not in groups} - NAMED == set()
    assert "loss/running" in tags


def usage_lines() -> list[str]:
    """Return the lines of the reference that show how a command is called."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", COMMANDS, re.MULTILINE | re.DOTALL)
    return [line for language, block in blocks if not language for line in block.splitlines()]


def parsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command by its name."""
    actions = cli.build_parser()._actions
    return dict(next(action.choices for action in actions if isinstance(action, argparse._SubParsersAction)))


@pytest.mark.parametrize("line", usage_lines())
def test_a_line_of_usage_has_flags_that_the_command_has(line: str) -> None:
    program, command, *_ = line.split()
    assert program == "tfw2v"
    flags = {flag for action in parsers()[command]._actions for flag in action.option_strings}
    assert set(re.findall(r"--[\w-]+", line)) - flags == set()


def test_every_command_has_a_row_and_a_line_of_usage() -> None:
    shown = {line.split()[1] for line in usage_lines()}
    rows = set(re.findall(r"^\| \[`(\w+)`\]", COMMANDS, re.MULTILINE))
    assert shown == rows == parsers().keys()


def test_a_shard_has_the_bytes_that_the_reference_says(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("a b a\nb c\n")
    encode_corpus(tmp_path / "corpus.txt", tmp_path / "encoded")
    header, last_field, _ = (tmp_path / "encoded" / "corpus.json").read_bytes().partition(b',\n "checksum": ')
    data = (tmp_path / "encoded" / "shard-00000.ids").read_bytes()
    mark, fingerprint, words, sentences, shard, checksum = struct.unpack_from("<16s32sQQII", data)
    assert last_field
    assert mark.hex(" ") in FORMATS
    assert fingerprint == hashlib.sha256(header).digest()
    assert (words, sentences, shard, checksum) == (5, 2, 0, zlib.crc32(data[:68]))
    ids, lengths = np.frombuffer(data, "<i4", 5, 72), np.frombuffer(data, "<i4", 2, 72 + 5 * 4)
    vocabulary = (tmp_path / "encoded" / "vocabulary.txt").read_text().split("\n")
    assert [vocabulary[number].split()[0] for number in ids] == ["a", "b", "a", "b", "c"]
    assert lengths.tolist() == [3, 2]
    page = np.zeros(512, np.uint64)
    page.view(np.uint8)[: 7 * 4] = np.frombuffer(data, np.uint8, 7 * 4, 72)
    sums = [~page.sum(dtype=np.uint64), ~(page * np.arange(1, 513, dtype=np.uint64)).sum(dtype=np.uint64)]
    assert np.frombuffer(data, "<u8", offset=72 + 7 * 4).tolist() == [int(each) for each in sums]

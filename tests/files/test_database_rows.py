"""Rows for pgvector and Qdrant have every word and every number, as plain readers of both formats find them."""

from __future__ import annotations

import io
import json
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors
from support.command_line import error_of, run
from support.pages import ROOT, blocks

from gensim_tfw2v.files import databases, vectors
from gensim_tfw2v.files.databases import export_pgvector, export_qdrant

WORDS: list[Any] = ["the", "Käse", "it's", '"quoted"', "back\\slash", 7, "tab\tbed"]
MATRIX = np.random.default_rng(3).normal(0, 1, (len(WORDS), 5)).astype(np.float32)
MATRIX[0, :3] = 1e-30, -3.4e38, 0


@pytest.fixture
def keyed_vectors(monkeypatch: pytest.MonkeyPatch) -> KeyedVectors:
    """Return vectors that are read two rows at a time."""
    monkeypatch.setattr(vectors, "_PIECE_BYTES", 2 * 4 * MATRIX.shape[1])
    found = KeyedVectors(MATRIX.shape[1])
    found.add_vectors(WORDS, MATRIX)
    return found


def rows_of(data: bytes) -> list[tuple[int, str, list[float]]]:
    """Return the rows in the binary format of COPY, as PostgreSQL's documentation describes it."""
    file = io.BytesIO(data)
    assert file.read(11) == b"PGCOPY\n\xff\r\n\x00"
    assert struct.unpack(">ii", file.read(8)) == (0, 0)
    rows = []
    while (fields := struct.unpack(">h", file.read(2))[0]) != -1:
        values = [file.read(struct.unpack(">i", file.read(4))[0]) for _ in range(fields)]
        assert fields == 3
        count, unused = struct.unpack(">hh", values[2][:4])
        assert unused == 0
        numbers = struct.unpack(f">{count}f", values[2][4:])
        rows.append((struct.unpack(">i", values[0])[0], values[1].decode("utf-8"), list(numbers)))
    assert file.read() == b""
    return rows


def test_rows_of_pgvector_are_those_of_the_vectors(keyed_vectors: KeyedVectors, tmp_path: Path) -> None:
    export_pgvector(keyed_vectors, tmp_path / "rows", table="my_words")
    rows = rows_of((tmp_path / "rows" / "words.copy").read_bytes())
    assert [(number, word) for number, word, _ in rows] == list(enumerate(map(str, WORDS)))
    assert np.array_equal(np.array([numbers for _, _, numbers in rows], np.float32), MATRIX)
    load = (tmp_path / "rows" / "load.sql").read_text()
    assert (
        "CREATE TABLE my_words (id integer PRIMARY KEY, word text NOT NULL UNIQUE, vector vector(5) NOT NULL);" in load
    )
    assert "USING hnsw" in load


def test_vectors_that_are_too_long_for_an_index_have_none(tmp_path: Path) -> None:
    long = KeyedVectors(2001)
    long.add_vectors(["a"], np.zeros((1, 2001), np.float32))
    export_pgvector(long, tmp_path / "rows")
    assert "USING hnsw" not in (tmp_path / "rows" / "load.sql").read_text()


@pytest.mark.parametrize("table", ["", "Words", "my words", "1st", "words; DROP TABLE words", "w" * 64])
def test_a_table_needs_a_plain_name(table: str, keyed_vectors: KeyedVectors, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="table must be of a to z"):
        export_pgvector(keyed_vectors, tmp_path / "rows", table=table)
    assert list(tmp_path.iterdir()) == []


def test_a_word_with_a_zero_byte_is_named(tmp_path: Path) -> None:
    odd = KeyedVectors(1)
    odd.add_vectors(["a\x00b"], np.zeros((1, 1), np.float32))
    with pytest.raises(ValueError, match=r"the word 'a\\x00b' has a zero byte"):
        export_pgvector(odd, tmp_path / "rows")


def test_a_number_that_is_a_text_as_well_is_refused_because_words_of_the_table_differ(tmp_path: Path) -> None:
    odd = KeyedVectors(1)
    odd.add_vectors([7, "7"], np.zeros((2, 1), np.float32))
    with pytest.raises(ValueError, match="a number both as an int and as a text"):
        export_pgvector(odd, tmp_path / "rows")
    assert list(tmp_path.iterdir()) == []


def test_points_of_qdrant_are_those_of_the_vectors(
    keyed_vectors: KeyedVectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "QDRANT_BATCH", 3)
    export_qdrant(keyed_vectors, tmp_path / "points")
    batches = [json.loads(path.read_text()) for path in sorted((tmp_path / "points").glob("points-*.json"))]
    assert [len(batch["points"]) for batch in batches] == [3, 3, 1]
    points = [point for batch in batches for point in batch["points"]]
    assert [point["id"] for point in points] == list(range(len(WORDS)))
    assert [point["payload"] for point in points] == [{"word": word} for word in WORDS]
    assert np.array_equal(np.array([point["vector"] for point in points], np.float32), MATRIX)
    collection = json.loads((tmp_path / "points" / "collection.json").read_text())
    assert collection == {"vectors": {"size": 5, "distance": "Cosine"}}
    subprocess.run(["sh", "-n", str(tmp_path / "points" / "load.sh")], check=True)


def client_with_points(monkeypatch: pytest.MonkeyPatch, folder: Path, place: str) -> Any:
    """Run the code by which the page loads the folder `points`, in this folder, and return the client."""
    pytest.importorskip("qdrant_client", reason="needs qdrant-client, which the extra `peers` installs")
    page = ROOT / "docs" / "reference" / "formats.md"
    (program,) = (block.text for block in blocks(page) if "qdrant_client" in block.text)
    assert '":memory:"' in program
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    exec(compile(program.replace('":memory:"', place), page.name, "exec"), names)
    return names["client"]


@pytest.mark.slow
def test_qdrants_client_takes_the_points_and_finds_neighbours(
    keyed_vectors: KeyedVectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_qdrant(keyed_vectors, tmp_path / "points")
    client = client_with_points(monkeypatch, tmp_path, '":memory:"')
    found = client.query_points("words", query=MATRIX[3].tolist(), limit=3).points
    expected = ['"quoted"', *(word for word, _ in keyed_vectors.most_similar('"quoted"', topn=2))]
    assert [point.payload["word"] for point in found] == expected


@pytest.mark.slow
def test_a_collection_that_qdrant_has_stored_finds_the_nearest_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "QDRANT_BATCH", 200)
    rng = np.random.default_rng(5)
    matrix = rng.normal(0, 1, (401, 20)) + 3 * rng.normal(0, 1, (20, 20)).repeat(21, axis=0)[:401]  # in groups
    vectors_of = KeyedVectors(20)
    vectors_of.add_vectors([f"w{row}" for row in range(len(matrix))], matrix.astype(np.float32))
    export_qdrant(vectors_of, tmp_path / "points")
    client_with_points(monkeypatch, tmp_path, 'path="stored"').close()
    library = pytest.importorskip("qdrant_client")
    stored = library.QdrantClient(path="stored")
    assert stored.count("words").count == len(matrix)
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    shared = 0
    for row in range(len(matrix)):
        exact = np.argsort(-unit @ unit[row])[:10]
        found = stored.query_points("words", query=matrix[row].tolist(), limit=10).points
        shared += len({f"w{near}" for near in exact} & {point.payload["word"] for point in found})
    assert shared / 10 / len(matrix) > 0.99  # rounding may turn two of nearly equal similarity round
    stored.close()


@pytest.mark.parametrize("target", ["pgvector", "qdrant"])
def test_the_command_writes_rows_for_a_database(
    target: str, keyed_vectors: KeyedVectors, scratch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keyed_vectors.save("words.kv")
    assert run("export", "words.kv", "rows", "--for", target) == 0
    assert capsys.readouterr().out == "rows: 7 words, 5 dimensions\n"
    expected = {"pgvector": "load.sql words.copy", "qdrant": "collection.json load.sh points-000000.json"}
    assert sorted(path.name for path in Path("rows").iterdir()) == expected[target].split()
    assert run("export", "words.kv", "rows", "--for", target) == 2
    assert "'rows' is there already" in error_of(capsys).replace(f"{scratch}/", "")

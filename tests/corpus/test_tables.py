"""A column of Parquet or Arrow is read as the same sentences in a text file are, and in memory as lists of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.contract import assert_equal_models
from support.error_table import TableRow, rows_of_tables
from support.plain_chunks import plain_epoch

from gensim_tfw2v import TFWord2Vec, encode_corpus
from gensim_tfw2v.corpus.cache import CacheBudget
from gensim_tfw2v.corpus.file_scan import FileScan, scan_file
from gensim_tfw2v.corpus.sentence_parts import ColumnSentences, TableSentences
from gensim_tfw2v.corpus.sources import FileSource, Reading
from gensim_tfw2v.corpus.table_file import is_table
from gensim_tfw2v.runtime.extras import MissingPackageError

pa = pytest.importorskip("pyarrow", reason="needs pyarrow, which the extra `test` installs")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

IN_MEMORY, NO_CACHE = CacheBudget(2**24, 0, None), CacheBudget(0, 0, None)
SMALL: dict[str, Any] = {"vector_size": 8, "min_count": 1, "workers": 1, "seed": 1, "epochs": 2}


def lines(count: int) -> list[str]:
    """Return sentences, some empty, of words that become rarer, with white space of many kinds."""
    random = np.random.default_rng(3)
    sizes = random.integers(0, 30, count)
    gaps = [" ", "  ", "\t", "\u3000", "\x1c"]
    return [
        "".join(f"é{word}{gaps[word % len(gaps)]}" for word in random.geometric(0.05, size).tolist()) for size in sizes
    ]


LINES = lines(300)
ROWS = [line.split() for line in LINES]
NUMBERS = [[int(word[1:]) for word in row] for row in ROWS]
# Columns of the sentences in each of the types that hold them.
COLUMNS: dict[str, Callable[[], Any]] = {
    "text": lambda: pa.array(LINES),
    "large text": lambda: pa.array(LINES, pa.large_string()),
    "text views": lambda: pa.array(LINES, pa.string_view()),
    "coded text": lambda: pa.array(LINES).dictionary_encode(),
    "lists": lambda: pa.array(ROWS),
    "large lists": lambda: pa.array(ROWS, pa.large_list(pa.large_string())),
    "lists of coded text": lambda: pa.array(ROWS, pa.list_(pa.dictionary(pa.int32(), pa.string()))),
}


def write(table: Any, path: Path, rows_at_once: int = 100) -> Path:
    """Write a table in the format of the path's suffix; `.arrow` is a stream."""
    if path.suffix.lower() == ".parquet":
        pq.write_table(table, path, row_group_size=rows_at_once)
    elif path.suffix == ".feather":
        feather.write_feather(table, str(path), chunksize=rows_at_once)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table, rows_at_once)
    return path


def content_of(scan: FileScan) -> tuple[list[Any], list[int], int, int, list[list[int]], list[list[int]]]:
    """Return all that a scan has found."""
    kept = list(scan.encoded)
    ids, lengths = ([n for part in kept for n in getattr(part, name).tolist()] for name in ("ids", "lengths"))
    return scan.words, scan.counts.tolist(), scan.total_words, scan.sentence_count, ids, lengths


@pytest.fixture(scope="module")
def text_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of a text file with the sentences."""
    path = tmp_path_factory.mktemp("text") / "corpus.txt"
    path.write_text("\n".join(LINES), encoding="utf8")
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_is_counted_as_the_same_text(kind: str, suffix: str, text_file: Path, tmp_path: Path) -> None:
    table = pa.table({"id": np.arange(len(ROWS)), "words": COLUMNS[kind]()})
    expected = content_of(scan_file(text_file, 1, IN_MEMORY))
    for rows_at_once in (7, 1000):
        path = write(table, tmp_path / f"corpus{suffix}", rows_at_once)
        for part_bytes in (500, 2**21):
            assert content_of(scan_file(path, 1, IN_MEMORY, part_bytes=part_bytes)) == expected


@pytest.mark.parametrize("suffix", [".parquet", pytest.param(".feather", marks=pytest.mark.slow)])
def test_several_processes_read_a_table_in_its_order(suffix: str, text_file: Path, tmp_path: Path) -> None:
    table = pa.table({"id": np.arange(len(ROWS)), "words": ROWS})
    path = write(table, tmp_path / f"corpus{suffix}", 40)
    scan = scan_file(path, 2, IN_MEMORY, part_bytes=800)
    assert content_of(scan) == content_of(scan_file(text_file, 1, IN_MEMORY))


def test_chunks_of_a_table_are_those_of_the_text(text_file: Path, tmp_path: Path) -> None:
    path = write(pa.table({"id": np.arange(len(ROWS)), "words": ROWS}), tmp_path / "corpus.parquet", 40)
    ids = {f"é{number}": number for number in range(20)}
    of_table = FileSource(path, Reading(ids, 500, NO_CACHE), 1, part_bytes=800)
    assert plain_epoch(of_table) == plain_epoch(FileSource(text_file, Reading(ids, 500, NO_CACHE), 1))


def test_a_table_is_known_by_its_suffix_in_any_case() -> None:
    assert [is_table(f"corpus{suffix}") for suffix in (".PARQUET", ".Feather", ".ipc", ".txt", ".parquet.gz")] == [
        *(True, True, True),
        *(False, False),
    ]


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_in_memory_yields_the_sentences(kind: str) -> None:
    column = COLUMNS[kind]()
    expected = [row for row in ROWS if row]
    for given in (column, pa.chunked_array([column[:9], column[9:9], column[9:]]), pa.table({"words": column})):
        sentences = ColumnSentences(given)
        assert list(sentences) == list(sentences) == expected


def test_rows_and_words_without_a_value_are_left_out() -> None:
    lists = ColumnSentences(pa.array([["a", None, "b"], None, [], ["c"], [None]]))
    assert list(lists) == [["a", "b"], ["c"]]
    text = ColumnSentences(pa.array([" a\nb", None, "", "c "]))
    assert list(text) == [["a", "b"], ["c"]]
    fixed = ColumnSentences(pa.array([["a", "b"], None, ["c", "d"]], pa.list_(pa.string(), 2)))
    assert list(fixed) == [["a", "b"], ["c", "d"]]


def test_words_of_lists_may_hold_white_space_and_long_rows_are_cut() -> None:
    words = ["New York", "", "a\nb"]
    assert list(ColumnSentences(pa.array([words]))) == [words]
    assert [len(row) for row in ColumnSentences(pa.array([["a"] * 25_000]))] == [10_000, 10_000, 5_000]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.uint64()])
def test_whole_numbers_are_words_as_in_lists_of_ints(kind: Any, tmp_path: Path) -> None:
    column = pa.array([[number % 100 for number in row] for row in NUMBERS], pa.list_(kind))
    path = write(pa.table({"nodes": column}), tmp_path / "walks.parquet")
    for given in ({"corpus_file": str(path)}, {"corpus_iterable": column}):
        model = TFWord2Vec(**SMALL)
        model.scan_vocab(**given)
        expected = TFWord2Vec(**SMALL)
        expected.scan_vocab(column.to_pylist())
        assert list(model.raw_vocab.items()) == list(expected.raw_vocab.items())
        assert {type(word) for word in model.raw_vocab} == {int}


def test_a_model_of_a_table_is_that_of_the_text_in_a_file(text_file: Path, tmp_path: Path) -> None:
    table = pa.table({"title": ["an article"] * len(ROWS), "words": ROWS})
    path = write(table, tmp_path / "corpus.parquet")
    of_text = TFWord2Vec(corpus_file=str(text_file), **SMALL)
    assert_equal_models(TFWord2Vec(corpus_file=path, column="words", **SMALL), of_text)
    pruned = {**SMALL, "max_vocab_size": 40}
    of_pruned_text = TFWord2Vec(corpus_file=str(text_file), **pruned)
    assert_equal_models(TFWord2Vec(corpus_file=path, column="words", **pruned), of_pruned_text)


@pytest.mark.parametrize("cache_memory", [0, 2**20])
def test_a_model_of_a_column_in_memory_is_that_of_lists(cache_memory: int) -> None:
    settings = {**SMALL, "cache_memory": cache_memory}
    expected = TFWord2Vec([row for row in ROWS if row], **settings)
    assert_equal_models(TFWord2Vec(pa.array(ROWS), **settings), expected)
    table = pa.table({"title": LINES, "words": ROWS})
    assert_equal_models(TFWord2Vec(table, column="words", **settings), expected)


def test_sentences_of_a_table_may_validate(tmp_path: Path) -> None:
    path = write(pa.table({"words": ROWS}), tmp_path / "corpus.parquet")
    lists = TFWord2Vec([row for row in ROWS if row], validation=ROWS, **SMALL)
    for validation in (str(path), pa.array(ROWS)):
        model = TFWord2Vec([row for row in ROWS if row], validation=validation, **SMALL)
        assert model.validation_losses == lists.validation_losses


# The versions from which their columns have Arrow's interface.
@pytest.mark.parametrize(("library", "version"), [("polars", "1.3"), ("pandas", "3.0")])
def test_columns_of_other_libraries_are_read(library: str, version: str) -> None:
    module = pytest.importorskip(library, version, reason=f"needs {library} {version}, of the extra `peers`")
    for column in (module.Series(ROWS), module.Series(LINES), module.DataFrame({"id": NUMBERS[:1] * 300, "w": ROWS})):
        name = None if isinstance(column, module.Series) else "w"
        assert list(ColumnSentences(column, name)) == [row for row in ROWS if row]


def test_a_column_of_hugging_faces_datasets_is_read_in_the_format_arrow() -> None:
    datasets = pytest.importorskip("datasets", reason="needs datasets, which the extra `peers` installs")
    table = datasets.table.InMemoryTable(pa.table({"words": ROWS}))
    dataset = datasets.Dataset(table, fingerprint="any").with_format("arrow")
    assert list(ColumnSentences(dataset["words"])) == [row for row in ROWS if row]


def test_an_encoded_table_is_that_of_the_text(text_file: Path, tmp_path: Path) -> None:
    path = write(pa.table({"words": ROWS, "other": LINES}), tmp_path / "corpus.parquet")
    encode_corpus(path, tmp_path / "of table", column="words")
    encode_corpus(text_file, tmp_path / "of text")
    for name in ("vocabulary.txt", "shard-00000.ids"):
        assert (tmp_path / "of table" / name).read_bytes() == (tmp_path / "of text" / name).read_bytes()
    numbers = write(pa.table({"nodes": [[7, 8], [7]]}), tmp_path / "nodes.parquet")
    assert encode_corpus(numbers, tmp_path / "of numbers").counts() == {"7": 2, "8": 1}


ERRORS = [row for row in rows_of_tables() if row.table == "Tables"]


@pytest.fixture
def tables(scratch: Path) -> Path:
    """Make the tables that the rows name in the working directory."""
    write(pa.table({"id": [1, 2], "text": ["a b", "c"], "tokens": [["a", "b"], ["c"]]}), scratch / "two.parquet")
    write(pa.table({"id": [1, 2], "price": [1.5, 2.5]}), scratch / "none.parquet")
    write(pa.table({"text": ["", None]}), scratch / "empty.parquet")
    write(pa.table({"words": [["New York"]]}), scratch / "spaces.parquet")
    whole = write(pa.table({"text": LINES}), scratch / "whole.parquet").read_bytes()
    (scratch / "cut short.parquet").write_bytes(whole[:-20])
    (scratch / "no table.arrow").write_bytes(b"nothing of the kind")
    (scratch / "corpus.txt").write_text("a b\n" * 9)
    return scratch


@pytest.mark.parametrize("row", ERRORS, ids=[row.code for row in ERRORS])
def test_tables_that_cannot_be_read_are_named(row: TableRow, tables: Path) -> None:
    names = {"TFWord2Vec": TFWord2Vec, "encode_corpus": encode_corpus, "pyarrow": pa}
    with pytest.raises(row.error) as caught:
        eval(row.code, names)
    assert row.missing_in(str(caught.value)) == []


def test_without_pyarrow_the_error_names_the_extra(tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for read in (lambda: TFWord2Vec(corpus_file="two.parquet"), lambda: list(TableSentences("two.parquet"))):
        with pytest.raises(MissingPackageError, match=r"'two\.parquet' needs the package pyarrow.*\[arrow\]"):
            read()


def test_without_pyarrow_a_column_of_lists_is_any_iterable(monkeypatch: pytest.MonkeyPatch) -> None:
    class Column(list):
        __arrow_c_stream__ = None

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    model = TFWord2Vec(min_count=1)
    assert model.scan_vocab(Column([["a", "b"], ["a"]])) == (3, 2)
    with pytest.raises(MissingPackageError, match="sentences in a Column"):
        model.scan_vocab(Column(["a b"]))


def test_rows_that_arrow_cannot_hold_are_an_error_that_says_what_to_do() -> None:
    class Series(list):
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return pa.chunked_array([pa.array(self)]).__arrow_c_stream__(requested_schema)

    assert TFWord2Vec(min_count=1).scan_vocab(Series([["a", "b"]])) == (2, 1)
    with pytest.raises(TypeError, match=r"the Series has rows that Arrow cannot hold.*as a list"):
        TFWord2Vec(min_count=1).scan_vocab(Series([[("a", 1), "b"]]))

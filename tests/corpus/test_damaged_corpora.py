"""Encoded corpora in which a bit, a byte or a file is wrong: every one is refused with the file's name."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import pickle
import shutil
import struct
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.former_corpus import FORMER_HEADER_BYTES, write_former

from gensim_tfw2v import encode_corpus
from gensim_tfw2v.corpus import shard_file, shard_writer, shards
from gensim_tfw2v.corpus.shard_file import OpenShard, PageChecksums, page_checksums
from gensim_tfw2v.corpus.shards import EncodedCorpus, EncodedCorpusError, ShardReader, Span, is_encoded, shard_path
from gensim_tfw2v.corpus.sources import EncodedSource
from gensim_tfw2v.files import checked_json

SHARDS = ("b a\nc a d\n", "d b é\n")


def encode_tiny(folder: Path) -> Path:
    """Encode a few sentences in two shards; return the folder."""
    text = folder / "text"
    text.mkdir()
    for number, content in enumerate(SHARDS):
        (text / f"{number}.txt").write_text(content, encoding="utf-8")
    assert len(encode_corpus(text, folder / "tiny", workers=1, shard_words=1).shards) == len(SHARDS)
    return folder / "tiny"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Return a corpus of two shards."""
    return encode_tiny(tmp_path)


@pytest.fixture
def former(corpus: Path, tmp_path: Path) -> Path:
    """Return the same corpus in the former format."""
    return write_former(corpus, tmp_path / "former")


def spans_and_reader(folder: Path) -> tuple[list[Span], ShardReader]:
    """Return a span for each sentence, and what reads them."""
    opened = EncodedCorpus(folder)
    source = EncodedSource(opened, {word: number for number, word in enumerate(opened.counts())}, words_per_chunk=1)
    spans = [chunk.content for chunk in source.epoch()]
    assert source.reader is not None
    return [span for span in spans if isinstance(span, Span)], source.reader


def read(spans: Iterable[Span], reader: ShardReader) -> list[list[int]]:
    """Return the ids of every span."""
    return [reader.read(span).ids.tolist() for span in spans]


def refusal(reading: Callable[[], Any]) -> str:
    """Return the message of the error that refuses a corpus, "" if nothing does."""
    try:
        reading()
    except EncodedCorpusError as error:
        return str(error)
    return ""


def flips(data: bytes) -> Iterator[bytes]:
    """Yield the data with one bit turned, for each of its bits."""
    for bit in range(8 * len(data)):
        turned = bytearray(data)
        turned[bit // 8] ^= 1 << bit % 8
        yield bytes(turned)


def damages(data: bytes) -> Iterator[bytes]:
    """Yield the data cut short at each byte, and with bytes after it."""
    for length in range(len(data)):
        yield data[:length]
    for more in (b"\0", b"\n", data):
        yield data + more


def not_refused(folder: Path, copies: Callable[[bytes], Iterator[bytes]], reading: Callable[[], Any]) -> list[Any]:
    """Return which damaged copies of which files no error refuses in one line with the file's name."""
    missed = []
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        with path.open("r+b", buffering=0) as file:
            for number, copy in enumerate((*copies(data), data)):
                file.seek(0)
                file.truncate(file.write(copy))
                message = "" if copy == data else refusal(reading)
                if copy != data and (str(path) not in message or not is_line_of_advice(message)):
                    missed.append((path.name, number, message))
    return missed


def is_line_of_advice(message: str) -> bool:
    """Return whether a message is one line that says what to do."""
    return "\n" not in message and message.endswith("; fetch the file again, or encode the corpus anew")


def test_every_single_bit_flip_is_refused_with_the_name_of_the_file(corpus: Path) -> None:
    whole = read(*spans_and_reader(corpus))
    assert not_refused(corpus, flips, lambda: read(*spans_and_reader(corpus))) == []
    assert read(*spans_and_reader(corpus)) == whole == [[0, 1], [2, 1, 3], [3, 0, 4]]


@pytest.mark.parametrize("page_bytes", [4096, 16], ids=["one page", "many pages"])
def test_a_worker_that_reads_all_of_a_shard_refuses_every_flip_by_itself(
    page_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_file, "PAGE_BYTES", page_bytes)
    corpus = encode_tiny(tmp_path)
    spans, reader = spans_and_reader(corpus)
    for name in ("corpus.json", "vocabulary.txt"):
        (corpus / name).unlink()
    assert not_refused(corpus, flips, lambda: read(spans, reader)) == []


def test_a_file_that_is_too_short_or_too_long_is_refused_with_its_name(corpus: Path) -> None:
    assert not_refused(corpus, damages, lambda: read(*spans_and_reader(corpus))) == []


@pytest.mark.parametrize("name", ["corpus.json", "vocabulary.txt", "shard-00000.ids", "shard-00001.ids"])
def test_a_missing_file_is_named(corpus: Path, name: str) -> None:
    (corpus / name).unlink()
    assert is_encoded(corpus)
    with pytest.raises(FileNotFoundError, match=name):
        read(*spans_and_reader(corpus))


@pytest.mark.parametrize("path", ["a" * 5000, "\0", "", 5, None], ids=["long", "NUL", "none", "number", "nothing"])
def test_what_is_no_path_of_a_folder_is_no_encoded_corpus(path: Any) -> None:
    assert not is_encoded(path)


def test_shards_in_each_others_place_are_refused(corpus: Path, tmp_path: Path) -> None:
    first, second = shard_path(corpus, 0), shard_path(corpus, 1)
    first.rename(tmp_path / "first")
    second.rename(first)
    (tmp_path / "first").rename(second)
    with pytest.raises(EncodedCorpusError, match=r"shard-00000.ids .*it holds shard 1"):
        EncodedCorpus(corpus)


def test_a_shard_of_another_text_with_the_same_words_is_refused(tmp_path: Path) -> None:
    for name, content in (("one", "a b\na b\n"), ("other", "a b\nb a\n")):
        (tmp_path / f"{name}.txt").write_text(content)
        encode_corpus(tmp_path / f"{name}.txt", tmp_path / name)
    vocabularies = [(tmp_path / name / "vocabulary.txt").read_bytes() for name in ("one", "other")]
    assert vocabularies[0] == vocabularies[1]
    spans, reader = spans_and_reader(tmp_path / "one")
    shutil.copy(shard_path(tmp_path / "other", 0), shard_path(tmp_path / "one", 0))
    with pytest.raises(EncodedCorpusError, match=r"shard-00000.ids .*another text"):
        read(spans, reader)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: b"".join(reversed(data.splitlines(keepends=True))),
        lambda data: b"",
    ],
    ids=["BOM", "CRLF", "another order", "empty"],
)
def test_a_vocabulary_that_was_changed_is_refused(corpus: Path, change: Callable[[bytes], bytes]) -> None:
    path = corpus / "vocabulary.txt"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(EncodedCorpusError, match=r"vocabulary.txt is not the vocabulary"):
        EncodedCorpus(corpus).counts()


@pytest.mark.parametrize(
    "text",
    ["[]", "5", "null", "{}", "[" * 100_000, '{"format": {}}', '{"format": "\\n"}', "\ufeff{}", '{"format": NaN}'],
    ids=lambda text: text[:20].encode("unicode_escape").decode(),
)
def test_other_json_is_refused_in_one_line(corpus: Path, text: str) -> None:
    (corpus / "corpus.json").write_text(text, encoding="utf-8")
    message = refusal(lambda: EncodedCorpus(corpus))
    assert "corpus.json" in message
    assert "\n" not in message


def test_a_header_without_its_checksum_is_refused(corpus: Path) -> None:
    path = corpus / "corpus.json"
    found = json.loads(path.read_bytes())
    del found["checksum"]
    path.write_text(json.dumps(found, indent=1))
    with pytest.raises(EncodedCorpusError, match=r"corpus.json .*checksum"):
        EncodedCorpus(corpus)


def test_a_header_is_indented_json_that_ends_with_the_checksum_of_what_is_before() -> None:
    fields: dict[str, Any] = {"format": "gensim_tfw2v encoded and checked corpus 2", "vocabulary": "ab" * 32}
    fields["shards"] = [{"words": 3, "sentences": 2, "checksums": "cd" * 32}]
    before = json.dumps(fields, indent=1)[:-2].encode()
    checksum = hashlib.sha256(before).hexdigest()
    text = before + f',\n "checksum": "{checksum}"\n}}\n'.encode()
    size = shard_file.ShardSize(words=3, sentences=2)
    assert shards.header_text("ab" * 32, [size], ["cd" * 32]) == (text, checksum)


def test_a_header_that_claims_the_former_format_does_not_open_the_shards_of_this_one(corpus: Path) -> None:
    path = corpus / "corpus.json"
    found = json.loads(path.read_bytes())
    sizes = [{name: shard[name] for name in ("words", "sentences")} for shard in found["shards"]]
    claim = {"format": "gensim_tfw2v encoded corpus 1", "fingerprint": found["vocabulary"], "shards": sizes}
    path.write_text(json.dumps(claim))
    with pytest.raises(EncodedCorpusError, match=r"shard-00000.ids .*does not begin as a shard of this format"):
        EncodedCorpus(corpus)


def test_the_marks_of_the_two_formats_differ_in_many_bits(corpus: Path, former: Path) -> None:
    marks = [int.from_bytes(shard_path(folder, 0).read_bytes()[:16], "big") for folder in (corpus, former)]
    assert (marks[0] ^ marks[1]).bit_count() > 30
    formats = [json.loads((folder / "corpus.json").read_bytes())["format"] for folder in (corpus, former)]
    assert formats[0][: len(formats[1])] != formats[1]
    assert len(formats[0]) - len(formats[1]) > 10


# -- the former format -------------------------------------------------------------------------------------------------


def test_a_folder_of_the_former_format_opens_with_one_warning(
    corpus: Path, former: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert read(*spans_and_reader(former)) == read(*spans_and_reader(corpus))
    assert EncodedCorpus(former).counts() == EncodedCorpus(corpus).counts()
    (warning,) = caplog.messages
    assert str(former) in warning
    assert "Encode the corpus anew" in warning


def test_a_flip_in_the_former_format_is_refused_or_leaves_ids_of_the_vocabulary(former: Path) -> None:
    words = len(EncodedCorpus(former).counts())
    spans = spans_and_reader(former)[0]

    def read_flipped() -> None:
        found, reader = spans_and_reader(former)
        assert found == spans
        ids = [number for sentence in read(found, reader) for number in sentence]
        assert 0 <= min(ids) <= max(ids) < words

    messages = {(name, message) for name, _, message in not_refused(former, flips, read_flipped)}
    trained = {name for name, message in messages if not message}
    assert trained == {"shard-00000.ids", "shard-00001.ids"}  # some flips turn a word into another
    assert all(is_line_of_advice(message) and str(former) in message for _, message in messages if message)


@pytest.mark.parametrize(
    ("lengths", "message"),
    [((2, 4), "do not end where"), ((6, -1), "less than one word"), ((0, 5), "less than one word")],
    ids=str,
)
def test_sentence_lengths_that_do_not_fit_the_ids_are_refused(
    former: Path, lengths: tuple[int, int], message: str
) -> None:
    path = shard_path(former, 0)
    data = path.read_bytes()
    path.write_bytes(data[:-8] + struct.pack("<2i", *lengths))
    with pytest.raises(EncodedCorpusError, match=rf"shard-00000.ids .*{message}"):
        EncodedCorpus(former).sentence_lengths(0)
    reader = EncodedCorpus(former).reader({})
    with pytest.raises(EncodedCorpusError, match=rf"shard-00000.ids .*{message}"):
        reader.read(Span(0, 0, 5, 0, 2))


@pytest.mark.parametrize("number", [-1, 5, 2**31 - 1])
def test_ids_of_no_word_are_refused(former: Path, number: int) -> None:
    path = shard_path(former, 0)
    data = path.read_bytes()
    path.write_bytes(data[:FORMER_HEADER_BYTES] + struct.pack("<i", number) + data[FORMER_HEADER_BYTES + 4 :])
    with pytest.raises(EncodedCorpusError, match=r"shard-00000.ids .*ids of no word"):
        EncodedCorpus(former).reader({}).read(Span(0, 0, 5, 0, 2))


@pytest.mark.parametrize(
    "span", [Span(0, 0, 6, 0, 2), Span(0, -1, 5, 0, 2), Span(0, 0, 5, 0, 3), Span(0, 0, 5, -1, 2)], ids=str
)
def test_a_span_that_a_shard_does_not_have_is_refused(corpus: Path, span: Span) -> None:
    with pytest.raises(EncodedCorpusError, match=r"shard-00000.ids .*and not those from"):
        EncodedCorpus(corpus).reader({}).read(span)


def test_a_shard_that_becomes_shorter_while_it_is_open_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a b\n" * 50_000)  # more than a file's buffer holds
    words = encode_corpus(tmp_path / "text", tmp_path / "corpus").words
    fingerprint = json.loads((tmp_path / "corpus" / "corpus.json").read_bytes())["checksum"]
    with OpenShard(tmp_path / "corpus", 0, fingerprint, has_checksums=True) as file:
        os.truncate(shard_path(tmp_path / "corpus", 0), 1000)
        with pytest.raises(EncodedCorpusError, match=r"shard-00000.ids .*has become shorter"):
            file.ids(0, words, 2)


# -- writing -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [[1], [4095, 1, 1], [4096], [4097], [100, 9000, 3], [4000, 96, 4096, 5]], ids=str)
def test_checksums_are_the_same_however_the_data_is_cut(sizes: list[int]) -> None:
    data = np.random.default_rng(0).bytes(sum(sizes))
    pages = PageChecksums()
    begin = 0
    for size in sizes:
        pages.add(data[begin : begin + size])
        begin += size
    assert pages.finish() == page_checksums(data)
    assert len(page_checksums(data)) == 16 * -(-len(data) // 4096)


def test_a_checksum_is_the_sums_of_fletcher() -> None:
    data = np.random.default_rng(0).bytes(4096 + 20)
    expected = []
    for page in (data[:4096], data[4096:].ljust(4096, b"\0")):
        first = second = 0
        for place, word in enumerate(struct.unpack("<512Q", page), start=1):
            first, second = first + word, second + place * word
        expected += [2**64 - 1 - total % 2**64 for total in (first, second)]
    assert struct.unpack("<4Q", page_checksums(data)) == tuple(expected)


def test_two_words_that_are_exchanged_have_another_checksum() -> None:
    words = np.random.default_rng(0).integers(0, 2**31, 1024, dtype=np.int32)
    exchanged = words.copy()
    exchanged[[10, 700]] = words[[700, 10]]
    assert page_checksums(words.tobytes()) != page_checksums(exchanged.tobytes())


def test_every_file_is_on_the_disk_before_the_folder_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    real_fsync, real_rename = os.fsync, os.rename

    def fsync(file: int) -> None:
        real_fsync(file)
        done.append(Path(os.readlink(f"/proc/self/fd/{file}")).name)

    def rename(source: Any, target: Any) -> None:
        real_rename(source, target)
        done.append("rename")

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "rename", rename)
    folder = encode_tiny(tmp_path)
    before = done[: done.index("rename")]
    assert set(before[:-1]) == {path.name for path in folder.iterdir()}
    assert before[-1].startswith(".tfw2v-")
    assert done[len(before) + 1 :] == [tmp_path.name]


# -- no pickles --------------------------------------------------------------------------------------------------------


def test_encoded_corpora_hold_no_pickles(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unpickle(*_: Any, **__: Any) -> None:
        raise AssertionError("something was unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, unpickle)
    monkeypatch.setattr(np, "load", unpickle)
    read(*spans_and_reader(corpus))
    for path in corpus.iterdir():
        data = path.read_bytes()
        path.write_bytes(pickle.dumps({"format": 5, "words": [1]}))
        assert str(path) in refusal(lambda: read(*spans_and_reader(corpus)))
        path.write_bytes(data)


@pytest.mark.parametrize("module", [checked_json, shard_file, shard_writer, shards], ids=lambda module: module.__name__)
def test_modules_of_encoded_corpora_import_nothing_that_runs_what_it_reads(module: Any) -> None:
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not {name.partition(".")[0] for name in imported} & {"pickle", "marshal", "shelve", "multiprocessing"}
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not called & {"load", "memmap", "fromfile"}

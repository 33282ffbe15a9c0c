"""`tfw2v train --documents` trains TFDoc2Vec, and the other commands show, write and infer vectors of documents."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors
from support.command_line import error_of, run, train
from support.documents import TOPICS

from gensim_tfw2v import TaggedLines, TFDoc2Vec

TEXT = [" ".join(map(str, document.words)) for document in TOPICS]
TAGS = [f"{'abc'[number % 3]} post{number}" for number in range(len(TOPICS))]
SMALL: dict[str, Any] = {"min_count": 1, "vector_size": 8, "epochs": 1, "workers": 1}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "posts.txt"
    path.write_text("\n".join(TEXT) + "\n")
    return path


@pytest.fixture
def tagged(tmp_path: Path) -> Path:
    path = tmp_path / "tagged.txt"
    path.write_text("".join(f"{tags}\t{text}\n" for tags, text in zip(TAGS, TEXT, strict=True)))
    return path


def test_the_model_is_that_of_the_class(corpus: Path, tmp_path: Path) -> None:
    flags = ["--dm", 0, "--dbow-words", 1, "--seed", 5, "--epochs", 3, "--quiet"]
    assert train(corpus, tmp_path / "model", "--documents", *flags) == 0
    found = TFDoc2Vec.load(str(tmp_path / "model"))
    expected = TFDoc2Vec(corpus_file=str(corpus), dm=0, dbow_words=1, seed=5, **SMALL | {"epochs": 3})
    assert (found.dm, found.dbow_words, found.epochs) == (False, 1, 3)
    np.testing.assert_array_equal(found.dv.vectors, expected.dv.vectors)
    np.testing.assert_array_equal(found.wv.vectors, expected.wv.vectors)


def test_contexts_are_summed_if_the_mean_is_not_wanted(corpus: Path, tmp_path: Path) -> None:
    assert train(corpus, tmp_path / "model", "--documents", "--dm-mean", 0, "--quiet") == 0
    assert TFDoc2Vec.load(str(tmp_path / "model")).cbow_mean == 0


def test_tags_before_a_tab_are_kept(tagged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tagged, tmp_path / "model", "--documents", "--tags") == 0
    model = TFDoc2Vec.load(str(tmp_path / "model"))
    assert sorted(model.dv.index_to_key) == sorted({tag for tags in TAGS for tag in tags.split()})
    assert not set(model.dv.index_to_key) & set(model.wv.index_to_key)
    assert "documents   63 tags" in capsys.readouterr().out
    np.testing.assert_array_equal(model.dv["a"], TFDoc2Vec(TaggedLines(tagged), **SMALL).dv["a"])


def test_compressed_text_has_the_same_documents(corpus: Path, tagged: Path, tmp_path: Path) -> None:
    for path, flags in ((corpus, []), (tagged, ["--tags"])):
        packed = path.with_name(path.name + ".gz")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        for source in (path, packed):
            assert train(source, tmp_path / "v.kv", "--documents", *flags, "--quiet", "--force") == 0
        plain, found = (KeyedVectors.load(str(tmp_path / "v.kv")) for _ in range(2))
        np.testing.assert_array_equal(plain.vectors, found.vectors)


@pytest.mark.parametrize("name", ["v.txt", "v.bin", "v.kv"])
@pytest.mark.parametrize("flags", [[], ["--tags"]], ids=["lines", "tags"])
def test_files_of_vectors_have_those_of_documents(
    corpus: Path, tagged: Path, tmp_path: Path, name: str, flags: list[str]
) -> None:
    text = tagged if flags else corpus
    for output in ("model", name):
        assert train(text, tmp_path / output, "--documents", *flags, "--quiet") == 0
    model, path = TFDoc2Vec.load(str(tmp_path / "model")), str(tmp_path / name)
    if name == "v.kv":
        found = KeyedVectors.load(path)
    else:
        found = KeyedVectors.load_word2vec_format(path, binary=name == "v.bin")
    assert found.index_to_key == [str(tag) for tag in model.dv.index_to_key]
    for tag in model.dv.index_to_key:
        np.testing.assert_allclose(found[str(tag)], model.dv[tag], rtol=1e-6)


def test_neighbours_of_a_tag_are_tags(
    corpus: Path, tagged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text, flags, tag in ((corpus, [], "7"), (tagged, ["--tags"], "post7")):
        assert train(text, tmp_path / "model", "--documents", *flags, "--quiet", "--force") == 0
        model = TFDoc2Vec.load(str(tmp_path / "model"))
        assert run("neighbours", tmp_path / "model", tag, "--documents", "--topn", 3, "--json") == 0
        found = [each["word"] for each in json.loads(capsys.readouterr().out)[tag]]
        assert found == [str(near) for near, _ in model.dv.most_similar(tag if flags else int(tag), topn=3)]
    assert run("neighbours", tmp_path / "model", "post99", "--documents") == 1
    assert "tag 'post99' is not in model" in error_of(capsys)
    assert run("neighbours", tmp_path / "model", "post7") == 1
    assert "word 'post7' is not in model" in error_of(capsys)


def test_a_saved_model_is_trained_further_with_its_own_tags(
    tagged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tagged, tmp_path / "model", "--documents", "--tags", "--quiet") == 0
    more = tmp_path / "more.txt"
    more.write_text(tagged.read_text().splitlines()[0] + "\nnew\ta1 a2 a3\n")
    further = ["train", more, "--from", tmp_path / "model", "-o", tmp_path / "further", "--documents", "--tags"]
    assert run(*further, "--quiet", "--workers", 1) == 0
    before, after = (TFDoc2Vec.load(str(tmp_path / name)).dv for name in ("model", "further"))
    assert before.index_to_key == after.index_to_key
    moved = np.any(before.vectors != after.vectors, axis=1)
    assert [before.index_to_key[row] for row in np.flatnonzero(moved)] == TAGS[0].split()
    assert run(*further, "--force", "--quiet", "--dm", 0) == 2
    error = error_of(capsys)
    assert "--dm 0 does not go with --from" in error and "has 1; leave --dm out" in error


def test_a_finished_training_resumes_to_its_own_vectors(
    tagged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--documents", "--tags", "--checkpoint-dir", tmp_path / "checkpoints", "--quiet"]
    assert train(tagged, tmp_path / "one", *flags) == train(tagged, tmp_path / "two", *flags, "--resume") == 0
    one, two = (TFDoc2Vec.load(str(tmp_path / name)) for name in ("one", "two"))
    np.testing.assert_array_equal(one.dv.vectors, two.dv.vectors)
    assert train(tagged, tmp_path / "three", *flags, "--resume", "--dm", 0) == 2
    assert "dm is 0, and the training in" in error_of(capsys)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--dm", 0], "--dm is for --documents; leave it out"),
        (["--dbow-words", 1], "--dbow-words is for --documents; leave it out"),
        (["--tags"], "--tags is for --documents; leave it out"),
        (["--documents", "--sg"], "--sg does not go with --documents; leave it out"),
        (["--documents", "--subwords"], "--documents does not go with --subwords; leave one of them out"),
        (["--documents", "--edges"], "--documents does not go with --edges; leave one of them out"),
        (["--documents", "--dm-concat", 1, "--reproducible"], "reproducible=True does not go with dm_concat=1"),
        (["--documents", "--distribution", "partition"], "distribution='partition' does not go with documents"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(
    corpus: Path, tmp_path: Path, flags: list[Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(corpus, tmp_path / "model", *flags) == 2
    assert message in error_of(capsys)


def test_a_folder_or_a_table_has_no_documents(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "posts.txt").write_text("a b\n")
    assert train(folder, tmp_path / "model", "--documents") == 2
    assert "is a folder; documents come from one text with a document a line" in error_of(capsys)


@pytest.mark.parametrize(
    ("line", "message"),
    [("no tab", "line 3 has no tab"), (" \tno tag", "line 3 has no tag before its tab"), ("a\t\xff", "not UTF-8")],
)
def test_a_line_without_tags_is_named(
    tmp_path: Path, line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tagged.txt"
    path.write_bytes(b"one\ta b\n\n" + line.encode("latin-1") + b"\n")
    assert train(path, tmp_path / "model", "--documents", "--tags", "--quiet") == 1
    error = error_of(capsys)
    assert message in error
    assert str(path) in error


def test_commands_say_which_files_have_no_documents(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(corpus, tmp_path / "words", "--quiet") == train(corpus, tmp_path / "words.txt", "--quiet") == 0
    assert run("neighbours", tmp_path / "words", "a1", "--documents") == 2
    assert "is a Word2Vec, without vectors of documents; leave out --documents" in error_of(capsys)
    assert run("neighbours", tmp_path / "words.txt", "a1", "--documents") == 2
    assert "is a file of vectors (text), without vectors of documents; leave out --documents" in error_of(capsys)
    assert run("neighbours", tmp_path / "words", "a1", "--documents", "--safe") == 2
    assert "--documents needs a whole gensim model, which --safe refuses" in error_of(capsys)


def test_vectors_of_new_documents_are_those_that_the_model_infers(
    tagged: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tagged, tmp_path / "model", "--documents", "--tags", "--quiet") == 0
    infer = ["infer", tmp_path / "model", corpus, "--epochs", 3, "--alpha", 0.05]
    assert run(*infer, "--output", tmp_path / "new.txt") == 0
    assert "new.txt: 60 documents, 8 dimensions, in " in capsys.readouterr().out
    found = KeyedVectors.load_word2vec_format(str(tmp_path / "new.txt"))
    model = TFDoc2Vec.load(str(tmp_path / "model"))
    assert found.index_to_key == [str(number) for number in range(len(TEXT))]
    expected = model.infer_corpus(corpus_file=str(corpus), epochs=3, alpha=0.05)
    np.testing.assert_allclose(found.vectors, expected, rtol=1e-6)
    assert run(*infer, "--output", tmp_path / "new.txt") == 2
    assert "is there already; --force overwrites it" in error_of(capsys)


def test_new_documents_keep_their_first_tags(tagged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tagged, tmp_path / "model", "--documents", "--tags", "--quiet") == 0
    new = tmp_path / "new.txt"
    new.write_text("first a\ta1 a2\nsecond a\tb1 b2\n")
    infer = ["infer", tmp_path / "model", new, "--tags", "--quiet", "--output"]
    assert run(*infer, tmp_path / "new.kv") == 0
    assert KeyedVectors.load(str(tmp_path / "new.kv")).index_to_key == ["first", "second"]
    assert run("neighbours", tmp_path / "new.kv", "first") == 0
    assert "second" in capsys.readouterr().out
    assert run("infer", tmp_path / "model", tagged, "--tags", "-o", tmp_path / "other.kv") == 2
    assert "have the first tag 'a'; give each one of its own" in error_of(capsys)


@pytest.mark.parametrize(
    ("target", "file", "content"),
    [("hub", "README.md", "documents with vectors of 8"), ("pgvector", "load.sql", "posts (id integer"),
     ("qdrant", "points-000000.json", '"word": "post7"')],
)  # fmt: skip
def test_vectors_of_documents_are_written_for_other_programs(
    tagged: Path, tmp_path: Path, target: str, file: str, content: str
) -> None:
    assert train(tagged, tmp_path / "model", "--documents", "--tags", "--quiet") == 0
    flags = ["--for", target, "--quiet", *(["--table", "posts"] if target == "pgvector" else [])]
    assert run("export", tmp_path / "model", tmp_path / "folder", "--documents", *flags) == 0
    assert content in (tmp_path / "folder" / file).read_text()
    new = tmp_path / "new.txt"
    new.write_text("post7\ta1 a2\nothers\tb1 b2\n")
    assert run("infer", tmp_path / "model", new, "--tags", "-o", tmp_path / "new", *flags) == 0
    assert content in (tmp_path / "new" / file).read_text()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["-o", "new.csv"], "models are not written as .csv"),
        (["-o", "new.model"], "vectors can be written as text"),
        (["-o", "new.kv", "--table", "t"], "--table goes with --for pgvector, without it"),
        (["-o", "new", "--for", "qdrant", "--force"], "--force is for a file"),
        (["-o", ".", "--for", "qdrant"], "is there already; name a new one"),
        (["-o", "missing/new", "--for", "hub"], "missing' is not there; make it first"),
    ],
)
def test_an_output_that_infer_cannot_write_is_refused(
    corpus: Path, tmp_path: Path, flags: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model").write_text("no model")
    assert run("infer", tmp_path / "model", corpus, *flags) == 2
    assert message in error_of(capsys)


def test_a_model_of_words_infers_nothing(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(corpus, tmp_path / "words", "--quiet") == 0
    assert run("infer", tmp_path / "words", corpus, "-o", tmp_path / "new.kv") == 2
    assert "is no model with vectors of documents" in (error := error_of(capsys))
    assert "open it with TFWord2Vec.load" in error
    assert "`tfw2v train --documents --output posts.model` writes" in error
    assert run("infer", tmp_path / "missing", corpus, "-o", tmp_path / "new.kv") == 2
    assert "missing' is not there" in error_of(capsys)


def test_the_projector_shows_documents(tagged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = tmp_path / "logs"
    assert train(tagged, tmp_path / "model", "--documents", "--tags", "--logdir", logs, "--quiet") == 0
    dv = TFDoc2Vec.load(str(tmp_path / "model")).dv
    (run_of_log,) = [path.parent for path in logs.rglob("projector_config.pbtxt")]
    tensor = np.frombuffer((run_of_log / "projector" / "vectors-documents.bytes").read_bytes(), np.float32)
    np.testing.assert_array_equal(tensor.reshape(-1, 8), dv.vectors)
    assert run("projector", tmp_path / "model", "--documents", "--logdir", tmp_path / "shown") == 0
    assert "63 tags written" in capsys.readouterr().out
    for table in (
        run_of_log / "projector" / "vectors-documents-metadata.tsv",
        tmp_path / "shown/projector/vectors-metadata.tsv",
    ):
        heading, *rows = table.read_text().splitlines()
        assert heading == "tag\trank"
        assert [row.split("\t")[0] for row in rows] == dv.index_to_key

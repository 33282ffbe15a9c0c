"""`tfw2v evaluate` and `tfw2v neighbours`: what they open, print and refuse."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from gensim.utils import SaveLoad
from support.command_line import SENTENCES, error_of, run, save_as, write_corpus
from support.error_table import cases_under


@pytest.fixture(scope="module")
def gensim_model() -> Word2Vec:
    return Word2Vec([line.split() for line in SENTENCES], min_count=1, vector_size=8, workers=1)


@pytest.mark.parametrize("kind", ["model", "vectors", "text", "binary", "headless"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_neighbours_opens_every_format_and_agrees_with_gensim(
    gensim_model: Word2Vec, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, suffix: str
) -> None:
    path = save_as(gensim_model, tmp_path / f"saved{suffix}", kind)
    assert run("neighbours", path, "cat", "dog", "--topn", "3", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    for word in ("cat", "dog"):
        expected = gensim_model.wv.most_similar(word, topn=3)
        assert [entry["word"] for entry in found[word]] == [name for name, _ in expected]
        ours = [entry["similarity"] for entry in found[word]]
        assert ours == pytest.approx([similarity for _, similarity in expected], abs=1e-5)


def test_neighbours_adds_and_subtracts_words(
    gensim_model: Word2Vec, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save_as(gensim_model, tmp_path / "saved", "model")
    assert run("neighbours", path, "--positive", "cat", "log", "--negative", "dog", "--topn", "1") == 0
    expected = gensim_model.wv.most_similar(["cat", "log"], ["dog"], topn=1)[0][0]
    assert capsys.readouterr().out.split()[:-1] == ["cat", "+", "log", "-", "dog", expected]


def test_words_may_stand_behind_flags(
    gensim_model: Word2Vec, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save_as(gensim_model, tmp_path / "saved", "model")
    assert run("neighbours", path, "--topn", "1", "cat", "dog") == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line and line[0] != " "] == ["cat", "dog"]


def test_each_unknown_word_gets_a_line_with_near_spellings_and_the_others_are_answered(
    gensim_model: Word2Vec, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save_as(gensim_model, tmp_path / "saved", "model")
    assert run("neighbours", path, "Cat", "dog", "xylophone", "Cat", "--topn", "1") == 1
    output = capsys.readouterr()
    assert output.out.split()[:2] == ["dog", gensim_model.wv.most_similar("dog", topn=1)[0][0]]
    cat, xylophone = output.err.splitlines()
    assert cat.startswith(f"tfw2v: error: word 'Cat' is not in model {str(path)!r}; near spellings: 'cat', ")
    assert xylophone == f"tfw2v: error: word 'xylophone' is not in model {str(path)!r}"


def test_an_unknown_word_of_a_sum_leaves_the_sum_without_an_answer(
    gensim_model: Word2Vec, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save_as(gensim_model, tmp_path / "saved", "model")
    assert run("neighbours", path, "--positive", "cat", "--negative", "dgo") == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == f"tfw2v: error: word 'dgo' is not in model {str(path)!r}; near spellings: 'dog'\n"


def test_json_holds_the_known_words_alone(
    gensim_model: Word2Vec, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save_as(gensim_model, tmp_path / "saved", "model")
    assert run("neighbours", path, "cat", "unicorn", "--json") == 1
    output = capsys.readouterr()
    assert list(json.loads(output.out)) == ["cat"]
    assert output.err.count("\n") == 1
    assert run("neighbours", path, "unicorn", "--json") == 1
    assert json.loads(capsys.readouterr().out) == {}


def test_no_word_at_all_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("neighbours", tmp_path / "model") == 2
    assert "no WORD" in error_of(capsys)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80\x04garbage",
        b"hello world this is prose\n",
        b"3 4\nword 1 2\n",
        b"2 2\na 1 2\n",
        b"\xff\xfe\x00",
    ],
)
def test_a_file_that_is_no_model_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    (tmp_path / "odd.file").write_bytes(content)
    assert run("neighbours", tmp_path / "odd.file", "cat") == 2
    assert "odd.file" in error_of(capsys)


def test_a_pickle_of_something_else_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    SaveLoad().save(str(tmp_path / "odd"))
    assert run("evaluate", tmp_path / "odd") == 2
    assert "holds a SaveLoad, not word vectors" in error_of(capsys)


def test_keyed_vectors_whose_words_are_lost_are_one_line(scratch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vectors = KeyedVectors(2)
    vectors.index_to_key = None  # as where one bit of the name in the pickle has changed
    vectors.save("damaged.kv")
    assert run("neighbours", "damaged.kv", "cat") == 2
    assert "cannot read model 'damaged.kv'" in error_of(capsys)


def test_a_missing_array_file_is_named(
    gensim_model: Word2Vec, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gensim_model.wv.save(str(tmp_path / "saved"), sep_limit=1)
    (tmp_path / "saved.vectors.npy").unlink()
    assert run("neighbours", tmp_path / "saved", "cat") == 2
    assert "saved.vectors.npy" in error_of(capsys)


@pytest.mark.parametrize("command", ["evaluate", "neighbours"])
def test_a_missing_model_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert run(command, tmp_path / "nowhere", *(["cat"] if command == "neighbours" else [])) == 2
    assert "nowhere' is not there" in error_of(capsys)


REFUSED = cases_under("Model files of commands")


@pytest.mark.parametrize("command", REFUSED)
def test_a_command_says_what_is_wrong_with_a_file_as_in_the_table(
    gensim_model: Word2Vec, scratch: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    write_corpus(scratch)
    (scratch / "folder").mkdir()
    (scratch / "none.txt").write_text("0 4\n")
    saved = save_as(gensim_model, scratch / "saved.kv", "vectors")
    (scratch / "cut.kv").write_bytes(saved.read_bytes()[:-100])
    SaveLoad().save("pickle.kv")
    assert run(*shlex.split(command)[1:]) == 2
    message = error_of(capsys)
    assert [fragment for fragment in REFUSED[command] if fragment not in message] == [], message


@pytest.mark.parametrize("kind", ["text", "binary", "headless", "npz"])
def test_safe_opens_formats_without_code(
    gensim_model: Word2Vec, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    path = tmp_path / "saved"
    if kind == "npz":
        with path.open("wb") as file:
            np.savez(file, words=np.array(gensim_model.wv.index_to_key), vectors=gensim_model.wv.vectors)
    else:
        save_as(gensim_model, path, kind)
    assert run("neighbours", path, "cat", "--topn", "1", "--safe") == 0
    assert gensim_model.wv.most_similar("cat", topn=1)[0][0] in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["model", "vectors"])
@pytest.mark.parametrize("command", [["evaluate"], ["neighbours", "cat"], ["projector", "--logdir", "log"]])
def test_safe_refuses_pickles(
    gensim_model: Word2Vec, scratch: Path, capsys: pytest.CaptureFixture[str], kind: str, command: list[str]
) -> None:
    save_as(gensim_model, scratch / "saved.txt", kind)
    assert run(command[0], "saved.txt", *command[1:], "--safe") == 2
    assert "'saved.txt' are a pickle" in error_of(capsys)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["neighbours", "missing", "cat"], "'missing' is not there"),
        (["neighbours", "saved", "cat", "--format", "text"], "leave out --format"),
        (["projector", "saved", "--logdir", "log", "--output-vectors"], "leave one of them out"),
    ],
)
def test_safe_does_not_go_with_what_it_cannot_do(
    scratch: Path, capsys: pytest.CaptureFixture[str], command: list[str], reason: str
) -> None:
    assert run(*command, "--safe") == 2
    assert reason in error_of(capsys)


def write_pairs(path: Path) -> Path:
    path.write_text("cat\tdog\t9\nmat\tlog\t5\nthe\tmet\t1\ncat\tunicorn\t4\n")
    return path


def test_evaluate_prints_json_with_gensims_numbers(
    gensim_model: Word2Vec, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, pairs = save_as(gensim_model, tmp_path / "saved", "model"), write_pairs(tmp_path / "pairs.tsv")
    assert run("evaluate", path, "--pairs", pairs, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    pearson, spearman, unknown = gensim_model.wv.evaluate_word_pairs(str(pairs))
    (score,) = found["pairs"]
    assert (score["spearman"], score["pearson"]) == pytest.approx((spearman[0], pearson[0]), abs=1e-5)
    assert 100 * score["unknown_share"] == unknown
    assert found["analogies"] == []


def test_evaluate_prints_a_table_of_the_bundled_sets(
    gensim_model: Word2Vec, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("evaluate", save_as(gensim_model, tmp_path / "saved", "model")) == 0
    rows = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:-1]]
    assert rows == ["set", "wordsim353", "simlex999", "questions-words", "mean"]


def test_evaluate_names_the_sets_of_which_little_could_be_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["cat", "dog", "tiger", "lion"]
    model = Word2Vec([words] * 9, min_count=1, vector_size=8, epochs=1)
    (tmp_path / "known.tsv").write_text("cat\tdog\t9\nlion\ttiger\t8\ncat\tcar\t1\n")
    (tmp_path / "unknown.tsv").write_text("cat\tdog\t9\nlion\ttiger\t8\n" + "bus\tcar\t1\n" * 3)
    path = save_as(model, tmp_path / "model", "model")
    assert run("evaluate", path, "--pairs", tmp_path / "known.tsv", "--pairs", tmp_path / "unknown.tsv") == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("More than half of unknown")
    assert "known.tsv" not in last


def test_evaluate_shows_sections_on_demand(
    gensim_model: Word2Vec, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "questions.txt"
    questions.write_text(": furniture\ncat mat dog log\n: nothing known\na b c d\n")
    path = save_as(gensim_model, tmp_path / "saved", "text")
    assert run("evaluate", path, "--analogies", questions, "--sections") == 0
    out = capsys.readouterr().out
    assert "  furniture" in out
    assert "  nothing known" in out


@pytest.mark.parametrize("flag", ["--pairs", "--analogies"])
def test_a_missing_evaluation_file_is_named_with_its_flag(
    gensim_model: Word2Vec, tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str
) -> None:
    path = save_as(gensim_model, tmp_path / "saved", "model")
    assert run("evaluate", path, flag, tmp_path / "nowhere.tsv") == 2
    error = error_of(capsys)
    assert flag in error
    assert "nowhere.tsv' cannot be read" in error

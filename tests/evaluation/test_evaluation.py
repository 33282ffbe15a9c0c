"""Scores agree with gensim's own evaluation, and say what they could not score."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from gensim.test.utils import datapath

from gensim_tfw2v import tuning
from gensim_tfw2v.evaluation import score_vectors


def vectors_of(words: list[str], size: int = 12, seed: int = 0) -> KeyedVectors:
    keyed_vectors = KeyedVectors(size)
    vectors = np.random.default_rng(seed).standard_normal((len(words), size))
    keyed_vectors.add_vectors(words, vectors.astype("f4"))
    return keyed_vectors


def words_of(path: str, separator: str | None = None) -> list[str]:
    lines = Path(path).read_text(encoding="utf8").splitlines()
    rows = [line.split(separator) for line in lines if not line.startswith(("#", ":"))]
    return sorted({word for row in rows for word in row if not word[0].isdigit()})


def planted_grid(size: int = 8, count: int = 6) -> KeyedVectors:
    """Words r0c0 ... whose vectors are a row plus a column vector plus noise, so that most analogies hold."""
    random = np.random.default_rng(1)
    rows, columns = random.standard_normal((count, size)), random.standard_normal((count, size))
    keyed_vectors = KeyedVectors(size)
    names = [f"r{row}c{column}" for row in range(count) for column in range(count)]
    vectors = np.array([row + column for row in rows for column in columns])
    keyed_vectors.add_vectors(names, (vectors + 0.8 * random.standard_normal(vectors.shape)).astype("f4"))
    return keyed_vectors


def write_grid_questions(path: Path, count: int = 6) -> str:
    couples = [(a, b) for a in range(count) for b in range(count) if a != b]
    lines = [": rows", *(f"r0c{a} r1c{a} r0c{b} r1c{b}" for a, b in couples)]
    lines += [": columns", *(f"r{a}c0 r{a}c2 r{b}c0 r{b}c2" for a, b in couples)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize("name", ["wordsim353.tsv", "simlex999.txt"])
def test_pair_correlations_equal_gensims(name: str) -> None:
    vectors = vectors_of([*words_of(datapath(name), "\t")[::2], "unrelated"])
    (score,) = score_vectors(vectors, pairs=[datapath(name)], analogies=[]).pairs
    pearson, spearman, unknown_percent = vectors.evaluate_word_pairs(datapath(name))
    assert score.spearman == pytest.approx(spearman[0], abs=1e-6)
    assert score.pearson == pytest.approx(pearson[0], abs=1e-6)
    assert 100 * score.unknown_share == pytest.approx(unknown_percent)


def test_pair_correlations_equal_gensims_when_case_matters_and_the_vocabulary_is_restricted() -> None:
    path = datapath("wordsim353.tsv")
    words = words_of(path, "\t")
    vectors = vectors_of([word.upper() for word in words[:60] if word.islower()] + words)
    (score,) = score_vectors(vectors, [path], [], restrict_vocabulary=300, case_insensitive=False).pairs
    pearson, spearman, unknown = vectors.evaluate_word_pairs(path, restrict_vocab=300, case_insensitive=False)
    assert (score.spearman, score.pearson) == pytest.approx((spearman[0], pearson[0]), abs=1e-6)
    assert 0 < 100 * score.unknown_share == pytest.approx(unknown)


def test_of_several_spellings_of_a_word_the_first_in_the_vocabulary_counts_as_in_gensim() -> None:
    path = datapath("wordsim353.tsv")
    words = words_of(path, "\t")
    vectors = vectors_of(words + [word.upper() for word in words if word.islower()])
    (score,) = score_vectors(vectors, [path], []).pairs
    assert score.spearman == pytest.approx(vectors.evaluate_word_pairs(path)[1][0], abs=1e-6)


def test_analogy_sections_equal_gensims_on_a_planted_grid(tmp_path: Path) -> None:
    vectors, path = planted_grid(), write_grid_questions(tmp_path / "grid.txt")
    (score,) = score_vectors(vectors, pairs=[], analogies=[path]).analogies
    accuracy, sections = vectors.evaluate_word_analogies(path)
    assert score.accuracy == accuracy
    assert 0 < accuracy < 1
    ours = [(section.name, section.correct, section.known) for section in score.sections]
    assert ours == [
        (section["section"], len(section["correct"]), len(section["correct"]) + len(section["incorrect"]))
        for section in sections[:-1]
    ]


def test_analogies_equal_gensims_when_words_occur_in_several_spellings(tmp_path: Path) -> None:
    grid, path = planted_grid(), write_grid_questions(tmp_path / "grid.txt")
    spellings = [word.upper() for word in grid.index_to_key]
    near = grid.vectors + 0.1 * np.random.default_rng(5).standard_normal(grid.vectors.shape).astype("f4")
    grid.add_vectors(spellings, near)
    (score,) = score_vectors(grid, pairs=[], analogies=[path]).analogies
    assert score.accuracy == grid.evaluate_word_analogies(path)[0] > 0


def test_analogies_answered_in_small_portions_give_the_same_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, path = planted_grid(), write_grid_questions(tmp_path / "grid.txt")
    whole = score_vectors(vectors, [], [path])
    monkeypatch.setattr(tuning, "SIMILARITIES_AT_ONCE", 100)
    assert score_vectors(vectors, [], [path]) == whole


def test_questions_with_unknown_words_are_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_text(": s\nr0c0 r1c0 r0c1 r1c1\nr0c0 r1c0 r0c1 nowhere\ntoo few words\n")
    (score,) = score_vectors(planted_grid(), [], [str(path)]).analogies
    assert (score.known, score.total, score.unknown_share) == (1, 2, 0.5)


def test_the_mean_is_that_of_the_percentages_of_all_sets(tmp_path: Path) -> None:
    vectors = planted_grid()
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("r0c0\tr0c1\t9\nr0c0\tr5c5\t1\nr2c0\tr2c1\t5\n")
    scores = score_vectors(vectors, [str(pairs)], [write_grid_questions(tmp_path / "q.txt")])
    assert scores.mean == pytest.approx(50 * (scores.pairs[0].spearman + scores.analogies[0].accuracy))


def test_without_any_known_word_scores_and_mean_are_missing() -> None:
    scores = score_vectors(vectors_of(["zzz"]))
    assert scores.mean is None
    assert [score.spearman for score in scores.pairs] == [None, None]
    assert [score.unknown_share for score in scores.pairs] == [1, 1]
    assert scores.analogies[0].accuracy is None


def test_equal_vectors_have_no_correlation(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("a\tb\t1\nb\tc\t2\na\tc\t3\n")
    vectors = KeyedVectors(4)
    vectors.add_vectors(["a", "b", "c"], np.ones((3, 4), dtype="f4"))
    assert score_vectors(vectors, [str(path)], []).pairs[0].spearman is None


def test_the_bundled_sets_are_scored_by_default() -> None:
    scores = score_vectors(vectors_of(["king", "queen", "man", "woman"]))
    assert [score.name for score in scores.pairs] == ["wordsim353", "simlex999"]
    assert [score.name for score in scores.analogies] == ["questions-words"]
    assert (scores.pairs[0].total, scores.pairs[1].total, scores.analogies[0].total) == (353, 999, 19544)


def test_scores_survive_json() -> None:
    scores = score_vectors(vectors_of(words_of(datapath("wordsim353.tsv"), "\t")))
    assert json.loads(json.dumps(scores.as_dict(), allow_nan=False)) == scores.as_dict()


def test_vectors_are_left_as_they_were(tmp_path: Path) -> None:
    vectors = planted_grid()
    before, index = vectors.vectors.copy(), dict(vectors.key_to_index)
    score_vectors(vectors, analogies=[write_grid_questions(tmp_path / "q.txt")])
    assert np.array_equal(vectors.vectors, before)
    assert vectors.key_to_index == index


def test_a_pair_file_without_a_valid_line_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "spaces.txt"
    path.write_text("love sex 6.77\n")
    with pytest.raises(ValueError, match=r"spaces\.txt.*TAB"):
        score_vectors(vectors_of(["love", "sex"]), [str(path)], [])


def test_an_analogy_before_the_first_heading_is_an_error_that_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "questions.txt"
    path.write_text("a b c d\n")
    with pytest.raises(ValueError, match=r"questions\.txt.*line 1.*section"):
        score_vectors(vectors_of(["a", "b"]), [], [str(path)])


def test_an_empty_analogy_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.write_text("")
    with pytest.raises(ValueError, match=r"empty\.txt.*four words"):
        score_vectors(vectors_of(["a", "b"]), [], [str(path)])


@pytest.mark.parametrize("case_insensitive", [True, False])
def test_words_that_are_numbers_are_found_by_their_digits(tmp_path: Path, case_insensitive: bool) -> None:
    vectors = vectors_of([3, 5, 8])  # type: ignore[list-item]
    (tmp_path / "pairs.tsv").write_text("3\t5\t1\n5\t8\t2\n3\t8\t3\n")
    pairs = [str(tmp_path / "pairs.tsv")]
    (score,) = score_vectors(vectors, pairs, analogies=[], case_insensitive=case_insensitive).pairs
    assert score.known == 3

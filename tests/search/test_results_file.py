"""The file of a search's trainings: what was written is read again, and what does not belong there is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from gensim_tfw2v.search.results import ResultsFile, Trial

SEARCH = {"metric": "hits@10", "seed": 1, "corpus": "aa", "validation": "bb"}
FIRST, SECOND = (Trial({"window": window, "sample": 0.001}, 3, 0.1 * window, 1.5) for window in (5, 10))


def written(path: Path) -> Path:
    file = ResultsFile(path, SEARCH)
    file.add(FIRST)
    file.add(SECOND)
    return path


def test_a_training_is_found_by_its_settings_and_epochs(tmp_path: Path) -> None:
    file = ResultsFile(written(tmp_path / "results"), SEARCH)
    assert file.find({"sample": 0.001, "window": 10}, 3) == SECOND
    assert file.find({"sample": 0.001, "window": 10}, 9) is None
    assert file.find({"sample": 0.001, "window": 20}, 3) is None


def test_a_failed_training_is_kept(tmp_path: Path) -> None:
    failed = Trial({"alpha": 9.0}, 3, None, 0.1)
    ResultsFile(tmp_path / "results", SEARCH).add(failed)
    assert ResultsFile(tmp_path / "results", SEARCH).find({"alpha": 9.0}, 3) == failed


def test_without_a_path_trainings_are_known_in_memory() -> None:
    file = ResultsFile(None, SEARCH)
    file.add(FIRST)
    assert file.find(FIRST.settings, 3) == FIRST


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_line_that_was_cut_off_is_dropped_and_written_again(cut: int, tmp_path: Path) -> None:
    path = written(tmp_path / "results")
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    file = ResultsFile(path, SEARCH)
    assert file.find(FIRST.settings, 3) == FIRST
    assert file.find(SECOND.settings, 3) is None
    file.add(SECOND)
    assert path.read_bytes() == whole


@pytest.mark.parametrize(("name", "value"), [("metric", "ndcg@10"), ("seed", 2), ("corpus", "cc")])
def test_a_file_of_another_search_is_refused(name: str, value: object, tmp_path: Path) -> None:
    path = written(tmp_path / "results")
    with pytest.raises(ValueError, match=rf"results '.*results' belongs to another search, whose {name} was"):
        ResultsFile(path, SEARCH | {name: value})


@pytest.mark.parametrize("content", ["the cat sat\n", "{}\n", "[1]\n", "the cat"])
def test_another_file_is_refused_and_stays_as_it_is(content: str, tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"results '.*corpus\.txt' is no file of results"):
        ResultsFile(path, SEARCH)
    assert path.read_text() == content


@pytest.mark.parametrize(
    "line",
    [
        "",
        "the cat",
        "[" * 9000,
        '{"settings": {}}',
        '{"settings": [], "epochs": 1, "value": 1, "seconds": 1}',
        '{"settings": {}, "epochs": 1.5, "value": 1, "seconds": 1}',
        '{"settings": {}, "epochs": 1, "value": "high", "seconds": 1}',
        '{"settings": {}, "epochs": 1, "value": NaN, "seconds": 1}',
    ],
)
def test_a_damaged_line_is_named(line: str, tmp_path: Path) -> None:
    path = written(tmp_path / "results")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], line, *lines[2:]]) + "\n")
    with pytest.raises(ValueError, match="is damaged in line 2"):
        ResultsFile(path, SEARCH)

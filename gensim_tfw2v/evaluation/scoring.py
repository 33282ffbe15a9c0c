"""Word vectors → scores on human similarity judgements and on analogies. They equal gensim's and take less time.

Matrix products answer many analogies at a time, while gensim answers them one by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arguments.rules import check_keyed_vectors
from gensim_tfw2v.evaluation.scores import AnalogyScore, PairScore, Scores, SectionScore
from gensim_tfw2v.evaluation.unit_vectors import of_length_1

# gensim's limit: rarer words count as unknown.
RESTRICT_VOCABULARY = 300_000
# gensim's number of nearest words among which it looks for one that is not in the question.
CANDIDATES = 5


def bundled_pairs() -> list[str]:
    """Return the paths of the word-similarity sets in gensim's wheel: wordsim353 and simlex999."""
    from gensim.test.utils import datapath

    return [datapath("wordsim353.tsv"), datapath("simlex999.txt")]


def bundled_analogies() -> list[str]:
    """Return the paths of the analogy sets in gensim's wheel: questions-words."""
    from gensim.test.utils import datapath

    return [datapath("questions-words.txt")]


def score_vectors(
    keyed_vectors: Any,
    pairs: Sequence[str] | None = None,
    analogies: Sequence[str] | None = None,
    *,
    restrict_vocabulary: int = RESTRICT_VOCABULARY,
    case_insensitive: bool = True,
) -> Scores:
    """Score word vectors on files of word pairs and of analogies; ValueError for a file without a valid line.

    Parameters
    ----------
    keyed_vectors : gensim.models.KeyedVectors
        The vectors, for instance ``model.wv``.
    pairs : sequence of str, optional
        Files of lines "word TAB word TAB number". None means gensim's sets, an empty list no set.
    analogies : sequence of str, optional
        Files of lines of four words under headings ": section". None means gensim's set, an empty list no set.
    restrict_vocabulary : int
        Only this many first words of the vocabulary are known.
    case_insensitive : bool
        Compare words in upper case. If several words are equal then, the first in the vocabulary is used.

    Returns
    -------
    Scores
        One entry for each file. `mean` is the mean of all Spearman correlations and analogy accuracies, times 100.

    Examples
    --------
    >>> from gensim_tfw2v import Word2Vec, score_vectors
    >>> model = Word2Vec(corpus_file="corpus.txt", epochs=1)
    >>> scores = score_vectors(model.wv, analogies=[])
    >>> [found.name for found in scores.pairs]
    ['wordsim353', 'simlex999']
    """
    check_keyed_vectors("score_vectors", keyed_vectors)
    known = _KnownWords.of(keyed_vectors, restrict_vocabulary, case_insensitive)
    pairs = bundled_pairs() if pairs is None else pairs
    analogies = bundled_analogies() if analogies is None else analogies
    return Scores(
        pairs=tuple(_score_pairs(known, path) for path in pairs),
        analogies=tuple(_score_analogies(known, path) for path in analogies),
    )


def check_pairs(path: str) -> None:
    """Raise OSError or ValueError if this is not a file of word pairs to score on."""
    _score_pairs(_KnownWords.none(), path)


def check_analogies(path: str) -> None:
    """Raise OSError or ValueError if this is not a file of analogies to score on."""
    _score_analogies(_KnownWords.none(), path)


@dataclass(frozen=True)
class _KnownWords:
    """The words that have a vector and may be in questions: their unit vectors, names and rows."""

    unit_vectors: np.ndarray
    names: list[str]
    rows: dict[str, int]
    case_insensitive: bool

    @classmethod
    def of(cls, keyed_vectors: Any, restrict_vocabulary: int, case_insensitive: bool) -> _KnownWords:
        words = [str(word) for word in keyed_vectors.index_to_key[:restrict_vocabulary]]  # words may be numbers
        names = [word.upper() for word in words] if case_insensitive else words
        rows = {names[row]: row for row in range(len(names) - 1, -1, -1)}
        vectors = np.asarray(keyed_vectors.vectors[: len(words)], dtype=np.float32)
        return cls(of_length_1(vectors), names, rows, case_insensitive)

    @classmethod
    def none(cls) -> _KnownWords:
        return cls(np.zeros((0, 1), np.float32), [], {}, case_insensitive=False)

    def fold(self, text: str) -> str:
        return text.upper() if self.case_insensitive else text


def _score_pairs(known: _KnownWords, path: str) -> PairScore:
    total, rows, human = 0, [], []
    for first, second, judgement in read_pairs(path):
        total += 1
        row, other = known.rows.get(known.fold(first)), known.rows.get(known.fold(second))
        if row is not None and other is not None:
            rows.append((row, other))
            human.append(judgement)
    if not total:
        raise ValueError(f"{path!r} holds no line of the form 'word TAB word TAB number'")
    spearman = pearson = None
    if len(rows) > 1:
        left, right = np.array(rows).T
        ours = np.einsum("ij,ij->i", known.unit_vectors[left], known.unit_vectors[right])
        spearman, pearson = _correlations(human, ours)
    return PairScore(Path(path).stem, str(path), spearman, pearson, len(rows), total)


@contextmanager
def _lines_of(path: str) -> Iterator[Iterator[str]]:
    """Yield the lines of a file; raise ValueError naming it if they are not UTF-8 text."""
    from gensim import utils

    with utils.open(path, encoding="utf8") as lines:
        try:
            yield lines
        except UnicodeDecodeError as error:
            raise ValueError(f"{path!r} is not UTF-8 text: {error}") from error


def read_pairs(path: str) -> Iterator[tuple[str, str, float]]:
    """Yield the valid lines of a file of word pairs; skip comments and malformed lines, as gensim does."""
    with _lines_of(path) as lines:
        for line in lines:
            fields = line.split("\t")
            if line.startswith("#") or len(fields) != 3:
                continue
            try:
                yield fields[0], fields[1], float(fields[2])
            except ValueError:
                continue


def _correlations(human: list[float], ours: np.ndarray) -> tuple[float | None, float | None]:
    """Return Spearman's and Pearson's correlation, None for both if one side does not vary."""
    from scipy import stats

    if np.ptp(human) == 0 or np.ptp(ours) == 0:
        return None, None
    values = float(stats.spearmanr(human, ours)[0]), float(stats.pearsonr(human, ours)[0])
    spearman, pearson = (value if math.isfinite(value) else None for value in values)
    return spearman, pearson


@dataclass
class _Section:
    """The questions of one section: how many there are, and the rows of those whose words are all known."""

    name: str
    total: int = 0
    questions: list[list[int]] = field(default_factory=list)


def _score_analogies(known: _KnownWords, path: str) -> AnalogyScore:
    sections = _read_analogies(known, path)
    if not any(section.total for section in sections):
        raise ValueError(f"{path!r} holds no line of four words")
    questions = [rows for section in sections for rows in section.questions]
    correct = _answer(known, np.array(questions, dtype=np.int64).reshape(-1, 4))
    scores, start = [], 0
    for section in sections:
        asked = len(section.questions)
        right = int(correct[start : start + asked].sum())
        scores.append(SectionScore(section.name, right, asked, section.total))
        start += asked
    return AnalogyScore(Path(path).stem, str(path), tuple(scores))


def _read_analogies(known: _KnownWords, path: str) -> list[_Section]:
    sections: list[_Section] = []
    with _lines_of(path) as lines:
        for number, line in enumerate(lines, start=1):
            words = known.fold(line).split()
            if line.startswith(": "):
                sections.append(_Section(line.lstrip(": ").strip()))
            elif not sections:
                raise ValueError(f"{path!r}, line {number}: there must be a heading ': section' first")
            elif len(words) == 4:
                sections[-1].total += 1
                rows = [known.rows[word] for word in words if word in known.rows]
                if len(rows) == 4:
                    sections[-1].questions.append(rows)
    return sections


def _answer(known: _KnownWords, questions: np.ndarray) -> np.ndarray:
    """Return whether the word nearest b - a + c is the expected one, for questions of rows (a, b, c, expected)."""
    correct = np.zeros(len(questions), dtype=bool)
    at_once = max(1, tuning.SIMILARITIES_AT_ONCE // max(1, len(known.names)))
    for start in range(0, len(questions), at_once):
        batch = questions[start : start + at_once]
        a, b, c = (known.unit_vectors[batch[:, column]] for column in range(3))
        similarities = (b + c - a) @ known.unit_vectors.T
        np.put_along_axis(similarities, batch[:, :3], -np.inf, axis=1)
        for offset, (rows, nearest) in enumerate(zip(batch, _nearest(similarities), strict=True)):
            correct[start + offset] = _predict(known, rows, nearest) == known.names[rows[3]]
    return correct


def _nearest(similarities: np.ndarray) -> np.ndarray:
    """Return the columns of the largest values in each row, largest first."""
    count = min(CANDIDATES, similarities.shape[1])
    candidates = np.argpartition(similarities, -count, axis=1)[:, -count:]
    order = np.argsort(-np.take_along_axis(similarities, candidates, axis=1), axis=1)
    return np.take_along_axis(candidates, order, axis=1)


def _predict(known: _KnownWords, rows: np.ndarray, nearest: np.ndarray) -> str | None:
    """Return the first candidate that is not a spelling of a word of the question, or None if all are."""
    asked = {known.names[row] for row in rows[:3]}
    return next((known.names[row] for row in nearest if known.names[row] not in asked), None)

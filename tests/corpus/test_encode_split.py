"""A corpus is split into what is trained and what is held out: each part is what encoding its own text gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gensim_tfw2v import encode_corpus
from gensim_tfw2v.corpus.encode import encode_split
from gensim_tfw2v.corpus.shards import EncodedCorpus, Span

SENTENCES = [[f"w{word}" for word in np.random.default_rng(line).integers(0, 40, 1 + line % 9)] for line in range(400)]


def write(path: Path, sentences: list[list[str]]) -> Path:
    path.write_text("".join(" ".join(sentence) + "\n" for sentence in sentences))
    return path


def sentences_of(corpus: EncodedCorpus) -> list[list[str]]:
    """Return the sentences of a corpus of one shard."""
    words = list(corpus.counts())
    ((size,),) = [corpus.shards]
    reader = corpus.reader({word: number for number, word in enumerate(words)})
    return list(reader.read(Span(0, 0, size.words, 0, size.sentences)).as_lists(words))


def split(folder: Path, held_out: float = 0.2, trained: float = 1.0, seed: int = 1) -> list[EncodedCorpus]:
    folder.mkdir()
    return list(encode_split(write(folder / "corpus.txt", SENTENCES), folder, held_out, trained, seed))


def test_each_part_has_the_files_of_its_own_text(tmp_path: Path) -> None:
    for number, part in enumerate(split(tmp_path / "split")):
        text = write(tmp_path / f"{number}.txt", sentences_of(part))
        alone = encode_corpus(text, tmp_path / f"alone-{number}")
        assert part.fingerprint == alone.fingerprint
        for file in alone.folder.iterdir():
            assert (part.folder / file.name).read_bytes() == file.read_bytes()


def test_every_sentence_is_in_one_part_and_in_the_order_of_the_text(tmp_path: Path) -> None:
    trained, held_out = map(sentences_of, split(tmp_path / "split"))
    assert sorted(trained + held_out) == sorted(SENTENCES)
    left = iter(trained)
    others = [sentence for sentence in SENTENCES if sentence not in held_out]
    assert all(any(sentence == found for found in left) for sentence in others)
    assert len(held_out) / len(SENTENCES) == pytest.approx(0.2, abs=0.06)


def test_a_share_of_the_trained_sentences_leaves_the_held_out_ones_as_they_are(tmp_path: Path) -> None:
    trained, held_out = map(sentences_of, split(tmp_path / "whole"))
    some, same = map(sentences_of, split(tmp_path / "share", trained=0.5))
    assert same == held_out
    assert len(some) / len(trained) == pytest.approx(0.5, abs=0.08)
    assert all(sentence in trained for sentence in some)


def test_the_seed_decides_which_sentences_are_held_out(tmp_path: Path) -> None:
    first, again, other = (
        sentences_of(split(tmp_path / name, seed=seed)[1]) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert first == again != other


def test_a_share_without_a_sentence_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"a share of 1e-06 of the 400 sentences of corpus .*corpus\.txt' selects no sentence"
    ):
        split(tmp_path / "split", held_out=1e-6)

"""Sentences with documents → blocks in which tokens are trained by the vectors of their documents' tags.

With distributed memory (`dm`), a document's vectors are further contexts of each of its tokens. With `dm_concat`, they
are concatenated with those of the contexts. With a distributed bag of words (`dbow`), a token has no contexts, and each
of the document's vectors predicts it alone. So does each word of its window if words are trained beside documents: a
pair of words is then a token of the block, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.arrays import Float32Array, Int32Array, aligned_empty, consecutive
from gensim_tfw2v.blocks.bags import Bags, distinct_ids
from gensim_tfw2v.blocks.batches import Block, BlockMaker, Windows, draw_windows, pad_to, paths_of, weights_of
from gensim_tfw2v.corpus.sentences import DocumentTags, Sentences
from gensim_tfw2v.native.random_numbers import RandomNumbers

_NO_DOCUMENT = -1


@dataclass(frozen=True, kw_only=True)
class DocumentBlockMaker(BlockMaker):
    """Makes blocks of sentences with documents, for distributed memory."""

    tag_count: int
    """How many tags have a vector."""
    first_row: int
    """The input row of the first tag."""
    runs_apart: bool = False
    """Whether runs that follow each other are in different batches, where a batch moves the rows of a document once."""

    def make(self, sentences: Sentences, random: RandomNumbers) -> Block | None:
        block = super().make(sentences, random)
        return _with_runs_apart(block) if block is not None and self.runs_apart else block

    def _block(self, kept: Sentences, random: RandomNumbers) -> Block | None:
        block = super()._block(kept, random)
        if block is None:
            return None
        numbers, tags = tags_of(kept)
        bags = Bags(tags.indices + np.int32(self.first_row), tags.offsets)
        documents = _of_tokens(np.repeat(numbers, kept.lengths), block.left.shape)
        return _counted(replace(block, bags=bags, documents=documents, unique_rows=self._unique_rows(tags)))

    def _unique_rows(self, tags: DocumentTags) -> Int32Array:
        """Return the input rows of tags that no other document has."""
        rows: Int32Array = tags.indices[tags.are_unique] + np.int32(self.first_row)
        return rows


@dataclass(frozen=True, kw_only=True)
class ConcatenationBlockMaker(DocumentBlockMaker):
    """Makes blocks in which the vectors of a document and of a window are concatenated.

    The last member of a block's bags is the null word, which stands for places beyond the ends of a document.
    """

    tags_of_each: int
    """The tags that a document must have; others are left out."""
    null_word: int

    def _block(self, kept: Sentences, random: RandomNumbers) -> Block | None:
        numbers, tags = tags_of(kept)
        kept = kept.whole(np.diff(tags.offsets)[numbers] == self.tags_of_each)
        block = super()._block(kept, random) if kept.ids.size else None
        if block is None or block.bags is None:
            return None
        members = np.append(block.bags.members, self.null_word).astype(np.int64)
        return replace(block, bags=Bags.joined(members, np.append(block.bags.offsets, len(members))))


@dataclass(frozen=True, kw_only=True)
class BagOfWordsBlockMaker(DocumentBlockMaker):
    """Makes blocks of pairs, of a document's or a word's vector and a word that it predicts."""

    pairs_words: bool
    """Whether words predict the words in their windows, too."""

    def _block(self, kept: Sentences, random: RandomNumbers) -> Block | None:
        pairs = self._document_pairs(kept)
        if self.pairs_words:
            pairs = _by_sentence(pairs, self._word_pairs(kept, random))
        if not len(pairs.targets):
            return None
        grid = (*self.shape.cut(len(pairs.targets)), self.shape.run_tokens)
        weights = None if pairs.weights is None else weights_of(pairs.weights, grid)
        numbers, rows = distinct_ids(pairs.rows.astype(np.int32), self.first_row + self.tag_count)
        documents = _of_tokens(numbers, grid)
        none = np.zeros(grid, np.int32)
        targets = pairs.targets.astype(np.int32)
        block = Block(
            left=none,
            right=none,
            input_ids=np.zeros((*grid[:2], grid[2] + 2), np.int32),  # which nothing reads without contexts
            candidate_ids=self._draw_negatives(grid, random),
            target_ids=None if self.negatives is None else pad_to(targets, grid),
            tree=None if self.tree is None else paths_of(targets, self.tree, grid, window=1),
            window=1,
            tokens=kept.ids.size,
            pairs=np.zeros(grid[0]),
            weights=weights,
            bags=Bags(rows, np.arange(len(rows) + 1, dtype=np.int32)),  # of a row each
            documents=documents,
            unique_rows=self._unique_rows(tags_of(kept)[1]),
        )
        return _counted(block)

    def _document_pairs(self, kept: Sentences) -> _Pairs:
        """Return the pairs of tags and words: a sentence comes once for each tag of its document."""
        numbers, tags = tags_of(kept)
        lists = Bags(tags.indices, tags.offsets).some(numbers)
        sentences = np.repeat(np.arange(len(lists)), lists.sizes)
        repeated = kept if (lists.sizes == 1).all() else kept.at(sentences)
        of_words = np.repeat(np.arange(len(sentences)), repeated.lengths)
        weights = None if repeated.weights is None else repeated.weights[of_words]
        return _Pairs(sentences[of_words], lists.members[of_words] + self.first_row, repeated.ids, weights)

    def _word_pairs(self, kept: Sentences, random: RandomNumbers) -> _Pairs:
        """Return the pairs of words and the words in their windows."""
        left, right, _ = draw_windows(kept, (1, 1, kept.ids.size), self.window, self.windows is Windows.DRAWN, random)
        before, counts = left.ravel(), (left + right).ravel()
        centers = np.repeat(np.arange(kept.ids.size), counts)
        places = consecutive(0, counts)
        places += places >= before[centers]  # the center itself is no context
        sentences = np.repeat(np.arange(kept.lengths.size), kept.lengths)[centers]
        weights = None if kept.weights is None else kept.weights[sentences]
        return _Pairs(sentences, kept.ids[centers], kept.ids[centers - before[centers] + places], weights)


def tags_of(sentences: Sentences) -> tuple[Int32Array, DocumentTags]:
    """Return the number of each sentence's document, and the tags of these; raise ValueError if there are none."""
    if sentences.documents is None or sentences.tags is None:
        raise ValueError("sentences have no documents, and the model trains vectors of documents")
    return sentences.documents, sentences.tags


@dataclass(frozen=True)
class _Pairs:
    """Pairs of an input row and the word that it predicts."""

    sentences: npt.NDArray[np.integer]  # ascending
    rows: npt.NDArray[np.integer]
    targets: npt.NDArray[np.integer]
    weights: Float32Array | None


def _by_sentence(first: _Pairs, second: _Pairs) -> _Pairs:
    """Return all pairs, sentence by sentence, so that the learning rate falls for both kinds of them alike."""
    sentences = np.concatenate([first.sentences, second.sentences])
    order = np.argsort(sentences, kind="stable")
    weights = None
    if first.weights is not None and second.weights is not None:
        weights = np.concatenate([first.weights, second.weights])[order]
    return _Pairs(
        sentences[order],
        np.concatenate([first.rows, second.rows])[order],
        np.concatenate([first.targets, second.targets])[order],
        weights,
    )


def _of_tokens(numbers: npt.NDArray[np.integer], grid: tuple[int, ...]) -> Int32Array:
    """Return the numbers of tokens in the shape of a grid, whose padding has no document."""
    documents = aligned_empty(grid, np.int32)
    flat = documents.reshape(-1)
    flat[: len(numbers)] = numbers
    flat[len(numbers) :] = _NO_DOCUMENT
    return documents


def _counted(block: Block) -> Block:
    """Return the block with how many tokens of each batch are trained; those of weight w count as w."""
    assert block.bags is not None and block.documents is not None
    has_rows = block.documents != _NO_DOCUMENT
    if not (sizes := block.bags.sizes).all():
        has_rows &= sizes[block.documents] > 0
    is_trained = (block.left + block.right > 0) | has_rows
    of_tokens = is_trained if block.weights is None else is_trained * block.weights
    return replace(block, pairs=np.asarray(of_tokens.sum(axis=(1, 2), dtype=np.float64)))


def _with_runs_apart(block: Block) -> Block:
    """Return the block with its runs dealt out to its batches, one after the other."""

    def dealt(values: Any) -> Any:
        if values is None:
            return None
        found = aligned_empty(values.shape, values.dtype)
        batches, runs = values.shape[:2]
        found[:] = values.reshape(runs, batches, -1).swapaxes(0, 1)
        return found

    names = ("left", "right", "input_ids", "target_ids", "weights", "documents")  # negatives belong to no run
    tree = None if block.tree is None else replace(block.tree, words=dealt(block.tree.words))
    return _counted(replace(block, tree=tree, **{name: dealt(getattr(block, name)) for name in names}))

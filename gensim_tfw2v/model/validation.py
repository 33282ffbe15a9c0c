"""A model's arguments `validation` and `early_stopping` → the validation of a training; the same values at any time."""

from __future__ import annotations

import functools
from collections.abc import Sequence, Sized
from typing import Any

import numpy as np
from gensim.models import Word2Vec

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.blocks.next_words import next_words
from gensim_tfw2v.blocks.sampling import NegativeSampler
from gensim_tfw2v.blocks.validation_pairs import PairSettings, ValidationPairs, document_pairs, validation_pairs
from gensim_tfw2v.corpus.chunks import Pieces
from gensim_tfw2v.corpus.documents import TagLists
from gensim_tfw2v.corpus.fixed_draws import key_of
from gensim_tfw2v.corpus.hold_out import HoldOut, WordHoldOut
from gensim_tfw2v.corpus.sentence_sample import SentenceSample
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.sources import Source
from gensim_tfw2v.model.choices import entropy_of
from gensim_tfw2v.model.corpus_reading import Corpus, CorpusReader
from gensim_tfw2v.model.input_parts import input_parts
from gensim_tfw2v.model.subwords import word_bags
from gensim_tfw2v.model.tables import matrix_of
from gensim_tfw2v.training.early_stopping import LOSS, EarlyStopping
from gensim_tfw2v.training.measures import NextWordScores, ValidationLoss
from gensim_tfw2v.training.state import Beginning, ValidationState
from gensim_tfw2v.training.validation import Validation

_HELD_OUT, _SAMPLE = 0x686F6C64, 0x736E7473  # purposes of random numbers
_CHUNK_WORDS = 2**16  # raw words of the validation corpus that are looked up at a time


def hold_out_for(validation: Any, entropy: Sequence[int], of_words: bool = False) -> HoldOut | None:
    """Return which sentences, or words of documents, are held out; the seed alone decides, so that trainings agree."""
    if not isinstance(validation, float):
        return None
    return (WordHoldOut if of_words else HoldOut)(validation, key_of(entropy, _HELD_OUT))


def validation_for(
    model: Word2Vec,
    validation: Any,
    early_stopping: EarlyStopping | None,
    source: Source,
    entropy: Sequence[int],
    beginning: Beginning,
    tags: TagLists | None = None,
) -> Validation:
    """Return the validation of a training that has this source, which is read if it has the sentences.

    `tags` are those of the source's documents. Raise ValueError if the sentences have no pair, or if a resumed training
    began with other ones.
    """
    before = None if beginning.state is None else beginning.state.validation
    if beginning.state is not None and (before is None) != (validation is None):
        began = "without" if before is None else "with"
        raise _other_sentences(validation, f"and the training began {began} one")
    if validation is None:
        return Validation()
    if tags is None:
        sample = _Sample(entropy)
        if isinstance(validation, float):
            source.hold_out(sample.take)
        else:
            _read(model, validation, sample)
        sentences = sample.sentences()
        pairs = validation_pairs(sentences, _pair_settings(model), entropy)
        missing = f"its {sample.count} sentences have no two words of the vocabulary in one window; give more sentences"
    else:
        sample = of_documents = _DocumentSample(entropy, validation)
        of_documents.read(model, validation, source, tags)
        sentences = sample.sentences()
        pairs = of_documents.pairs(model, sentences, tags, entropy)
        missing = "no word of the vocabulary is in it, in a document whose tags have vectors; give more documents"
    if not len(pairs):
        raise ValueError(f"validation is {_shown(validation)}, and {missing}")
    loss = _loss_of(model, pairs)
    if before is not None and before.checksum != loss.checksum:
        raise _other_sentences(validation, "whose sentences differ from those with which the training began")
    state = ValidationState(
        share=validation if isinstance(validation, float) else None,
        path=validation if isinstance(validation, str) else None,
        checksum=loss.checksum,
        sentences=sample.count,
        words=sample.words,
        metric=model.validation_metric,
        patience=None if early_stopping is None else int(early_stopping.patience),
        min_delta=0.0 if early_stopping is None else float(early_stopping.min_delta),
        every=model.validation_every,
        values={} if before is None else before.values,
        points=[] if before is None else before.points,
    )
    return Validation(loss, state, beginning.checkpoint, _next_words(model, sentences, entropy))


def validation_sentences(model: Word2Vec, validation: Any) -> Sentences:
    """Return the known words of validation sentences, or of as many as a training measures, drawn by the seed."""
    sample = _Sample(entropy_of(model))
    _read(model, validation, sample)
    return sample.sentences()


def measured_now(model: Word2Vec, validation: Any, metric: str) -> float:
    """Return a metric of a model's vectors on a file or an iterable, as `train()` measures it after an epoch."""
    entropy, sentences = entropy_of(model), validation_sentences(model, validation)

    matrix = functools.cache(functools.partial(matrix_of, model))

    def read(table: str, first: int, end: int) -> Float32Array:
        return np.asarray(matrix(table)[first:end])

    if metric == LOSS:
        pairs = validation_pairs(sentences, _pair_settings(model), entropy)
        _check_any(pairs, validation, sentences)
        return _loss_of(model, pairs).mean_loss(read)
    words = next_words(sentences, model.window, len(model.wv), entropy)
    _check_any(words, validation, sentences)
    return NextWordScores(words, len(model.wv), model.vector_size, word_bags(model)).measure(read)[metric]


def _loss_of(model: Word2Vec, pairs: ValidationPairs) -> ValidationLoss:
    return ValidationLoss(pairs, model.vector_size, bool(model.sg or model.cbow_mean), word_bags(model))


def _check_any(found: Sized, validation: Any, sentences: Sentences) -> None:
    if not len(found):
        raise ValueError(
            f"validation is {_shown(validation)}, and none of its {sentences.lengths.size} sentences has two words of "
            "the vocabulary; give more sentences"
        )


def _other_sentences(validation: Any, reason: str) -> ValueError:
    return ValueError(f"validation is {_shown(validation)}, {reason}; it can be resumed only with the same sentences")


def _next_words(model: Word2Vec, sentences: Sentences, entropy: Sequence[int]) -> NextWordScores | None:
    if model.validation_metric == LOSS:
        return None
    words = len(model.wv)
    following = next_words(sentences, model.window, words, entropy)
    return NextWordScores(following, words, model.vector_size, word_bags(model))


class _Sample(SentenceSample):
    """A sample of the known words of sentences, and how many sentences and raw words there were."""

    def __init__(self, entropy: Sequence[int]) -> None:
        super().__init__(tuning.VALIDATION_WORDS, key_of(entropy, _SAMPLE))
        self.count = self.words = 0

    def take(self, pieces: Pieces) -> None:
        self.add_known(pieces.sentences.known_words(), int(pieces.begun.sum()), pieces.words)

    def add_known(self, known: Sentences, sentences: int, words: int) -> None:
        self.add(known)
        self.count += sentences
        self.words += words


class _DocumentSample(_Sample):
    """A sample of the known words of documents, of which a share or all are to be predicted."""

    def __init__(self, entropy: Sequence[int], validation: Any) -> None:
        super().__init__(entropy)
        self._is_share = isinstance(validation, float)
        self._held_out = WordHoldOut(validation if self._is_share else 1.0, key_of(entropy, _HELD_OUT))

    def take(self, pieces: Pieces) -> None:
        documents = pieces.sentences
        self.add(documents.known_words())
        self.count += 0 if self._is_share else int(pieces.begun.sum())  # no whole document is held out
        self.words += int(self._held_out.chosen_words(documents).sum()) if self._is_share else pieces.words

    def read(self, model: Word2Vec, validation: Any, source: Source, tags: TagLists) -> None:
        """Take the documents of a training's source, if a share of their words is held out, or others."""
        if self._is_share:
            source.hold_out(self.take)
            return
        with CorpusReader().source(
            model, _corpus_of(validation), _CHUNK_WORDS, 0, is_read_again=False, held_out=self._held_out, tags=tags
        ) as others:
            others.hold_out(self.take)

    def pairs(self, model: Word2Vec, documents: Sentences, tags: TagLists, entropy: Sequence[int]) -> ValidationPairs:
        """Return the pairs of the sample's documents."""
        is_target, first_row = self._held_out.chosen_words(documents), input_parts(model)[0].size
        return document_pairs(tags.with_tags(documents), is_target, first_row, _pair_settings(model), entropy)


def _corpus_of(validation: Any) -> Corpus:
    return Corpus(None, validation) if isinstance(validation, str) else Corpus(validation, None)


def _read(model: Word2Vec, validation: Any, sample: _Sample) -> None:
    with CorpusReader().source(model, _corpus_of(validation), _CHUNK_WORDS, 0, is_read_again=False) as source:
        for chunk in source.epoch():
            content = chunk.content
            if not isinstance(content, Sentences):
                assert source.reader is not None
                content = source.reader.read(content)
            sample.add_known(content, chunk.sentences, chunk.raw_words)


def _pair_settings(model: Word2Vec) -> PairSettings:
    return PairSettings(
        skip_gram=bool(model.sg),
        window=model.window,
        negative=model.negative,
        sampler=NegativeSampler(model.cum_table) if model.negative else None,
        tree=HuffmanTree.of(model.wv) if model.hs else None,
    )


def _shown(validation: Any) -> str:
    """Return a value of the argument as a text of bounded length."""
    return repr(validation) if isinstance(validation, float | str | None) else f"a {type(validation).__name__}"

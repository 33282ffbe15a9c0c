"""What blocks side by side change of documents' tags, beside words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.example_blocks import SETTINGS, WORDS, maker_from, work_on

from gensim_tfw2v.blocks.batches import Block
from gensim_tfw2v.blocks.document_blocks import BagOfWordsBlockMaker, DocumentBlockMaker
from gensim_tfw2v.blocks.making_side_by_side import prepare_side_by_side
from gensim_tfw2v.corpus.sentences import DocumentTags, Sentences
from gensim_tfw2v.placement.averaging.round_block import OWN_BLOCK
from gensim_tfw2v.placement.tasks.assignment import Assignment
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.steps.concurrent_updates import moment_weights, strengths_by_row
from gensim_tfw2v.steps.row_sharing import NOT_SHARED
from gensim_tfw2v.steps.settings import StepSettings
from gensim_tfw2v.tuning import SLOPES


def block_of_documents(dm: bool) -> tuple[Block, StepSettings]:
    """Return a block of six documents; tag 1 is in each of the first three, and of tag 3 nothing else is known."""
    fields = vars(maker_from(0)) | {"skip_gram": False, "tag_count": 6, "first_row": WORDS}
    maker = DocumentBlockMaker(**fields) if dm else BagOfWordsBlockMaker(**fields, pairs_words=True)
    unique = np.array([True, False, False, False, True, False])
    tags = DocumentTags(np.array([0, 1, 1, 1, 2, 3], np.int32), np.array([0, 2, 3, 4, 5, 6, 6], np.int32), unique)
    content = replace(work_on(0).content, documents=np.arange(6, dtype=np.int32), tags=tags)
    prepared = prepare_side_by_side(maker, replace(work_on(0), content=content), 1)
    assert prepared is not None
    return prepared.block, replace(SETTINGS, skip_gram=False, documents=True)


@pytest.mark.parametrize("dm", [True, False])
def test_tags_are_trained_as_contexts_and_no_other_block_trains_those_of_one_document(dm: bool) -> None:
    block, settings = block_of_documents(dm)
    inputs, _, _ = strengths_by_row(block, WORDS + 6, settings)
    of_pair = SLOPES[0] * (1 + SETTINGS.negative)
    words, tags = inputs[:WORDS] / of_pair, inputs[WORDS:] / of_pair
    np.testing.assert_allclose(tags, [0, 30, 0, 10, 0, 0], rtol=1e-5, atol=1e-9)
    assert (inputs[WORDS:] > 0).tolist() == [True, True, True, True, False, False]
    contexts = (block.left + block.right).sum() if dm else (block.documents >= 0).sum() - 60
    assert words.sum() == pytest.approx(contexts, rel=1e-5)


def test_outputs_are_trained_against_means_of_words_and_tags() -> None:
    block, settings = block_of_documents(dm=True)
    contexts = 1 / moment_weights(block, settings)[0]
    tokens = np.count_nonzero(block.left + block.right + (block.documents >= 0))
    assert contexts == pytest.approx(((block.left + block.right).sum() + 60) / tokens, rel=1e-5)
    single, settings = block_of_documents(dm=False)
    assert moment_weights(single, settings).tolist() == [1, 0]


def test_a_worker_of_averaging_trains_rows_of_all_tables_though_there_are_fewer_tags_than_words() -> None:
    fields = vars(maker_from(0)) | {"skip_gram": False, "tag_count": 2, "first_row": 1}
    tags = DocumentTags(np.array([0, 1], np.int32), np.arange(3, dtype=np.int32), np.zeros(2, bool))
    content = Sentences(np.array([WORDS - 3] * 4, np.int32), np.array([2, 2], np.int32), None, np.arange(2), tags)
    model = WorkerModel(
        replace(SETTINGS, skip_gram=False, documents=True),
        BagOfWordsBlockMaker(**fields, pairs_words=False),
        WORDS,
        0,
        np.ones(1, np.float32),
        input_rows=3,
    )
    content = replace(content, documents=np.arange(2, dtype=np.int32))
    assignment = Assignment(0, 1, 2, NOT_SHARED, replace(work_on(0), content=content))
    trained = OWN_BLOCK.make(model, assignment, np.zeros(0)).extra.trained
    inputs, outputs, _ = np.split(trained.rows, np.cumsum(trained.counts)[:-1])
    assert inputs.tolist() == [1, 2]
    assert outputs.tolist()[-1] == WORDS - 3

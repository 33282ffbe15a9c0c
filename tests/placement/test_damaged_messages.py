"""Messages between tasks that are damaged or do not fit: the table in tests/data/errors.md, row by row."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.error_table import cases_under
from support.example_blocks import SETTINGS, WORDS, maker_from, work_on

from gensim_tfw2v.blocks.chunk_task import ChunkTask
from gensim_tfw2v.blocks.document_blocks import DocumentBlockMaker
from gensim_tfw2v.cluster.connection import description_in
from gensim_tfw2v.cluster.errors import ClusterError, TaskError
from gensim_tfw2v.cluster.task import Task
from gensim_tfw2v.corpus.sentences import DocumentTags, Sentences
from gensim_tfw2v.placement.server_rows.staging import STAGED_BLOCK
from gensim_tfw2v.placement.tasks.assignment import Assignment
from gensim_tfw2v.placement.tasks.block_factory import BlockFactory
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.placement.tasks.codec import decode, encode, message
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.steps.row_sharing import NOT_SHARED, RowSharing
from gensim_tfw2v.steps.settings import StepSettings

MODEL = WorkerModel(SETTINGS, maker_from(0), WORDS, WORDS - 1, np.ones(1, np.float32))
TASK = work_on(0)


def assignment(task: ChunkTask = TASK, shards: int = 1, sharing: RowSharing = NOT_SHARED) -> Assignment:
    """Return an assignment of a block to a worker."""
    return Assignment(7, shards, 1, sharing, task)


def read(head: Any) -> Assignment:
    """Read an assignment in a message with this head, which fits its checksum."""
    return decode(Assignment, message(head if isinstance(head, bytes) else json.dumps(head).encode(), []))


def with_field(name: str, value: Any) -> Any:
    """Return the head of a message in which a field of the assignment has another value."""
    return {"Assignment": {**dict.fromkeys(("lease_key", "shards", "concurrent_blocks"), 1), name: value}}


def make_block(sent: Assignment, settings: StepSettings = SETTINGS, model: WorkerModel = MODEL) -> Any:
    """Have a worker make the block of an assignment."""
    factory = BlockFactory()
    factory.register_model(b"model", encode(replace(model, settings=settings)))
    return factory.made(STAGED_BLOCK, b"model", encode(sent))


def block_of(ids: list[int], lengths: list[int]) -> Any:
    """Have a worker make the block of some sentences."""
    sentences = Sentences(np.array(ids, np.int32), np.array(lengths, np.int32))
    return make_block(assignment(replace(TASK, content=sentences)))


def weighted_block_of(weights: list[float], weighted: bool = True, dtype: type = np.float32) -> Any:
    """Have a worker make the block of two sentences with these weights."""
    sentences = Sentences(np.zeros(4, np.int32), np.full(2, 2, np.int32), np.array(weights, dtype))
    return make_block(assignment(replace(TASK, content=sentences)), replace(SETTINGS, weighted=weighted))


def documents_of(documents: list[int] | None, indices: list[int]) -> Any:
    """Have a worker make the block of two sentences, given their documents, which have a tag each."""
    tags = DocumentTags(np.array(indices, np.int32), np.arange(3, dtype=np.int32), np.zeros(2, bool))
    numbers = None if documents is None else np.array(documents, np.int32)
    sentences = Sentences(np.zeros(4, np.int32), np.full(2, 2, np.int32), None, numbers, tags)
    maker = DocumentBlockMaker(**vars(maker_from(0)) | {"skip_gram": False, "tag_count": 3, "first_row": WORDS})
    settings = replace(SETTINGS, skip_gram=False, documents=True)
    model = replace(MODEL, maker=maker, settings=settings, input_rows=WORDS + 3)
    return make_block(assignment(replace(TASK, content=sentences)), settings, model)


def with_changed_bit() -> Assignment:
    """Read an assignment of which one bit has changed on the way."""
    sent = encode(assignment()).copy()
    sent[-1] ^= 1
    return decode(Assignment, sent)


def report_of(changed: float) -> BlockReport:
    """Read a report whose first number, of tokens, is another one."""
    numbers = np.ones(next(size for size in range(1, 200) if is_report(size)))
    numbers[0] = changed
    return BlockReport.from_array(numbers, 2)


def is_report(size: int) -> bool:
    """Return whether so many numbers make a report of two servers."""
    try:
        BlockReport.from_array(np.ones(size), 2)
    except ValueError:
        return False
    return True


CASES: dict[str, Callable[[], Any]] = {
    "a bit has changed": with_changed_bit,
    "less than 16 bytes have arrived": lambda: decode(Assignment, encode(assignment())[:9]),
    "its head is no JSON": lambda: read(b"no JSON"),
    "it holds no object": lambda: read(5),
    "it holds an object of another class": lambda: read({"WorkerModel": {}}),
    "a field is missing": lambda: read({"Assignment": {}}),
    "a field is unknown": lambda: read({"Assignment": {"other": 5}}),
    "an array does not hold numbers": lambda: read(with_field("shards", {"array": ["|O8", 1]})),
    "an array is larger than the message": lambda: read(with_field("shards", {"array": ["<i4", 9]})),
    "sentences have ids of no word": lambda: block_of([0, WORDS], [2]),
    "sentences have more words than have arrived": lambda: block_of([1, 2], [3]),
    "sentences have weights that the model does not have": lambda: weighted_block_of([1, 1], weighted=False),
    "sentences have no weights where the model has them": lambda: make_block(
        assignment(), replace(SETTINGS, weighted=True)
    ),
    "there are not as many weights as sentences": lambda: weighted_block_of([1]),
    "weights are of another type": lambda: weighted_block_of([1, 1], dtype=np.float64),
    "a weight is negative": lambda: weighted_block_of([1, -1]),
    "a weight is not a number": lambda: weighted_block_of([float("nan"), 1]),
    "a model of documents gets sentences without tags": lambda: documents_of(None, [0, 1]),
    "documents have tags that the model lacks": lambda: documents_of([0, 1], [0, 3]),
    "a sentence is of a document that has not arrived": lambda: documents_of([0, 2], [0, 1]),
    "no server has a shard": lambda: make_block(assignment(shards=0)),
    "no core is to train a block": lambda: make_block(replace(assignment(), cores=0)),
    "more rows are shared than a table has": lambda: make_block(assignment(sharing=RowSharing(WORDS))),
    "no block can be made of it": lambda: make_block(assignment(replace(TASK, entropy=(-1,)))),
    "a name is not UTF-8": lambda: Task().end_lease(b"\xff"),
    "a lease names no list of tables": lambda: Task().open_lease(b"lease", b"5"),
    "a task describes itself in other words": lambda: description_in(b"{}", "ps 0"),
    "a report is too short": lambda: BlockReport.from_array(np.zeros(5), 2),
    "a report counts less than nothing": lambda: report_of(-1.0),
}
ROWS = cases_under("Messages between a cluster's tasks")


def test_every_row_of_the_table_has_a_case() -> None:
    assert list(ROWS) == list(CASES)


@pytest.mark.parametrize("case", CASES)
def test_a_message_gets_the_error_of_the_table(case: str) -> None:
    with pytest.raises((TaskError, ClusterError, ValueError)) as caught:
        CASES[case]()
    found = str(caught.value)
    assert [fragment for fragment in ROWS[case] if fragment not in found] == [], found
    assert "\n" not in found


def test_documents_that_fit_are_made_a_block() -> None:
    assert documents_of([1, 0], [0, 2])


def test_a_report_that_is_whole_is_read() -> None:
    assert report_of(3.0).tokens == 3

"""One case of each operation in vectors of each size."""

from __future__ import annotations

from gensim_tfw2v.blocks.batches import Windows
from gensim_tfw2v.steps.kernel import compiled_kernel
from support.one_score import METHODS, SCORES, check_one_score
from support.operation_inputs import SIZES
from support.operation_rows import check_added_rows, check_read_and_written_rows
from support.training_examples import Case, check_training

SOME_CASES = {
    "skip-gram, both": Case(skip_gram=True, tree=True),
    "CBOW, negatives": Case(skip_gram=False, windows=Windows.MEAN, mean=False),
    "CBOW, both": Case(skip_gram=False, tree=True, even=True),
}


def check_every_operation() -> None:
    """Check one case of each operation in vectors of each size."""
    for size in SIZES:
        check_read_and_written_rows(compiled_kernel(), size)
        for number_type in ("float32", "bfloat16"):
            check_added_rows(compiled_kernel(), size, number_type)
        for case in SOME_CASES.values():
            for adagrad in (False, True):
                check_training(case._replace(size=size, adagrad=adagrad, weighted=adagrad, tokens=40))
    for score in SCORES:
        for method in METHODS:
            check_one_score(score, 0, method)
        check_one_score(score, 1, "node")

"""One case of each operation in vectors of each size."""

from __future__ import annotations

from support.operation_cbow import cbow, check_cbow
from support.operation_contexts import check_moved_contexts, check_summed_contexts, some_contexts
from support.operation_even_contexts import (
    check_moved_even_contexts,
    check_summed_even_contexts,
    some_even_contexts,
)
from support.operation_huffman import check_huffman_paths, check_one_score, huffman_paths
from support.operation_inputs import BATCH, SIZES, some_token_weights
from support.operation_rows import check_added_rows, check_gathered_rows, check_moved_rows, check_read_and_written_rows
from support.operation_skip_gram import check_skip_gram, skip_gram


def check_every_operation() -> None:
    """Check one case of each operation in vectors of each size."""
    for size in SIZES:
        check_read_and_written_rows(size)
        for number_type in ("float32", "bfloat16"):
            check_added_rows(size, number_type)
        for adagrad in (False, True):
            check_training_operations(size, adagrad)
    for code in (0, 1):
        for score in (-1e30, 0.0, 20.0, 79.0, 1e30):
            check_one_score(score, code)


def check_training_operations(size: int, adagrad: bool) -> None:
    """Check one case of each operation that trains, on rows with Adagrad's states or without."""
    contexts = some_contexts()
    for number_type in ("float32", "bfloat16"):
        check_gathered_rows(size, BATCH, number_type, adagrad)
        check_moved_rows(size, number_type, adagrad=adagrad)
    check_summed_contexts(size, contexts, adagrad)
    check_moved_contexts(size, contexts, adagrad=adagrad)
    check_summed_even_contexts(size, some_even_contexts(), adagrad)
    check_moved_even_contexts(size, some_even_contexts(mean=False), adagrad=adagrad)
    check_skip_gram(skip_gram(size, adagrad=adagrad))
    weights = some_token_weights(3, 6)
    check_cbow(cbow(size, adagrad=adagrad))
    check_cbow(cbow(size, adagrad=adagrad, token_weights=weights))
    for every_context in (True, False):
        for own in ({}, {"token_weights": weights}):
            check_huffman_paths(huffman_paths(size, every_context, hot_nodes=4, adagrad=adagrad, **own))

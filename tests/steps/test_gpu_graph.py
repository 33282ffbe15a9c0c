"""TensorFlow has a GPU's version of every operation of the plain step, and waits for the GPU only where it must.

TensorFlow for CPUs lists the operations of GPUs as well, so this needs no GPU. It runs none of them.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from measuring.graph_operations import gpu_versions_of, launches_a_batch, launches_of_draws, nodes_of
from support.objectives import CBOW_TREE_WITH_ADAGRAD, SKIP_GRAM

from gensim_tfw2v.steps.kernel import plain_kernel, plain_kernel_of_gpu
from gensim_tfw2v.steps.signature import Objective

INT32, INT64 = 3, 9  # TensorFlow's numbers of these types
WEIGHTED = replace(SKIP_GRAM, weighted=True)
OBJECTIVES = {
    "skip-gram": SKIP_GRAM,
    "weighted skip-gram": WEIGHTED,
    "wide skip-gram with bfloat16": Objective(True, True, False, True, True, bfloat16_products=True),
    "skip-gram, tree": Objective(True, False, True, True, False),
    "CBOW": Objective(False, True, False, True, True),
    "wide CBOW": Objective(False, True, False, False, True, even_contexts=True),
    "CBOW, tree, Adagrad": CBOW_TREE_WITH_ADAGRAD,
}


@pytest.mark.slow
@pytest.mark.parametrize("draws", [False, True], ids=["given block", "drawn block"])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_gpu_has_every_operation_of_the_plain_step(name: str, draws: bool) -> None:
    nodes = list(nodes_of(OBJECTIVES[name], plain_kernel_of_gpu(), draws))
    assert len(nodes) > 100
    assert {node.op for node in nodes if not gpu_versions_of(node)} == set()


@pytest.mark.slow
def test_a_gpu_draws_a_block_with_few_operations_and_no_number_of_32_bits_for_each_word() -> None:
    """TensorFlow would compute with whole numbers of 32 bits on the CPU."""
    kernel = plain_kernel_of_gpu()
    assert 40 < launches_of_draws(WEIGHTED, kernel) < 200
    nodes = list(nodes_of(WEIGHTED, kernel, draws=True))
    for operation, attribute in (("Range", "Tidx"), ("GatherV2", "Tindices"), ("LowerBound", "out_type")):
        types = [node.attr[attribute].type for node in nodes if node.op == operation]
        assert INT64 in types
        if operation == "LowerBound":
            assert set(types) == {INT64}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["skip-gram", "wide CBOW"])
def test_ids_of_rows_stay_on_the_gpu(name: str) -> None:
    """TensorFlow would compute with 32 bits on the CPU."""
    with_ids = {"Unique": "T", "ResourceGather": "Tindices", "ResourceScatterAdd": "Tindices"}
    types = {
        kernel.id_type: {
            node.attr[with_ids[node.op]].type for node in nodes_of(OBJECTIVES[name], kernel) if node.op in with_ids
        }
        for kernel in (plain_kernel(), plain_kernel_of_gpu())
    }
    assert types == {"int32": {INT32}, "int64": {INT64}}


@pytest.mark.slow
def test_ids_of_64_bits_start_work_on_the_gpu_that_32_bits_leave_to_the_cpu() -> None:
    assert 40 < launches_a_batch(SKIP_GRAM, plain_kernel()) < launches_a_batch(SKIP_GRAM, plain_kernel_of_gpu()) < 400

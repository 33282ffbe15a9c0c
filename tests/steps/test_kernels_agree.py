"""Both kernels train blocks of usual sizes to the same tables and metrics, up to rounding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.example_blocks import SETTINGS

from gensim_tfw2v.blocks.batches import BatchShape, BlockMaker, Windows
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.blocks.huffman import build_huffman_tree
from gensim_tfw2v.blocks.sampling import NegativeSampler, cumulative_table
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.local.placement import LocalPlacement
from gensim_tfw2v.steps.kernel import Kernel, compiled_kernel, plain_kernel
from gensim_tfw2v.steps.settings import ADAGRAD, SGD, StepSettings

WORDS, SIZE, TOKENS = 2_000, 50, 1_500
SHAPES = {
    "skip-gram, negatives": (True, 5, BatchShape(512, 32, 22), Windows.MEAN),
    "CBOW, negatives": (False, 5, BatchShape(512, 32, 16), Windows.MEAN),
    "skip-gram, tree": (True, 0, BatchShape(256, 16, 1), Windows.DRAWN),
    "CBOW, tree": (False, 0, BatchShape(256, 64, 1), Windows.DRAWN),
}


def trained(
    kernel: Kernel, settings: StepSettings, maker: BlockMaker, task: ChunkTask
) -> tuple[ModelTables, TrainedChunk]:
    """Return random tables after a block, and what training it has returned."""
    rng = np.random.default_rng(0)
    tables = [rng.normal(0, 0.2, (WORDS, SIZE + settings.have_states)).astype(np.float32) for _ in range(3)]
    if settings.have_states:
        for table in tables:
            table[:, -1] = 1.0
    inputs, outputs, nodes = tables
    found = ModelTables(
        inputs, outputs if settings.negative else None, nodes if maker.tree else None, np.ones(1, np.float32)
    )
    placement = LocalPlacement(settings, maker, steps=kernel)
    placement.load(found)
    chunk = placement.train_chunk(task)
    placement.read_into(found)
    placement.close()
    return found, chunk


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", [SGD, ADAGRAD])
@pytest.mark.parametrize("name", SHAPES)
def test_a_block_comes_to_the_same_with_both_kernels(name: str, optimizer: str) -> None:
    skip_gram, negative, shape, windows = SHAPES[name]
    counts = (10_000 / np.arange(1, WORDS + 1)).astype(np.int64) + 1
    maker = BlockMaker(
        skip_gram=skip_gram,
        window=5,
        windows=windows,
        shape=shape,
        keep=None,
        negatives=NegativeSampler(cumulative_table(counts, 0.75, 2**31 - 1)) if negative else None,
        tree=None if negative else build_huffman_tree(counts, np.arange(WORDS)),
    )
    settings = replace(
        SETTINGS,
        skip_gram=skip_gram,
        window=5,
        run_tokens=shape.run_tokens,
        negative=negative,
        shared_negatives=shape.shared_negatives,
        hierarchical_softmax=not negative,
        mean_windows=windows is Windows.MEAN,
        max_step=0.1,
        optimizer=optimizer,
    )
    rng = np.random.default_rng(1)
    ids = (np.minimum(rng.zipf(1.2, TOKENS), WORDS) - 1).astype(np.int32)
    task = ChunkTask(Sentences(ids, np.full(TOKENS // 30, 30, np.int32)), (1,), 0.05, 0.05, exact_loss=True)
    (compiled, chunk), (plain, other) = (
        trained(kernel, settings, maker, task) for kernel in (compiled_kernel(), plain_kernel())
    )
    for table, values in compiled.present().items():
        np.testing.assert_allclose(plain.present()[table], values, rtol=1e-4, atol=2e-5, err_msg=table)
    np.testing.assert_allclose(other.batches.losses, chunk.batches.losses, rtol=1e-4)
    for ours, theirs in zip(other.batches[1:], chunk.batches[1:], strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2)  # a step may be as long as the limit, up to rounding

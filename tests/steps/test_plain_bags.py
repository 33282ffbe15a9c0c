"""The plain step trains bags of rows and documents as plain loops over NumPy arrays do, batch by batch."""

from __future__ import annotations

import numpy as np
import pytest
from support.training_examples import TOLERANCE, WITH_BAGS, Case, Example, check_tables, make_example

from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.kernel import plain_kernel
from gensim_tfw2v.steps.signature import Bags, BlockTensors, HuffmanPaths, Objective, Rates, Tables

tf = load_tensorflow()
USUAL = ("skip-gram", "documents tree")  # each needs a graph, which takes seconds


def train(example: Example) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Train a block by the plain step; return the tables and the metrics."""
    case, given = example.case, example.arguments
    none, no_steps = np.zeros((0, 0, 0), np.int32), np.zeros(0, np.int32)
    variables = {
        name: tf.Variable(given.get(name, np.zeros((1, 1), np.float32)), trainable=False) for name in Tables._fields
    }
    paths = [given.get(name, no_steps) for name in ("path_nodes", "codes", "offsets")]
    block = BlockTensors(
        left=given["left"],
        right=given["right"],
        inputs=given["input_ids"],
        candidates=given.get("candidates", none),
        targets=given.get("targets", none),
        tree=HuffmanPaths(given.get("words", none), *paths),
        window=given["window"],
        weights=given.get("weights", np.zeros((0, 0, 0), np.float32)),
        bags=Bags(given["bag_members"], given["bag_offsets"]),
        documents=given.get("token_documents", none),
    )
    objective = Objective(
        skip_gram=case.skip_gram,
        negative_sampling=case.negative > 0,
        hierarchical_softmax=case.tree,
        mean_context=case.mean,
        mask_accidental_hits=case.mask_hits,
        even_contexts=case.even,
        weighted=case.weighted,
        adagrad=case.adagrad,
        freezes_inputs=case.freeze == "inputs",
        freezes_outputs=case.freeze == "outputs",
        bags=case.bags,
        documents=case.documents,
    )
    rates = Rates(**{name: given[name] for name in Rates._fields})
    handles = Tables(*(variables[name].handle for name in Tables._fields))

    @tf.function(autograph=False)
    def run() -> object:
        tensors = tf.nest.map_structure(tf.convert_to_tensor, (block, rates, given["span"]))
        return plain_kernel().train(objective, handles, *tensors)

    metrics = np.array([metric.numpy() for metric in run()])
    return {name: variables[name].numpy() for name in variables if name in given}, metrics


def is_usual(name: str, freeze: str | None) -> bool:
    """Return whether a case is trained without --all."""
    return name == "documents and bags" or (name in USUAL and freeze is None)


CASES = [
    pytest.param(name, freeze, marks=[] if is_usual(name, freeze) else pytest.mark.slow)
    for name in WITH_BAGS
    if "alone" not in name  # the plain step treats these as others
    for freeze in (None, "inputs", "outputs")
]


@pytest.mark.parametrize(("name", "freeze"), CASES)
@pytest.mark.parametrize("adagrad", [False, True], ids=["sgd", "adagrad"])
def test_rows_of_bags_move_as_plain_loops_do(name: str, freeze: str | None, adagrad: bool) -> None:
    limited = {"max_step": 0.3, "locks": (0.0, 1.0, 0.25)} if freeze is None else {}
    check_training(WITH_BAGS[name]._replace(adagrad=adagrad, freeze=freeze, weighted=True, **limited))


def check_training(case: Case) -> None:
    """Check the tables and the metrics that the plain step comes to."""
    example = make_example(case)
    expected, metrics = example.untrained(), []
    expected.in_runs = False
    for batch, rate in zip(example.batches, example.arguments["learning_rates"], strict=True):
        loss = expected.train(batch, float(rate), example.words)
        metrics.append((loss, expected.clipped_rows))
    if expected.closest_call < 10 * TOLERANCE:  # by rounding, the node might move or not
        return check_training(case._replace(seed=case.seed + 1))
    tables, found = train(example)
    check_tables(tables, expected)
    # Its second metric also counts rows of tokens without contexts, as for inputs that are rows.
    np.testing.assert_allclose(found[[0, 2]], np.array(metrics).T, rtol=1e-4)

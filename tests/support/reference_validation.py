"""The validation loss in the plainest terms: a pair at a time, in float64. It shares no code with the package."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Pair = tuple[list[int], int]
"""The words whose input vectors make the hidden vector, and the word to predict."""


def every_pair(sentences: Sequence[Sequence[int]], window: int, skip_gram: bool) -> list[Pair]:
    """Return all pairs of sentences of known words, with whole windows."""
    pairs: list[Pair] = []
    for sentence in sentences:
        for place, word in enumerate(sentence):
            contexts = [*sentence[max(0, place - window) : place], *sentence[place + 1 : place + 1 + window]]
            if skip_gram:
                pairs.extend(([word], context) for context in contexts)
            elif contexts:
                pairs.append((contexts, word))
    return pairs


def loss_of(
    pair: Pair,
    negatives: Sequence[int],
    paths: Sequence[Sequence[tuple[int, int]]] | None,
    inputs: np.ndarray,
    outputs: np.ndarray | None,
    nodes: np.ndarray | None,
    mean: bool = True,
) -> float:
    """Return the loss of a pair with its negatives, with its Huffman path, or with both."""
    contexts, target = pair
    hidden = sum(inputs[context].astype(np.float64) for context in contexts)
    if mean:
        hidden = hidden / len(contexts)
    loss = 0.0
    if outputs is not None:
        loss += np.log1p(np.exp(-(outputs[target] @ hidden)))
        loss += sum(np.log1p(np.exp(outputs[word] @ hidden)) for word in negatives if word != target)
    if nodes is not None:
        assert paths is not None
        loss += sum(np.log1p(np.exp((1 if code else -1) * (nodes[node] @ hidden))) for node, code in paths[target])
    return float(loss)

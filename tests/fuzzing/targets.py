"""All targets by name. A module is imported with the first of its targets, for some load TensorFlow."""

from __future__ import annotations

import importlib

from fuzzing.target import Target

TARGETS = {
    "text": ("texts", "TEXT"),
    "compressed-text": ("texts", "COMPRESSED"),
    "encoded-corpus": ("encoded_corpora", "ENCODED"),
    "former-corpus": ("encoded_corpora", "FORMER"),
    "model-file": ("model_files", "MODELS"),
    "vector-file": ("model_files", "VECTORS"),
    "checkpoint": ("checkpoints", "DAMAGED"),
    "forged-checkpoint": ("checkpoints", "FORGED"),
    "safe-vectors": ("model_files", "SAFE_VECTORS"),
    "damaged-message": ("messages", "DAMAGED"),
    "forged-message": ("messages", "FORGED"),
    "assignment": ("messages", "ASSIGNMENTS"),
    "own-block": ("messages", "OWN_BLOCKS"),
    "plain-block": ("messages", "PLAIN_BLOCKS"),
    "share-block": ("messages", "SHARE_BLOCKS"),
    "portion": ("messages", "PORTIONS"),
    "block-report": ("messages", "REPORTS"),
    "task-call": ("messages", "CALLS"),
    "lease-name": ("messages", "LEASES"),
    "description": ("messages", "DESCRIPTIONS"),
    "encoding-line": ("encoding_lines", "LINES"),
    "search-results": ("search_results", "RESULTS"),
}


def target_named(name: str) -> Target:
    """Return a target."""
    module, attribute = TARGETS[name]
    target: Target = getattr(importlib.import_module(f"fuzzing.{module}"), attribute)
    return target

"""The models that can be planned."""

from __future__ import annotations

# Name → skip-gram, hierarchical softmax in place of negative sampling.
MODES = {"sg-neg": (True, False), "cbow-neg": (False, False), "sg-hs": (True, True), "cbow-hs": (False, True)}

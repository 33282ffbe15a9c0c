"""Objectives whose graphs tests look at without running them."""

from __future__ import annotations

from gensim_tfw2v.steps.signature import Objective

SKIP_GRAM = Objective(True, True, False, True, mask_accidental_hits=False)
CBOW_TREE_WITH_ADAGRAD = Objective(False, False, True, True, False, adagrad=True)

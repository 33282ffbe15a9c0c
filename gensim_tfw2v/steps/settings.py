"""What steps need to know of the model, wherever they run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StepSettings:
    """What steps need to know of the model."""

    skip_gram: bool
    mean_context: bool
    window: int
    run_tokens: int
    negative: int  # 0: no negative sampling
    shared_negatives: int
    hierarchical_softmax: bool
    spare_targets: bool
    update_bound: float  # longest step of a row in a batch
    bound_rates: float = 0.0  # or so many times the learning rate, where that is longer
    compute_dtype: str = "float32"  # TensorFlow's name for the numbers that products are of
    mean_windows: bool = False  # blocks come with `batches.Windows.MEAN`

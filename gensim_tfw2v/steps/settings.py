"""The settings of a model's steps, wherever they run."""

from __future__ import annotations

from dataclasses import dataclass

from gensim_tfw2v import tuning

SGD, ADAGRAD = "sgd", "adagrad"
OPTIMIZERS = (SGD, ADAGRAD)
"""How rows step: as in gensim, or by row-wise Adagrad (`adagrad`)."""
FREEZABLE = ("inputs", "outputs")
ALL_WORDS = "words"  # also a value of `StepSettings.freeze`: only documents are trained


@dataclass(frozen=True)
class StepSettings:
    """The settings of a model's steps."""

    skip_gram: bool
    mean_context: bool
    window: int
    run_tokens: int
    negative: int  # 0: no negative sampling
    shared_negatives: int
    hierarchical_softmax: bool
    mask_accidental_hits: bool
    max_step: float  # longest step of a row in a batch
    max_step_rates: float = 0.0  # the same in learning rates, where that is longer
    compute_dtype: str = "float32"  # number format of matrix products, by TensorFlow's name
    mean_windows: bool = False  # blocks come with `batches.Windows.MEAN`
    even_contexts: bool = False  # running sums add CBOW's contexts, which have the same weight for a token
    optimizer: str = SGD
    freeze: str | None = None  # one of `FREEZABLE`: these vectors stay as they are; nodes belong to the outputs
    weighted: bool = False  # sentences have weights
    bags: bool = False  # inputs are bags of rows, such as a word and its n-grams
    documents: bool = False  # tokens may have the vectors of their document's tags beside those of their contexts
    concatenated: bool = False  # all these vectors are concatenated; output vectors are as long

    @property
    def have_states(self) -> bool:
        """Whether rows have a state of the optimizer behind their vector."""
        return self.optimizer == ADAGRAD


def choose_max_step_rates(skip_gram: bool, negative: int) -> float:
    """Return the longest step of a row in one batch, in learning rates."""
    return tuning.TREE_MAX_STEP_RATES if skip_gram and not negative else tuning.MAX_STEP_RATES


def sums_even_contexts(skip_gram: bool, window: int, bags: bool = False) -> bool:
    """Return whether running sums add contexts that have the same weight for a token.

    Their cost does not depend on the window. For narrow windows it is faster to add contexts one by one, which the
    operations do not do with bags.
    """
    return not skip_gram and (bags or window >= tuning.LEAST_WINDOW_FOR_RUNNING_SUMS)


def choose_compute_dtype(batch_tokens: int, vector_size: int, fast_bfloat16: bool) -> str:
    """Return the number format of matrix products, by TensorFlow's name.

    Parameters
    ----------
    fast_bfloat16 : bool
        Whether the processor multiplies bfloat16 faster than float32.
    """
    return "bfloat16" if fast_bfloat16 and _bfloat16_pays(batch_tokens, vector_size) else "float32"


def _bfloat16_pays(batch_tokens: int, vector_size: int) -> bool:
    """Return whether batches are large enough to gain by products of bfloat16."""
    numbers = batch_tokens * max(vector_size, tuning.USUAL_VECTOR_SIZE)
    return numbers >= tuning.LEAST_TOKENS_FOR_BFLOAT16 * tuning.USUAL_VECTOR_SIZE

"""The arguments of TFWord2Vec: gensim's, checked, and its own, each of which is one entry of a table.

The table gives an argument's default, rule, help, command-line flag and its rows in the README and the docstring.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gensim_tfw2v.merging.methods import METHODS
from gensim_tfw2v.model.rules import Bytes, Choice, Interval, Number, PositiveNumber, Rule, Share, WholeNumber
from gensim_tfw2v.placement.designs import DEFAULT_DESIGN, DESIGNS

DTYPES = ("bfloat16", "float32")  # TensorFlow's names
SCHEDULES = ("linear",)
SAMPLINGS = ("equal", "random", "shuffle")
MOST_WINDOW = 2**31 - 1  # an int32
MOST_SEED = 2**32 - 1  # that NumPy takes


@dataclass(frozen=True)
class Flag:
    """How an argument appears on the command line of `tfw2v train`."""

    group: str
    metavar: str | None = None
    help: str | None = None  # where it differs from the argument's
    default: str | None = None  # as help shows it, where it differs from the argument's
    is_switch: bool = False  # --name sets True
    has_negation: bool = False  # --no-name sets False


@dataclass(frozen=True)
class Argument:
    """One of TFWord2Vec's own arguments, optional and keyword-only."""

    name: str
    default: Any
    type: str  # as docstrings say it
    help: str  # begins with a capital letter and ends without a full stop
    default_help: str | None = None  # what the default means, if its value does not say so
    rule: Rule | None = None  # None: checked where it is used
    flag: Flag | None = None
    is_read_by_train: bool = False  # train() reads the attribute, which may have been changed, and checks it again
    is_fixed_in_training: bool = False  # a change in the midst of train() has no effect until the next one
    is_saved: bool = True


# Groups of flags, in the order of `tfw2v train --help`. The first also has flags of gensim's arguments.
LEARNING_FLAGS = "learning"
FLAG_GROUPS = "memory", "checkpoints", "cluster", "TensorBoard", "tuning, best left alone"
_MEMORY, _CHECKPOINTS, _CLUSTER, _TENSORBOARD, _TUNING = FLAG_GROUPS

OWN_ARGUMENTS: tuple[Argument, ...] = (
    Argument(
        "progress",
        None,
        "bool, optional",
        "Draw progress bars, on standard error or in the notebook",
        "only on a terminal and in a notebook; log lines otherwise",
    ),
    Argument(
        "schedule",
        None,
        '{"linear"}, optional',
        'How the learning rate falls from `alpha` to `min_alpha`. `"linear"`: evenly over all epochs, as gensim '
        "documents it",
        "as in gensim's class: evenly for iterables; for a `corpus_file` by 1/`workers` of that within an epoch, with "
        "a drop between epochs ([picture](docs/differences.md#the-learning-rate)). An `end_alpha` given to `train()` "
        "is always reached",
        rule=Choice(SCHEDULES),
        flag=Flag(
            LEARNING_FLAGS,
            None,
            "let the learning rate fall evenly to --min-alpha",
            default="as in gensim, which with n --workers takes 1/n of the fall within an epoch of a file",
        ),
        is_read_by_train=True,
        is_fixed_in_training=True,
    ),
    Argument(
        "cache_memory",
        2**28,
        "int",
        "Bytes of memory that the encoded corpus, 4 a word, may take. A corpus that fits is read once, not once an "
        "epoch. 0 reads it every epoch, as iterables need that yield other sentences each time",
        rule=Bytes(),
        flag=Flag(_MEMORY, "BYTES", "memory that the encoded corpus may take, as 500000, 512M or 2G", default="256M"),
        is_read_by_train=True,
    ),
    Argument(
        "cache_disk",
        0,
        "int",
        "Bytes of disk that the encoded corpus may take if it does not fit `cache_memory`",
        rule=Bytes(),
        flag=Flag(_MEMORY, "BYTES", "disk space that it may take instead"),
        is_read_by_train=True,
    ),
    Argument(
        "cache_dir",
        None,
        "str, optional",
        "Folder of the encoded corpus on disk",
        "the system's folder for temporary files",
        flag=Flag(_MEMORY, "FOLDER", "where that space is", default="the temporary folder"),
    ),
    Argument(
        "batch_tokens",
        None,
        "int, optional",
        "Words whose gradients are computed from the same version of the vectors",
        "chosen from the vocabulary and the vector size",
        rule=WholeNumber(1, is_int=True, or_none=True),
        flag=Flag(_TUNING, "N"),
        is_read_by_train=True,
        is_fixed_in_training=True,
    ),
    Argument(
        "run_tokens",
        None,
        "int, optional",
        "Consecutive words, a run, that share contexts and negative words; at most `batch_tokens`",
        "chosen from the window, the vocabulary and the vector size",
        rule=WholeNumber(1, is_int=True, or_none=True),
        flag=Flag(_TUNING, "N", "consecutive words that share contexts and negative words"),
        is_read_by_train=True,
        is_fixed_in_training=True,
    ),
    Argument(
        "shared_negatives",
        None,
        "int, optional",
        "Negative words drawn for each run. With the right weight, they stand for `negative` draws a pair",
        "chosen from the vocabulary's size",
        rule=WholeNumber(1, is_int=True, or_none=True),
        flag=Flag(_TUNING, "N", "negative words drawn for each such run"),
        is_read_by_train=True,
        is_fixed_in_training=True,
    ),
    Argument(
        "update_bound",
        None,
        "float, optional",
        "Limit on how far one batch may move a vector, in learning rates: multiples of `alpha`, or of the present "
        "rate where that is higher",
        "20, or 7 for skip-gram with hierarchical softmax alone",
        rule=PositiveNumber(or_none=True),
        flag=Flag(_TUNING, "X", "limit on how far one batch may move a vector, in learning rates"),
        is_read_by_train=True,
        is_fixed_in_training=True,
    ),
    Argument(
        "compute_dtype",
        None,
        '{"bfloat16", "float32"}, optional',
        'Number format of skip-gram\'s matrix products: `"bfloat16"` is faster on processors that support it. Vectors, '
        "sums and steps are float32, and so is all of CBOW",
        "bfloat16 where the processor supports it and batches are large",
        rule=Choice(DTYPES),
        flag=Flag(_TUNING, None, "number format of skip-gram's matrix products"),
        is_read_by_train=True,
        is_fixed_in_training=True,
    ),
    Argument(
        "checkpoint_dir",
        None,
        "str or os.PathLike, optional",
        "Folder in which `train()` writes [checkpoints](docs/checkpoints.md), from which training can be resumed. It "
        "is not saved with the model",
        "no checkpoints",
        flag=Flag(_CHECKPOINTS, "FOLDER", "write checkpoints there, from which --resume goes on", default="none"),
        is_saved=False,
    ),
    Argument(
        "checkpoint_every",
        600.0,
        "float or str",
        'How often: seconds, or words as in `"5e6 words"`',
        rule=Interval(),
        flag=Flag(
            _CHECKPOINTS, "INTERVAL", 'seconds, or words as "5e6 words", between two checkpoints', default="10 minutes"
        ),
        is_read_by_train=True,
    ),
    Argument(
        "keep_checkpoints",
        3,
        "int",
        "How many checkpoints are kept; older ones are removed",
        rule=WholeNumber(1, is_int=True),
        flag=Flag(_CHECKPOINTS, "N", "checkpoints that are kept"),
        is_read_by_train=True,
    ),
    Argument(
        "logdir",
        None,
        "str, os.PathLike or TensorBoardLog, optional",
        "Folder in which `train()` logs for [TensorBoard](docs/tensorboard.md), or a `TensorBoardLog` that also says "
        "what. Also an argument of `train()`. It is not saved with the model",
        "no log",
        flag=Flag(_TENSORBOARD, "FOLDER", "log the training for TensorBoard there"),
        is_saved=False,
    ),
    Argument(
        "cluster",
        None,
        "optional",
        'Parameter servers and workers to train on: a dict or ``tf.train.ClusterSpec`` of "ps" and "worker" '
        'addresses, a cluster resolver, a ``ParameterServerStrategy``, ``"env"`` for the environment variable '
        "TF_CONFIG, or what `local_cluster()` yields. Also an argument of `train()`. It is not saved with the model. "
        "See [docs/cluster.md](docs/cluster.md)",
        "train in this process",
        flag=Flag(
            _CLUSTER,
            "FILE",
            'train over the tasks in a JSON file, {"ps": [...], "worker": [...]}, or in TF_CONFIG if FILE is env',
            default="in this process",
        ),
        is_saved=False,
    ),
    Argument(
        "distribution",
        DEFAULT_DESIGN,
        "str",
        '[How](docs/distribution.md) the tasks of a cluster train together. `"downpour"`: every worker trains blocks '
        'as fast as it can, on vectors that the servers have. `"synchronous"`: all workers train the same vectors in '
        'rounds, and runs with one seed are equal. `"averaging"`: every worker has all vectors, and workers average '
        'theirs after every round. `"partition"`: sub-models train apart, and their vectors are merged. `"columns"`: '
        "every server has some numbers of each vector, for skip-gram with negative sampling. "
        '`"lbfgs"` (experimental): every epoch evaluates loss and gradient of the whole corpus, and L-BFGS steps to '
        "the next point; learning rates have no effect",
        rule=Choice(tuple(DESIGNS), or_none=False),
        flag=Flag(_CLUSTER, None, "how the tasks of the cluster train together"),
        is_read_by_train=True,
        is_fixed_in_training=True,
    ),
    Argument(
        "round_words",
        None,
        "int, optional",
        "Raw words that all workers together train in a round, where `distribution` has rounds",
        "`batch_words` for each worker if that is set; otherwise chosen from the corpus's size",
        rule=WholeNumber(1, is_int=True, or_none=True),
        flag=Flag(_CLUSTER, "N", "raw words that all workers train in a round"),
        is_read_by_train=True,
        is_fixed_in_training=True,
    ),
    Argument(
        "backup_workers",
        0,
        "int",
        "Workers for which a round does not wait, where `distribution` has rounds; runs then differ",
        rule=WholeNumber(0, is_int=True),
        flag=Flag(_CLUSTER, "N", "workers for which a round does not wait"),
        is_read_by_train=True,
    ),
    Argument(
        "submodels",
        None,
        "int, optional",
        "Sub-models that train apart, where `distribution` has them",
        "as many as the cluster has workers; 2 without a cluster",
        rule=WholeNumber(1, is_int=True, or_none=True),
        flag=Flag(_CLUSTER, "N", "sub-models that train apart"),
        is_read_by_train=True,
        is_fixed_in_training=True,
    ),
    Argument(
        "sampling",
        None,
        '{"equal", "random", "shuffle"}, optional',
        'Which sentences a sub-model trains. `"equal"`: each sentence belongs to one sub-model. `"random"`: each '
        'sub-model draws sentences once. `"shuffle"`: each sub-model draws sentences anew in every epoch',
        "shuffle",
        rule=Choice(SAMPLINGS),
        flag=Flag(_CLUSTER, None, "which sentences a sub-model trains"),
        is_read_by_train=True,
        is_fixed_in_training=True,
    ),
    Argument(
        "sampling_rate",
        None,
        "float, optional",
        "Share of the sentences that a sub-model trains in an epoch. An epoch trains `submodels` times that many words",
        "1/`submodels`, with which an epoch trains as many words as the corpus has",
        rule=Share(or_none=True),
        flag=Flag(
            _CLUSTER, "R", "share of the sentences that a sub-model trains in an epoch", default="1 / --submodels"
        ),
        is_read_by_train=True,
        is_fixed_in_training=True,
    ),
    Argument(
        "merge",
        None,
        '{"alir", "pca", "concatenate", "average"}, optional',
        "How the vectors of sub-models become one ([the methods](docs/distribution.md#partition-and-merge)). "
        '`"concatenate"` is for `merge_vectors()` alone',
        "alir",
        rule=Choice(METHODS),
        flag=Flag(_CLUSTER, None, "how the vectors of sub-models become one"),
        is_read_by_train=True,
        is_fixed_in_training=True,
    ),
    Argument(
        "lbfgs_history",
        None,
        "int, optional",
        'Steps that `distribution="lbfgs"` remembers; it keeps twice as many tables, and three more',
        "10",
        rule=WholeNumber(1, is_int=True, or_none=True),
        flag=Flag(_CLUSTER, "N", "steps that L-BFGS remembers"),
        is_read_by_train=True,
        is_fixed_in_training=True,
    ),
    Argument(
        "cluster_timeout",
        120.0,
        "float",
        "Seconds after which a block that its worker has not finished goes to another worker",
        rule=PositiveNumber(unit="seconds"),
        flag=Flag(_CLUSTER, "SECONDS", "time after which another worker gets a block that is not finished"),
        is_read_by_train=True,
    ),
    Argument(
        "recovery_timeout",
        300.0,
        "float",
        "Seconds that training waits until lost tasks with vectors are started again. It then goes on from the last "
        "checkpoint, or without `checkpoint_dir` from the end of the last epoch",
        rule=PositiveNumber(unit="seconds"),
        flag=Flag(_CLUSTER, "SECONDS", "time that training waits until lost tasks with vectors are started again"),
        is_read_by_train=True,
    ),
    Argument(
        "max_recoveries",
        10,
        "int",
        "How often a training goes on after tasks with vectors were lost",
        rule=WholeNumber(0, is_int=True),
        flag=Flag(_CLUSTER, "N", "how often training goes on after it has lost tasks with vectors"),
        is_read_by_train=True,
    ),
    Argument(
        "cluster_overlap",
        None,
        "bool, optional",
        "Workers pull the rows of their next block while they train: for slow networks, at some cost of quality",
        "only where the corpus has hundreds of blocks for every worker, and never with `workers=1`",
        flag=Flag(
            _CLUSTER,
            None,
            "pull the rows of a worker's next block while it trains",
            default="with very many blocks only",
            has_negation=True,
        ),
    ),
    Argument(
        "cluster_dtype",
        None,
        '{"bfloat16", "float32"}, optional',
        'Number format of rows and their changes on the network: `"bfloat16"`, or `"float32"` in twice the bytes',
        "bfloat16; with `workers=1` float32, which gives the vectors of local training",
        rule=Choice(DTYPES),
        flag=Flag(_CLUSTER, None, "number format of rows on the network", default="bfloat16, with --workers 1 float32"),
        is_read_by_train=True,
    ),
    Argument(
        "allow_network",
        False,
        "bool",
        "The cluster's tasks may be on a network. Nothing is encrypted there, and whoever reaches a task's port can "
        "run code on its machine: see [docs/security.md](docs/security.md). It is not saved with the model",
        "only tasks on this machine are used",
        flag=Flag(
            _CLUSTER,
            None,
            "the tasks may be on a network, where nothing is encrypted and whoever reaches a port can run code",
            default="this machine alone",
            is_switch=True,
        ),
        is_saved=False,
    ),
    Argument(
        "vectors_on_servers",
        False,
        "bool",
        "Keep the vectors on the cluster's parameter servers alone, so that they may be larger than this process's "
        "memory. They are made there, stay there after training, and `export_vectors()` writes them to a file",
        flag=Flag(
            _CLUSTER,
            None,
            "never hold the vectors here: for those that are larger than this machine's memory",
            is_switch=True,
        ),
    ),
)

# gensim's arguments that it does not check itself.
_GENSIM_RULES: dict[str, Rule] = {
    "vector_size": WholeNumber(1, converts=True),
    "window": WholeNumber(1, most=MOST_WINDOW, converts=True),
    "workers": WholeNumber(1, converts=True),
    "negative": WholeNumber(0, converts=True),
    "alpha": Number(0, converts=True),
    "min_alpha": Number(0, converts=True),
    "start_alpha": Number(0, or_none=True),
    "end_alpha": Number(0, or_none=True),
    "sample": Number(0, note=" (0 keeps every word)", or_none=True),
    "ns_exponent": Number(converts=True),
    "min_count": Number(or_none=True),
    "batch_words": WholeNumber(1),
    "max_vocab_size": WholeNumber(0, or_none=True),  # 0 sets no limit either, as in gensim
    "max_final_vocab": WholeNumber(1, or_none=True),
    "epochs": WholeNumber(1, or_none=True),
    "seed": WholeNumber(0, most=MOST_SEED, or_none=True),
}
_RULES = _GENSIM_RULES | {argument.name: argument.rule for argument in OWN_ARGUMENTS if argument.rule is not None}

# What train() reads of a model, where a user may have changed it since the model was made.
TRAINING_ARGUMENTS = (
    *("vector_size", "window", "workers", "negative", "alpha", "min_alpha", "batch_words", "seed"),
    *(argument.name for argument in OWN_ARGUMENTS if argument.is_read_by_train),
)
# What train() reads once, at its beginning. It reads learning rates again in every epoch.
FIXED_IN_TRAINING = (
    *("sg", "hs", "negative", "window", "shrink_windows", "cbow_mean", "sample", "workers", "batch_words"),
    *(argument.name for argument in OWN_ARGUMENTS if argument.is_fixed_in_training),
)


def default_of(name: str) -> Any:
    """Return the default of one of the own arguments."""
    return next(argument.default for argument in OWN_ARGUMENTS if argument.name == name)


def rule_of(name: str) -> Any:
    """Return the rule of an argument that has one."""
    return _RULES[name]


def own_defaults() -> dict[str, Any]:
    """Return the own arguments' defaults, as models have them that were saved without."""
    return {argument.name: argument.default for argument in OWN_ARGUMENTS}


def own_and_gensims(variables: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the class's own arguments among the local variables of its constructor, and gensim's arguments."""
    arguments = {name: value for name, value in variables.items() if name not in ("self", "__class__")}
    names = {argument.name for argument in OWN_ARGUMENTS}
    own = {name: value for name, value in arguments.items() if name in names}
    return own, {name: value for name, value in arguments.items() if name not in names}


def check_arguments(arguments: Mapping[str, Any]) -> None:
    """Raise ValueError or TypeError that names the first argument that cannot be used, and its value."""
    plain_arguments(arguments)


def plain_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that have a rule, checked and as plain Python objects."""
    return {name: _RULES[name].plain(name, value) for name, value in arguments.items() if name in _RULES}


def docstring_entries() -> str:
    """Return the entries of the own arguments in the class's docstring, in NumPy style."""
    lines: list[str] = []
    for argument in OWN_ARGUMENTS:
        lines.append(f"{argument.name} : {argument.type}")
        text = _without_links(argument.help) + "." + _sentence_of_default(argument)
        lines += textwrap.wrap(text, 112, initial_indent="    ", subsequent_indent="    ")
    return textwrap.indent("\n".join(lines), "    ").lstrip()


def readme_table() -> str:
    """Return the README's table of the own arguments, in Markdown."""
    rows = [
        f"| `{argument.name}` | `{_shown(argument.default)}` | {argument.help}.{_sentence_of_default(argument)} |"
        for argument in OWN_ARGUMENTS
    ]
    return "\n".join(["| argument | default | meaning |", "|---|---|---|", *rows]).replace("``", "`")


def _sentence_of_default(argument: Argument) -> str:
    return f" Default: {argument.default_help}." if argument.default_help else ""


def _shown(default: Any) -> str:
    return "2**28" if default == 2**28 else f"{default:g}" if isinstance(default, float) else repr(default)


def _without_links(text: str) -> str:
    """Return a text without its Markdown links."""
    parts: Iterable[str] = text.split("[")
    return "".join(part.partition("]")[0] + part.partition(")")[2] if "](" in part else part for part in parts)

"""The table of TFWord2Vec's own arguments, in the order of docs/reference/arguments.md and of `tfw2v train --help`."""

from __future__ import annotations

from gensim_tfw2v.arguments.argument import (
    CHECKPOINT_FLAGS,
    CLUSTER_FLAGS,
    LEARNING_FLAGS,
    MEMORY_FLAGS,
    TENSORBOARD_FLAGS,
    TUNING_FLAGS,
    Argument,
    Flag,
)
from gensim_tfw2v.arguments.rules import Bytes, Choice, DeviceName, Group, Interval, PositiveNumber, Text, WholeNumber
from gensim_tfw2v.model.validation_arguments import VALIDATION_ARGUMENTS
from gensim_tfw2v.placement.design_arguments import DESIGN_ARGUMENTS
from gensim_tfw2v.placement.designs import DEFAULT_DESIGN, DESIGNS, designs_described
from gensim_tfw2v.steps.settings import FREEZABLE, OPTIMIZERS

DTYPES = ("bfloat16", "float32")  # TensorFlow's names
SCHEDULES = ("linear",)


def _group(name: str, of: str) -> Argument:
    text = f"The arguments of {of} in [one value](docs/reference/arguments.md#groups)"
    return Argument(name, None, f"{name.capitalize()}, optional", text, rule=Group(), is_saved=False)


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
        "evenly for iterables and with Adagrad. With SGD and a `corpus_file` as in gensim's class: within an epoch by "
        "1/`workers` of an even fall, and the rest between epochs ([picture](docs/how-it-works/learning-rate.md)). "
        "Training always reaches an `end_alpha` given to `train()`",
        rule=Choice(SCHEDULES),
        flag=Flag(
            LEARNING_FLAGS,
            None,
            "lower the learning rate evenly to --min-alpha",
            default="with SGD as in gensim: for a file and n --workers, an epoch takes 1/n of the fall",
        ),
        is_fixed_in_training=True,
    ),
    Argument(
        "reproducible",
        False,
        "bool",
        "One seed gives the same vectors with any number of `workers`, bit for bit ([what it "
        'costs](docs/how-to/reproduce.md)). On a cluster it needs `distribution="synchronous"`. The learning rate '
        'falls as with `schedule="linear"`',
        flag=Flag(
            LEARNING_FLAGS, None, "with one seed, give the same vectors for any number of --workers", is_switch=True
        ),
        is_fixed_in_training=True,
    ),
    Argument(
        "optimizer",
        None,
        '{"sgd", "adagrad"}, optional',
        'How far a vector moves against a gradient. `"sgd"`: by the learning rate, as in gensim. `"adagrad"`: further '
        "at first, and less the more the vector has been trained. It continues in the next `train()`",
        'chosen by the first `train()`, which sets it: `"adagrad"` for text, `"sgd"` for ids of nodes and '
        "items, and for many epochs ([when](docs/how-to/tune.md#adagrad))",
        rule=Choice(OPTIMIZERS),
        flag=Flag(LEARNING_FLAGS, None, "how far a vector moves against a gradient", default="chosen by the words"),
        is_fixed_in_training=True,
    ),
    Argument(
        "freeze",
        None,
        '{"inputs", "outputs"}, optional',
        "Vectors that training leaves as they are, so that models stay "
        '[comparable](docs/tutorials/more-examples.md#words-over-time). `"inputs"`: the words\' vectors, `wv.vectors`. '
        '`"outputs"`: those that predict words, `syn1neg` and `syn1`, which a new model does not have yet. Also an '
        "argument of `train()`",
        "all vectors are trained",
        rule=Choice(FREEZABLE),
        flag=Flag(LEARNING_FLAGS, None, "vectors that training leaves as they are", default="none"),
        is_fixed_in_training=True,
    ),
    Argument(
        "weights",
        None,
        "iterable of float, optional",
        "How much each sentence counts: one number from 0 on for each sentence. A sentence of weight 2 counts as if it "
        "[occurred twice](docs/how-to/weights.md). Also an argument of `train()`. They hold for one training, and are "
        "not saved with the model",
        "every sentence counts once",
        flag=Flag(LEARNING_FLAGS, "FILE", "file that has a weight for each sentence, one number a line"),
        is_saved=False,
    ),
    *VALIDATION_ARGUMENTS,
    Argument(
        "device",
        None,
        '{"cpu", "gpu", "gpu:1", ...}, optional',
        "The device that trains: one of this process, or on a cluster one of each worker "
        '([GPUs](docs/how-to/gpu.md)). `"gpu"` is the first GPU and `"gpu:1"` the second. Without a cluster, '
        "vectors stay on it. Also an argument of `train()`. It is not saved with the model",
        "a GPU where there is one, no compiled operations, and much skip-gram to train; otherwise the CPU",
        rule=DeviceName(),
        flag=Flag(LEARNING_FLAGS, "NAME", "where to train: cpu, gpu, or one of several such as gpu:1"),
        is_saved=False,
    ),
    Argument(
        "column",
        None,
        "str, optional",
        "Which column of a [table](docs/how-to/tables.md) has the sentences. The table is a `corpus_file` of "
        "Parquet or Arrow, or an iterable such as a `DataFrame`",
        "the only column of text or of lists of words",
        rule=Text(),
    ),
    _group("cache", "the cache"),
    Argument(
        "cache_memory",
        2**28,
        "int or str",
        'Bytes of memory, as a number or a text such as `"2G"`, that the encoded corpus, 4 a word, may take. A corpus '
        "that fits is read once, not once an epoch, unless an iterable yields [other "
        "sentences](docs/how-to/corpora.md#other-sentences-in-every-epoch) on each pass. 0 reads it every epoch",
        rule=Bytes(),
        flag=Flag(
            MEMORY_FLAGS, "BYTES", "memory that the encoded corpus may take, as 500000, 512M or 2G", default="256M"
        ),
    ),
    Argument(
        "cache_disk",
        0,
        "int or str",
        "Bytes of disk that the encoded corpus may take if it does not fit `cache_memory`",
        rule=Bytes(),
        flag=Flag(MEMORY_FLAGS, "BYTES", "disk space for a corpus that exceeds --cache-memory"),
    ),
    Argument(
        "cache_dir",
        None,
        "str, optional",
        "Folder of the encoded corpus on disk",
        "the system's folder for temporary files",
        flag=Flag(MEMORY_FLAGS, "FOLDER", "folder for --cache-disk", default="the temporary folder"),
    ),
    Argument(
        "tables_dir",
        None,
        "str or os.PathLike, optional",
        "Folder in which this process keeps its matrices, in files without a name, so that [vectors may be larger than "
        "memory](docs/how-to/vocabularies-larger-than-memory.md). It is not saved with the model",
        "matrices are in memory",
        flag=Flag(MEMORY_FLAGS, "FOLDER", "folder for vectors that are larger than memory", default="in memory"),
        is_saved=False,
    ),
    Argument(
        "batch_tokens",
        None,
        "int, optional",
        "Deprecated. Words that have one learning rate. In the plain step, their gradients are computed from the same "
        "version of the vectors",
        "chosen from the size of the corpus; in the plain step also from the vocabulary",
        rule=WholeNumber(1, is_int=True, or_none=True),
        flag=Flag(TUNING_FLAGS, "N", "deprecated: words that have one learning rate"),
        is_fixed_in_training=True,
        deprecated="vectors move run by run, whatever it is; leave it out",
    ),
    Argument(
        "run_tokens",
        None,
        "int, optional",
        "Consecutive words (a run) that share contexts and negative words, and whose vectors move together",
        "chosen from the window, the vocabulary and the vector size",
        rule=WholeNumber(1, is_int=True, or_none=True),
        flag=Flag(TUNING_FLAGS, "N", "consecutive words that share contexts and negative words"),
        is_fixed_in_training=True,
    ),
    Argument(
        "shared_negatives",
        None,
        "int, optional",
        "Negative words drawn for each run. They are weighted so that they replace `negative` draws for each pair",
        "chosen from the vocabulary's size and the optimizer",
        rule=WholeNumber(1, is_int=True, or_none=True),
        flag=Flag(TUNING_FLAGS, "N", "negative words drawn for each of these runs"),
        is_fixed_in_training=True,
    ),
    Argument(
        "update_bound",
        None,
        "float, optional",
        "Deprecated. Limit on how far one step may move a vector, in learning rates: multiples of `alpha`, or of the "
        "current rate if that is higher",
        "20, or 4 for skip-gram with hierarchical softmax alone",
        rule=PositiveNumber(or_none=True),
        flag=Flag(TUNING_FLAGS, "X", "deprecated: limit on how far one step may move a vector, in learning rates"),
        is_fixed_in_training=True,
        deprecated="steps of runs rarely reach the limit; leave it out",
    ),
    Argument(
        "compute_dtype",
        None,
        '{"bfloat16", "float32"}, optional',
        "Number format of skip-gram's matrix products in the [plain step](docs/how-it-works/plain-step.md): "
        '`"bfloat16"` is faster on processors that support it. The compiled step multiplies in float32',
        "in the plain step bfloat16 where the processor supports it and batches are large",
        rule=Choice(DTYPES),
        flag=Flag(TUNING_FLAGS, None, "number format of skip-gram's matrix products in the plain step"),
        is_fixed_in_training=True,
    ),
    _group("checkpoints", "checkpoints"),
    Argument(
        "checkpoint_dir",
        None,
        "str or os.PathLike, optional",
        "Folder in which `train()` writes [checkpoints](docs/how-to/resume.md), from which training can be resumed. It "
        "is not saved with the model",
        "no checkpoints",
        flag=Flag(CHECKPOINT_FLAGS, "FOLDER", "folder of checkpoints; --resume takes the newest", default="none"),
        is_saved=False,
    ),
    Argument(
        "checkpoint_every",
        600.0,
        "float or str",
        'Time between two checkpoints: seconds, a time such as `"10min"`, `"30s"` or `"2h"`, or words as in '
        '`"5e6 words"`',
        rule=Interval(),
        flag=Flag(
            CHECKPOINT_FLAGS,
            "INTERVAL",
            'seconds, a time as 10min, 30s or 2h, or words as "5e6 words", between two checkpoints',
            default="10 minutes",
        ),
    ),
    Argument(
        "keep_checkpoints",
        3,
        "int",
        "How many of the newest checkpoints are kept",
        rule=WholeNumber(1, is_int=True),
        flag=Flag(CHECKPOINT_FLAGS, "N", "how many of the newest checkpoints to keep"),
    ),
    Argument(
        "logdir",
        None,
        "str, os.PathLike or TensorBoardLog, optional",
        "Folder in which `train()` logs for [TensorBoard](docs/how-to/tensorboard.md), or a `TensorBoardLog` that "
        "also sets what is logged. Also an argument of `train()`. It is not saved with the model",
        "no log",
        flag=Flag(TENSORBOARD_FLAGS, "FOLDER", "folder for a log that TensorBoard shows"),
        is_saved=False,
    ),
    Argument(
        "cluster",
        None,
        "optional",
        'Parameter servers and workers to train on: a dict or ``tf.train.ClusterSpec`` of "ps" and "worker" '
        'addresses, the path of a JSON file of these, a cluster resolver, a ``ParameterServerStrategy``, ``"env"`` for '
        'the environment variable TF_CONFIG, ``"slurm"`` for the tasks of this Slurm job, or what `local_cluster()` or '
        "`ray_cluster()` yields. Also an argument of `train()`. It is not saved with the model. "
        "See [how to deploy](docs/how-to/deploy.md)",
        "train in this process",
        flag=Flag(
            CLUSTER_FLAGS,
            "FILE",
            'train on the tasks in a JSON file, {"ps": [...], "worker": [...]}; env stands for TF_CONFIG, slurm '
            "for the tasks of this Slurm job",
            default="train in this process",
        ),
        is_saved=False,
    ),
    Argument(
        "distribution",
        DEFAULT_DESIGN,
        "str",
        f"[How](docs/how-to/choose-a-distribution.md) the tasks of a cluster train together. {designs_described()}. "
        "Also an argument of `train()`",
        rule=Choice(DESIGNS, or_none=False),
        flag=Flag(CLUSTER_FLAGS, None, "how the tasks of the cluster train together"),
        is_fixed_in_training=True,
    ),
    *DESIGN_ARGUMENTS,
    Argument(
        "cluster_timeout",
        120.0,
        "float",
        "Seconds after which an unfinished block goes to another worker. A call of several blocks has this time for "
        "each of them",
        rule=PositiveNumber(unit="seconds"),
        flag=Flag(CLUSTER_FLAGS, "SECONDS", "time after which an unfinished block goes to another worker"),
    ),
    Argument(
        "recovery_timeout",
        300.0,
        "float",
        "Seconds that training waits until lost tasks that hold vectors restart. It then continues from the last "
        "checkpoint, or without `checkpoint_dir` from the end of the last epoch",
        rule=PositiveNumber(unit="seconds"),
        flag=Flag(CLUSTER_FLAGS, "SECONDS", "how long training waits for lost tasks that hold vectors"),
    ),
    Argument(
        "max_recoveries",
        10,
        "int",
        "How often a training may recover from the loss of tasks that hold vectors",
        rule=WholeNumber(0, is_int=True),
        flag=Flag(CLUSTER_FLAGS, "N", "how often training may recover from the loss of tasks that hold vectors"),
    ),
    Argument(
        "cluster_dtype",
        None,
        '{"bfloat16", "float32"}, optional',
        'Number format of rows and their changes on the network: `"bfloat16"`, or `"float32"` in twice the bytes',
        'bfloat16; float32 with `reproducible=True`, and with `workers=1` except for `"averaging"`',
        rule=Choice(DTYPES),
        flag=Flag(
            CLUSTER_FLAGS,
            None,
            "number format of rows on the network",
            default="bfloat16; float32 with --workers 1 or --reproducible",
        ),
    ),
    Argument(
        "allow_network",
        False,
        "bool",
        "The cluster's tasks may be on a network. Nothing is encrypted there, and whoever reaches a task's port can "
        "run code on its machine: see [who can do what](docs/how-it-works/security.md). It is not saved "
        "with the model",
        "only tasks on this machine are used",
        flag=Flag(
            CLUSTER_FLAGS,
            None,
            "allow tasks on a network, where nothing is encrypted and whoever reaches a port can run code",
            default="only this machine",
            is_switch=True,
        ),
        is_saved=False,
    ),
)

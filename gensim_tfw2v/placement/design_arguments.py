"""The arguments that only some designs have: one entry each."""

from __future__ import annotations

from gensim_tfw2v.arguments.argument import CLUSTER_FLAGS, Argument, Flag
from gensim_tfw2v.arguments.rules import Choice, Share, WholeNumber
from gensim_tfw2v.merging import METHODS

SAMPLINGS = ("equal", "random", "shuffle")

DESIGN_ARGUMENTS: tuple[Argument, ...] = (
    Argument(
        "round_words",
        None,
        "int, optional",
        "Raw words that all workers together train in a round, where `distribution` has rounds",
        "`batch_words` for each worker if that is set; otherwise chosen from the corpus's size",
        rule=WholeNumber(1, is_int=True, or_none=True),
        flag=Flag(
            CLUSTER_FLAGS,
            "N",
            "raw words that all workers together train in a round",
            default="--batch-words for each worker if given; otherwise chosen by the corpus",
        ),
        is_fixed_in_training=True,
        designs=("synchronous", "averaging"),
    ),
    Argument(
        "backup_workers",
        0,
        "int",
        'How many slow workers a round of `"synchronous"` may leave behind; results then vary',
        rule=WholeNumber(0, is_int=True),
        flag=Flag(CLUSTER_FLAGS, "N", "slow workers that a round may leave behind"),
        designs=("synchronous",),
    ),
    Argument(
        "submodels",
        None,
        "int, optional",
        "Number of sub-models that train apart, where `distribution` has them",
        "as many as the cluster has workers; 2 without a cluster",
        rule=WholeNumber(1, is_int=True, or_none=True),
        flag=Flag(CLUSTER_FLAGS, "N", "number of sub-models that train apart"),
        is_fixed_in_training=True,
        designs=("partition",),
    ),
    Argument(
        "sampling",
        None,
        '{"equal", "random", "shuffle"}, optional',
        'Which sentences a sub-model trains. `"equal"`: each sentence belongs to one sub-model. `"random"`: each '
        'sub-model draws sentences once. `"shuffle"`: each sub-model draws sentences anew in every epoch',
        "shuffle",
        rule=Choice(SAMPLINGS),
        flag=Flag(CLUSTER_FLAGS, None, "which sentences a sub-model trains"),
        is_fixed_in_training=True,
        designs=("partition",),
    ),
    Argument(
        "sampling_rate",
        None,
        "float, optional",
        "Share of the sentences that a sub-model trains in an epoch. An epoch trains `submodels` times that many words",
        "1/`submodels`, with which an epoch trains as many words as the corpus has",
        rule=Share(or_none=True),
        flag=Flag(
            CLUSTER_FLAGS, "R", "share of the sentences that a sub-model trains in an epoch", default="1 / --submodels"
        ),
        is_fixed_in_training=True,
        designs=("partition",),
    ),
    Argument(
        "merge",
        None,
        '{"alir", "pca", "concatenate", "average"}, optional',
        "How the vectors of sub-models are merged ([the methods](docs/how-to/merge.md#choose-a-method)). "
        'Only `merge_vectors()` takes `"concatenate"`',
        "alir",
        rule=Choice(METHODS),
        flag=Flag(CLUSTER_FLAGS, None, "how to merge the vectors of sub-models"),
        is_fixed_in_training=True,
        designs=("partition",),
    ),
    Argument(
        "lbfgs_history",
        None,
        "int, optional",
        'Steps that `distribution="lbfgs"` remembers; n steps need memory for 2n + 3 tables',
        "10",
        rule=WholeNumber(1, is_int=True, or_none=True),
        flag=Flag(CLUSTER_FLAGS, "N", "steps that L-BFGS remembers"),
        is_fixed_in_training=True,
        designs=("lbfgs",),
    ),
    Argument(
        "max_workers",
        None,
        "int, optional",
        "How many workers may train at a time, so that workers can [join and "
        "leave](docs/how-to/changing-workers.md) a training on a cluster",
        "the workers of `cluster` train, and no others",
        rule=WholeNumber(1, is_int=True, or_none=True),
        flag=Flag(
            CLUSTER_FLAGS,
            "N",
            "let workers join and leave, with N at a time at most",
            default="the workers of --cluster train",
        ),
        designs=("downpour", "synchronous"),
    ),
    Argument(
        "cluster_overlap",
        None,
        "bool, optional",
        "Workers pull the rows of their next block while they train: for slow networks, at some cost of quality",
        "only where the corpus has hundreds of blocks for every worker, and never with `workers=1`",
        flag=Flag(
            CLUSTER_FLAGS,
            None,
            "pull the rows of a worker's next block while it trains",
            default="only for corpora of very many blocks",
            has_negation=True,
        ),
        designs=("downpour",),
    ),
    Argument(
        "blocks_per_call",
        None,
        "int, optional",
        "Blocks that a worker trains for each message of this process. More blocks a message save this process's time, "
        "but a lost worker costs up to that many blocks",
        "1; with an [encoded corpus](docs/how-to/corpora.md#encode-it-once) of very many blocks, up to four million "
        "words for each core",
        rule=WholeNumber(1, is_int=True, or_none=True),
        flag=Flag(
            CLUSTER_FLAGS,
            "N",
            "blocks that a worker trains for one message",
            default="1, and more only for encoded corpora of very many blocks",
        ),
        designs=("downpour",),
    ),
    Argument(
        "vectors_on_servers",
        False,
        "bool",
        "Keep the vectors on the cluster's parameter servers alone, so that they may be larger than this process's "
        "memory. They are made there, stay there after training, and `export_vectors()` writes them to a file",
        flag=Flag(
            CLUSTER_FLAGS,
            None,
            "keep the vectors on the servers only, for vectors larger than this machine's memory",
            is_switch=True,
        ),
        designs=("downpour", "synchronous"),
    ),
)
"""Values that are false are their defaults."""

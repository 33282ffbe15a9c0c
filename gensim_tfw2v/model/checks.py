"""Whether a model can be made with the arguments of its constructor, each by itself and all together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gensim_tfw2v.cluster.exposure import check_cluster
from gensim_tfw2v.model.arguments import check_arguments, plain_arguments
from gensim_tfw2v.model.corpus_reading import check_column
from gensim_tfw2v.model.server_vectors import check_server_vectors
from gensim_tfw2v.model.validation import check_validation
from gensim_tfw2v.model.weighting import check_weights_fit
from gensim_tfw2v.placement.designs import Place, check_design, check_reproducible
from gensim_tfw2v.placement.device import check_device
from gensim_tfw2v.tensorboard.model_log import check_log
from gensim_tfw2v.tensorboard.options import log_options
from gensim_tfw2v.training.resuming import check_folder


def check_constructor(arguments: Mapping[str, Any]) -> None:
    """Raise an error that names the first argument of the constructor that cannot be used."""
    check_arguments(arguments)
    cluster, logdir = arguments["cluster"], arguments["logdir"]
    check_log(log_options(logdir))
    check_folder(arguments["checkpoint_dir"])
    check_weights_fit(arguments["weights"], arguments["sentences"], arguments["corpus_file"])
    check_column(arguments["column"], arguments["sentences"], arguments["corpus_file"])
    check_server_vectors(arguments["vectors_on_servers"], cluster, logdir)
    trains_later = arguments["sentences"] is None and arguments["corpus_file"] is None  # and may then get a cluster
    own = {name: arguments[name] for name in ("validation", "early_stopping")}
    check_validation({**arguments, **plain_arguments(own)}, trains_later)
    check_design(arguments, has_cluster=trains_later or cluster is not None)
    check_device(arguments, has_cluster=trains_later or cluster is not None)
    without_cluster = None if trains_later else Place.HERE
    check_reproducible(arguments, without_cluster if cluster is None else Place.CLUSTER)
    if cluster is not None:
        check_cluster(cluster, arguments["allow_network"])

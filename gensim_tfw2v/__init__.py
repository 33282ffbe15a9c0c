"""TFWord2Vec: gensim's Word2Vec, trained by TensorFlow graphs.

Importing this package is fast: gensim is imported with the first name that needs it, and TensorFlow when training
starts.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gensim_tfw2v.runtime.forks import watch_forks
from gensim_tfw2v.version import __version__

__all__ = [
    "Cache",
    "CheckpointError",
    "Checkpoints",
    "Cluster",
    "ClusterError",
    "DivergenceError",
    "Doc2Vec",
    "Doc2VecVectorizer",
    "EarlyStopping",
    "FastText",
    "FastTextVectorizer",
    "NeighbourIndex",
    "RandomWalks",
    "SearchResult",
    "TFDoc2Vec",
    "TFFastText",
    "TFWord2Vec",
    "TaggedLines",
    "TensorBoardLog",
    "Validation",
    "Word2Vec",
    "Word2VecVectorizer",
    "__version__",
    "build_index",
    "encode_corpus",
    "export_pretrained",
    "export_projector",
    "keras_embedding",
    "load_facebook_model",
    "load_vectors_safely",
    "local_cluster",
    "merge_vectors",
    "plan",
    "ray_cluster",
    "register_design",
    "register_task_functions",
    "score_vectors",
    "tune",
]
# The module that has each name, and its name there.
_HOMES = {
    "Cache": ("model.argument_groups", "Cache"),
    "CheckpointError": ("checkpoints.errors", "CheckpointError"),
    "Checkpoints": ("model.argument_groups", "Checkpoints"),
    "Cluster": ("model.argument_groups", "Cluster"),
    "ClusterError": ("cluster.errors", "ClusterError"),
    "DivergenceError": ("training.divergence", "DivergenceError"),
    "Doc2Vec": ("doc2vec", "TFDoc2Vec"),
    "Doc2VecVectorizer": ("integrations.document_vectorizer", "Doc2VecVectorizer"),
    "EarlyStopping": ("training.early_stopping", "EarlyStopping"),
    "FastText": ("fasttext", "TFFastText"),
    "FastTextVectorizer": ("integrations.vectorizer", "FastTextVectorizer"),
    "NeighbourIndex": ("integrations.neighbour_index", "NeighbourIndex"),
    "RandomWalks": ("walks.random_walks", "RandomWalks"),
    "SearchResult": ("search.search", "SearchResult"),
    "TFDoc2Vec": ("doc2vec", "TFDoc2Vec"),
    "TFFastText": ("fasttext", "TFFastText"),
    "TFWord2Vec": ("word2vec", "TFWord2Vec"),
    "TaggedLines": ("corpus.tagged_lines", "TaggedLines"),
    "TensorBoardLog": ("tensorboard.options", "TensorBoardLog"),
    "Validation": ("model.argument_groups", "Validation"),
    "Word2Vec": ("word2vec", "TFWord2Vec"),
    "Word2VecVectorizer": ("integrations.vectorizer", "Word2VecVectorizer"),
    "build_index": ("integrations.neighbour_index", "build_index"),
    "encode_corpus": ("corpus.encode", "encode_corpus"),
    "export_pretrained": ("files.pretrained", "export_pretrained"),
    "export_projector": ("tensorboard.projector", "export_projector"),
    "keras_embedding": ("integrations.keras_embedding", "keras_embedding"),
    "load_facebook_model": ("fasttext", "load_facebook_model"),
    "load_vectors_safely": ("files.safe_vectors", "load_vectors_safely"),
    "local_cluster": ("cluster.local", "local_cluster"),
    "merge_vectors": ("model.merged_vectors", "merge_vectors"),
    "plan": ("planning.planned_training", "plan"),
    "ray_cluster": ("integrations.ray_cluster", "ray_cluster"),
    "register_design": ("placement.designs", "register_design"),
    "register_task_functions": ("placement.server", "register_functions"),
    "score_vectors": ("evaluation.scoring", "score_vectors"),
    "tune": ("search.tune", "tune"),
}

if TYPE_CHECKING:
    from gensim_tfw2v.checkpoints.errors import CheckpointError
    from gensim_tfw2v.cluster.errors import ClusterError
    from gensim_tfw2v.cluster.local import local_cluster
    from gensim_tfw2v.corpus.encode import encode_corpus
    from gensim_tfw2v.corpus.tagged_lines import TaggedLines
    from gensim_tfw2v.doc2vec import TFDoc2Vec
    from gensim_tfw2v.doc2vec import TFDoc2Vec as Doc2Vec
    from gensim_tfw2v.evaluation.scoring import score_vectors
    from gensim_tfw2v.fasttext import TFFastText, load_facebook_model
    from gensim_tfw2v.fasttext import TFFastText as FastText
    from gensim_tfw2v.files.pretrained import export_pretrained
    from gensim_tfw2v.files.safe_vectors import load_vectors_safely
    from gensim_tfw2v.integrations.document_vectorizer import Doc2VecVectorizer
    from gensim_tfw2v.integrations.keras_embedding import keras_embedding
    from gensim_tfw2v.integrations.neighbour_index import NeighbourIndex, build_index
    from gensim_tfw2v.integrations.ray_cluster import ray_cluster
    from gensim_tfw2v.integrations.vectorizer import FastTextVectorizer, Word2VecVectorizer
    from gensim_tfw2v.model.argument_groups import Cache, Checkpoints, Cluster, Validation
    from gensim_tfw2v.model.merged_vectors import merge_vectors
    from gensim_tfw2v.placement.designs import register_design
    from gensim_tfw2v.placement.server import register_functions as register_task_functions
    from gensim_tfw2v.planning.planned_training import plan
    from gensim_tfw2v.search.search import SearchResult
    from gensim_tfw2v.search.tune import tune
    from gensim_tfw2v.tensorboard.options import TensorBoardLog
    from gensim_tfw2v.tensorboard.projector import export_projector
    from gensim_tfw2v.training.divergence import DivergenceError
    from gensim_tfw2v.training.early_stopping import EarlyStopping
    from gensim_tfw2v.walks.random_walks import RandomWalks
    from gensim_tfw2v.word2vec import TFWord2Vec
    from gensim_tfw2v.word2vec import TFWord2Vec as Word2Vec

watch_forks()


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        module, attribute = _HOMES[name]
        return getattr(importlib.import_module(f"gensim_tfw2v.{module}"), attribute)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

"""TFWord2Vec: gensim's Word2Vec, trained by TensorFlow graphs.

Importing this package costs next to nothing: gensim is imported with the first name that needs it, and TensorFlow
when training starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["TFWord2Vec", "__version__", "local_cluster"]

if TYPE_CHECKING:
    from gensim_tfw2v.cluster.local import local_cluster
    from gensim_tfw2v.word2vec import TFWord2Vec


def __getattr__(name: str) -> Any:
    if name == "TFWord2Vec":
        from gensim_tfw2v.word2vec import TFWord2Vec

        return TFWord2Vec
    if name == "local_cluster":
        from gensim_tfw2v.cluster.local import local_cluster

        return local_cluster
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

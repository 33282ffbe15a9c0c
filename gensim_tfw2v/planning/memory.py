"""A training and its tasks → the resident memory of each kind of task, in bytes."""

from __future__ import annotations

from gensim_tfw2v import tuning
from gensim_tfw2v.planning.traffic import Traffic
from gensim_tfw2v.planning.workload import ID_BYTES, TABLES, Workload

# Measured on processes whose tables are small: docs/how-it-works/planning.md.
_PROCESS = 650_000_000  # one process: Python, gensim, TensorFlow and its graphs
_SERVER, _WORKER, _COORDINATOR = 630_000_000, 640_000_000, 750_000_000
_THREAD = 25_000_000  # a thread of one process: a block and a batch's arrays
_CORE = 40_000_000  # the same of a worker's core
_CONNECTION = 3_000_000  # of a server with a worker
_COPIES = 5  # of rows on a worker, and of messages on a server, at their most
_MESSAGES_AT_ONCE = 2  # of workers that a server answers
_TOKEN = 20  # a block's arrays
_AVERAGED_TABLES, _ROW_STATE, _AVERAGED_NUMBER = 2, 4, 24  # of a worker that averages: docs/how-it-works
CACHE_BYTES = 256 << 20  # `cache_memory`: ids that stay in memory


def memory_here(workload: Workload, cores: float) -> int:
    """Return the memory of a training in one process."""
    vocabulary = workload.model_bytes["vocab"]
    threads = round(cores) + 1 if cores > 1 else 1
    trained_and_models = 2 * workload.table_bytes
    return round(_PROCESS + threads * _THREAD + vocabulary + trained_and_models + _cached_ids(workload))


def memory_of_server(workload: Workload, traffic: Traffic, workers: int, servers: int) -> int:
    """Return the memory of a server with its part of all tables."""
    answered = min(traffic.in_flight, _MESSAGES_AT_ONCE) * _COPIES * traffic.pulled / servers
    return round(_SERVER + workload.table_bytes / servers + workers * _CONNECTION + answered)


def memory_of_idle_server() -> int:
    """Return the memory of the server that averaging needs and does not use."""
    return _SERVER


def memory_of_worker(workload: Workload, traffic: Traffic, cores: float) -> int:
    """Return the memory of a worker that trains copies of rows."""
    tokens = traffic.block_words * workload.kept_share
    rows = _COPIES * traffic.rows * workload.vector_bytes
    return round(_WORKER + max(cores, 1) * _CORE + rows + tokens * _TOKEN)


def memory_of_averaging_worker(workload: Workload, traffic: Traffic, cores: float) -> int:
    """Return the memory of a worker that has all tables."""
    rows = TABLES * workload.vocabulary
    numbers = min(workload.vocabulary * workload.vector_size, tuning.AVERAGED_NUMBERS_AT_ONCE)
    tables = rows * (_AVERAGED_TABLES * workload.vector_bytes + _ROW_STATE) + _AVERAGED_NUMBER * numbers
    tokens = min(traffic.block_words, tuning.MOST_BLOCK_WORDS * max(cores, 1)) * workload.kept_share
    return round(_WORKER + max(cores, 1) * _CORE + tables + tokens * _TOKEN)


def memory_of_coordinator(workload: Workload, has_vectors: bool) -> int:
    """Return the memory of the process that calls `train()`: with all vectors, or with vectors on servers."""
    vectors = 2 * workload.table_bytes if has_vectors else 0  # the model's, and those that are fetched
    return round(_COORDINATOR + workload.model_bytes["vocab"] + vectors + _cached_ids(workload))


def fits_cache(words: int) -> bool:
    """Return whether a corpus stays in memory as ids; a larger one is read in every epoch."""
    return words * ID_BYTES <= CACHE_BYTES


def _cached_ids(workload: Workload) -> int:
    """Return the bytes of the corpus in memory."""
    return workload.words * ID_BYTES if fits_cache(workload.words) and not workload.encoded else 0

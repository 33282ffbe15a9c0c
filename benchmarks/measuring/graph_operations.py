"""The operations of a batch's graph, and what TensorFlow's own lists say of them on GPUs. It needs no GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# They pass a tensor on, or say what is known of its shape: nothing is started on the GPU.
_NO_WORK = {
    *("Const", "Identity", "IdentityN", "NoOp", "Placeholder", "Shape", "ShapeN", "Size", "Rank"),
    *("Reshape", "ExpandDims", "Squeeze", "ReadVariableOp", "TensorListReserve", "TensorListSetItem"),
    *("PartitionedCall", "StatefulPartitionedCall"),
}
# Of the graphs that they call, the one whose operations count: the body of a loop, and a batch without its loss.
_CALLED = {"While": "body", "StatelessWhile": "body", "If": "else_branch", "StatelessIf": "else_branch"}


def nodes_of(objective: Any, kernel: Any, draws: bool = False) -> Iterator[Any]:
    """Yield the nodes of a block's graph, those of its loops and branches included.

    Parameters
    ----------
    objective, kernel
        The arguments of `gensim_tfw2v.steps.graph.block_function`.
    draws : bool
        Whether it is the graph that also draws the block, of `gensim_tfw2v.steps.draws.graph.chunk_function`.
    """
    graph = _graph_of(objective, kernel, draws)
    yield from graph.node
    for function in graph.library.function:
        yield from function.node_def


def gpu_versions_of(node: Any) -> list[frozenset[str]]:
    """Return TensorFlow's versions of an operation for GPUs with a node's types: what each has in the CPU's memory."""
    from tensorflow.python.framework.kernels import get_registered_kernels_for_op

    fitting = [kernel for kernel in get_registered_kernels_for_op(node.op).kernel if _has_types_of(node, kernel)]
    own, for_any = ([kernel for kernel in fitting if kernel.device_type == kind] for kind in ("GPU", "DEFAULT"))
    return [frozenset(kernel.host_memory_arg) for kernel in own or for_any]


def _has_types_of(node: Any, kernel: Any) -> bool:
    wanted = {one.name: set(one.allowed_values.list.type) for one in kernel.constraint if one.name in node.attr}
    return all({node.attr[name].type, *node.attr[name].list.type} - {0} <= types for name, types in wanted.items())


def launches_a_batch(objective: Any, kernel: Any) -> int:
    """Return about how many operations a batch starts on a GPU, in a batch whose loss is not measured.

    These are the nodes of the loop over batches that compute, and whose results are in the GPU's memory.
    """
    graph = _graph_of(objective, kernel)
    functions = {function.signature.name: function for function in graph.library.function}
    loops = [node for node in graph.node if _CALLED.get(node.op) == "body"]
    return sum(_launches(node, functions) for node in loops)


def launches_of_draws(objective: Any, kernel: Any) -> int:
    """Return about how many operations draw a block on a GPU: those of its graph that are outside of all loops."""
    graph = _graph_of(objective, kernel, draws=True)
    return sum(_launches(node, {}) for node in graph.node if node.op not in _CALLED)


def _graph_of(objective: Any, kernel: Any, draws: bool = False) -> Any:
    from gensim_tfw2v.steps.draws.graph import chunk_function
    from gensim_tfw2v.steps.graph import block_function

    return (chunk_function if draws else block_function)(objective, kernel).graph.as_graph_def()


def _launches(node: Any, functions: dict[str, Any]) -> int:
    """Return how many operations a node starts, with those of the graph that it calls."""
    if node.op in _CALLED:
        called = functions[node.attr[_CALLED[node.op]].func.name]
        return sum(_launches(inner, functions) for inner in called.node_def)
    return int(node.op not in _NO_WORK and _is_on_gpu(node))


def _is_on_gpu(node: Any) -> bool:
    """Return whether an operation's results are in the GPU's memory."""
    versions = gpu_versions_of(node)
    results = {"output", "z", "y", "components", "handle"}
    return bool(versions) and not any(results & in_cpu for in_cpu in versions)

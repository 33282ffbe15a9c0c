"""Tables, draws and steps on a device of this process: a chunk's words are sent there, and one graph does the rest."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_task import NOTHING_TRAINED, BatchMetrics, ChunkTask, TrainedChunk, sentences_of
from gensim_tfw2v.corpus.shards import Span
from gensim_tfw2v.placement.local.calls import ONE_CORE, Calls
from gensim_tfw2v.placement.local.kept_chunks import KeptChunks
from gensim_tfw2v.placement.local.placement import LocalPlacement
from gensim_tfw2v.runtime.devices import THE_CPU, Device
from gensim_tfw2v.steps.kernel import Kernel
from gensim_tfw2v.steps.settings import StepSettings


class DrawingPlacement(LocalPlacement):
    """Sends each chunk's words to a device, which subsamples them, draws windows and negatives, and trains.

    The draws follow from the seed, whatever the device. Chunks of an encoded corpus stay on the device while they fit.

    Parameters
    ----------
    calls : Calls
        One call at a time; further threads read and send the chunks that come next.
    """

    def __init__(
        self,
        settings: StepSettings,
        maker: BlockMaker,
        calls: Calls = ONE_CORE,
        steps: Kernel | None = None,
        device: Device = THE_CPU,
    ) -> None:
        super().__init__(settings, maker, calls, steps, device)
        from gensim_tfw2v.steps.draws import arguments

        self._draw_arguments = arguments
        self._draw_tables = self._sent(arguments.draw_tables(maker))
        self._kept = KeptChunks()

    def _make_graph(self) -> None:
        from gensim_tfw2v.steps.draws.graph import chunk_function

        self._train_drawn = chunk_function(self._objective, self._kernel)

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        began = time.perf_counter()
        chunk = self._kept.get(task.content) or self._send(task)
        sent = time.perf_counter()
        fastest = max(task.first_rate, task.last_rate)
        trained = self._call(
            self._train_drawn,
            chunk,
            self._draw_tables,
            self._draw_arguments.chunk_schedule(self._maker, task),
            self._arguments.rates_of_chunk(self._settings, fastest, self._lock_factors),
        )
        tokens = int(trained.tokens.numpy())  # waits until the batches are trained
        if not tokens:
            return replace(NOTHING_TRAINED, seconds_preparing=sent - began)
        return TrainedChunk(
            tokens=tokens,
            batches=BatchMetrics(*(np.asarray(metric.numpy()) for metric in trained.metrics)),
            measured=trained.measured.numpy(),
            pairs=trained.pairs.numpy(),
            seconds_preparing=sent - began,
            seconds_stepping=time.perf_counter() - sent,
        )

    def _send(self, task: ChunkTask) -> Any:
        """Return a chunk's tensors on the device, and keep them there if they come from an encoded corpus."""
        arrays = self._draw_arguments.chunk_tensors(sentences_of(self._maker, task))
        chunk = self._sent(arrays)
        if isinstance(task.content, Span):
            self._kept.keep(task.content, chunk, sum(array.nbytes for array in arrays))
        return chunk

    def _sent(self, arrays: Any) -> Any:
        """Return nested arrays as tensors on the device."""
        with self._tf.device(self._device.place):
            tensors = [self._tf.identity(tensor) for tensor in self._arguments.as_tensors(arrays)]
        return self._tf.nest.pack_sequence_as(arrays, tensors)

    def close(self) -> None:
        super().close()
        self._kept.clear()

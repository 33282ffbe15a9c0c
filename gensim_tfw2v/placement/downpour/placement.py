"""Tables on parameter servers, steps on workers: a worker trains a block on copies of the rows that it needs."""

from __future__ import annotations

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.placement.calls.dispatch import Dispatcher
from gensim_tfw2v.placement.calls.ramp_up import RampUp
from gensim_tfw2v.placement.calls.server_placement import ServerPlacement
from gensim_tfw2v.placement.calls.server_training import ServerTraining
from gensim_tfw2v.placement.request import ClusterRequest
from gensim_tfw2v.placement.server_rows.row_program import RowProgram
from gensim_tfw2v.placement.server_rows.shape import RowTraining
from gensim_tfw2v.steps.settings import StepSettings


class DownpourPlacement(ServerPlacement):
    """Trains on the workers of a cluster; blocks in flight do not see each other's changes until these are pushed.

    Parameters
    ----------
    concurrency : int
        Blocks in flight. If it exceeds the number of workers, a worker makes its next block and pulls that block's
        rows while it trains. If it is 1, blocks are trained in their order as in one process.
    row_type : str
        TensorFlow's name of the number format in which rows and their changes are sent.
    block_words : int, optional
        Raw words of the blocks that a call of a worker trains one after the other. Default: a chunk is one block.
    call_blocks : int
        How many blocks a call of a worker trains.
    ramp_up : RampUp, optional
        How many blocks may be in flight at the start of the training. Default: as for a training of unknown length.
    """

    _ramp_up: RampUp

    def __init__(
        self,
        settings: StepSettings,
        maker: BlockMaker,
        request: ClusterRequest,
        concurrency: int,
        row_type: str = "float32",
        block_words: int | None = None,
        call_blocks: int = 1,
        ramp_up: RampUp | None = None,
    ) -> None:
        self.concurrency, connection = concurrency, request.connection
        self._cores, self._block_words = request.cores, block_words
        how = RowTraining(
            row_type=row_type,
            corrects=concurrency > 1,
            overlap=concurrency > connection.workers,
            has_blocks=block_words is not None,
            steps_on=request.device,
        )
        self._program = RowProgram(connection, settings, how, cores=self._cores)
        overlap = how.overlap and not how.has_blocks  # blocks of one call overlap, and calls do not
        dispatcher = Dispatcher(connection, request.options.timeout, overlap, call_blocks)
        changes = request.has_changing_workers
        training = ServerTraining(dispatcher, settings, maker, self._program, has_changing_workers=changes)
        super().__init__(training, ramp_up or RampUp(concurrency))

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        with self._ramp_up.block() as in_flight:
            request = self.training.request(task, in_flight, cores=self._cores, block_words=self._block_words)
            return self.training.dispatcher.train(request).trained()

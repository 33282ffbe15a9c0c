"""Tables on parameter servers, steps on workers: a worker trains a block on copies of the rows that it needs."""

from __future__ import annotations

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.placement.calls.ramp_up import RampUp
from gensim_tfw2v.placement.calls.server_placement import ServerPlacement
from gensim_tfw2v.placement.calls.server_training import ServerTraining
from gensim_tfw2v.placement.server_rows.row_program import RowProgram
from gensim_tfw2v.runtime.devices import THE_CPU, Device
from gensim_tfw2v.steps.settings import StepSettings


class DownpourPlacement(ServerPlacement):
    """Trains on the workers of a cluster; blocks in flight do not see each other's changes until these are pushed.

    Parameters
    ----------
    concurrency : int
        Blocks in flight. If it exceeds the number of workers, a worker makes its next block and pulls that block's
        rows while it trains. If it is 1, blocks are trained in their order as in one process.
    timeout : float
        Seconds after which a block that its worker has not finished goes to another worker.
    ramp_up : RampUp, optional
        How many blocks may be in flight at the start of the training. Default: as for a training of unknown length.
    row_type : str
        TensorFlow's name of the number format in which rows and their changes are sent.
    cores : int
        The most cores of a worker that train a block.
    has_changing_workers : bool
        Whether workers may join and leave.
    block_words : int, optional
        Raw words of the blocks that a call of a worker trains one after the other. Default: a chunk is one block.
    device : Device
        The device of each worker that trains.
    call_blocks : int
        How many blocks a call of a worker trains.
    """

    _ramp_up: RampUp

    def __init__(
        self,
        settings: StepSettings,
        maker: BlockMaker,
        connection: Connection,
        concurrency: int,
        timeout: float,
        ramp_up: RampUp | None = None,
        row_type: str = "float32",
        cores: int = 1,
        has_changing_workers: bool = False,
        block_words: int | None = None,
        device: Device = THE_CPU,
        call_blocks: int = 1,
    ) -> None:
        self.concurrency = concurrency
        overlap, has_blocks = concurrency > connection.workers, block_words is not None
        self._cores, self._block_words = cores, block_words
        self._program = RowProgram(
            connection,
            settings,
            row_type,
            corrects=concurrency > 1,
            overlap=overlap,
            cores=cores,
            has_blocks=has_blocks,
            steps_on=device,
        )
        training = ServerTraining(
            connection,
            settings,
            maker,
            self._program,
            timeout,
            overlap and not has_blocks,  # blocks of one call overlap, and calls do not
            has_changing_workers=has_changing_workers,
            call_blocks=call_blocks,
        )
        super().__init__(training, ramp_up or RampUp(concurrency))

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        with self._ramp_up.block() as in_flight:
            request = self.training.request(task, in_flight, cores=self._cores, block_words=self._block_words)
            return self.training.dispatcher.train(request).trained()

"""gensim's Word2Vec whose `train()` runs TensorFlow graphs: arguments and hooks only, the work is done elsewhere."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from itertools import pairwise
from timeit import default_timer
from typing import Any

import numpy as np

from gensim_tfw2v.blocks.huffman import draws_ties, huffman_codes
from gensim_tfw2v.blocks.sampling import cumulative_table, word_counts
from gensim_tfw2v.cluster.specification import addresses_of
from gensim_tfw2v.model.arguments import TRAINING_ARGUMENTS, check_arguments, plain_arguments
from gensim_tfw2v.model.gensim_files import CACHE_MEMORY, CLUSTER_TIMEOUT, UNSET_BATCH_WORDS
from gensim_tfw2v.model.server_vectors import check_server_vectors
from gensim_tfw2v.model.table_sync import TableSync, check_tables
from gensim_tfw2v.model.training_plan import TrainingPlan
from gensim_tfw2v.placement.choice import PlacementChoice
from gensim_tfw2v.runtime.tensorflow import check_runs_at_once
from gensim_tfw2v.tensorboard.model_log import check_log, start_log
from gensim_tfw2v.tensorboard.options import LogDir, TensorBoardLog, log_options
from gensim_tfw2v.training.epochs import EpochPlan, train_epochs
from gensim_tfw2v.training.progress import EpochCounts, ProgressObserver, TrainingBar, TrainingLog, wants_bar

logger = logging.getLogger(__name__)


class TFWord2Vec(TrainingPlan):
    """Train, use and evaluate word vectors as with :class:`gensim.models.Word2Vec`, faster.

    Every argument, attribute and method of gensim's class is there with the same meaning; `train()` runs TensorFlow
    graphs. What differs is listed in ``docs/differences.md``. The arguments below are this class's own.

    Parameters
    ----------
    progress : bool, optional
        Draw progress bars on standard error. By default only if it is a terminal; log lines otherwise.
    cache_memory : int, optional
        Bytes that the encoded corpus (4 a word) may take in memory. A corpus that fits is read and encoded once and
        not again every epoch. 0 reads it every epoch: right for iterables that yield other sentences each time.
    cache_disk : int, optional
        Bytes that the encoded corpus may take on disk if it does not fit `cache_memory`.
    cache_dir : str, optional
        Directory for that, by default the system's for temporary files.
    batch_tokens : int, optional
        Words whose gradients are computed from the same version of the vectors. By default chosen from the
        vocabulary and the vector size.
    run_tokens : int, optional
        Consecutive words that share contexts and negative words, at most `batch_tokens`. By default chosen from the
        window, the vocabulary and the vector size.
    shared_negatives : int, optional
        Negative words drawn for each run of words; they stand, with the right weight, for `negative` draws a pair.
    update_bound : float, optional
        Longest step that a batch may move a vector by, in multiples of the starting learning rate, or of the present
        one where that is higher; 20 by default, 7 with hierarchical softmax alone.
    compute_dtype : {"bfloat16", "float32"}, optional
        Numbers that skip-gram's products with contexts and negatives are computed with; vectors themselves, sums and
        steps are float32, and so is all of CBOW. By default the shorter ones where this machine's processor has
        instructions for them and batches are large enough to gain.
    logdir : str, os.PathLike or TensorBoardLog, optional
        Folder in which `train()` logs for TensorBoard, or a `TensorBoardLog` that also says what. It is not saved with
        the model.
    cluster : optional
        Where to train instead of in this process: a dict or ``tf.train.ClusterSpec`` of "ps" and "worker" addresses,
        a cluster resolver, a ``ParameterServerStrategy``, ``"env"`` for the environment variable TF_CONFIG, or what
        ``gensim_tfw2v.local_cluster()`` yields. Not saved with the model. See ``docs/cluster.md``.
    cluster_timeout : float, optional
        Seconds after which a block that its worker has not finished goes to another worker.
    cluster_overlap : bool, optional
        Let workers pull the rows of their next block while they train: for slow networks, at some cost of quality.
        By default only where the corpus has hundreds of blocks for every worker, and never with ``workers=1``.
    cluster_dtype : {"bfloat16", "float32"}, optional
        Numbers that rows and their changes travel as. By default the shorter ones,
        but "float32" with ``workers=1``, which gives the vectors of local training.
    vectors_on_servers : bool, optional
        Have the vectors on the cluster's parameter servers only, so that they may be larger than this process's
        memory: they are made there, stay there after training, and `export_vectors()` writes them to a file.

    Attributes
    ----------
    epoch_losses : list of float
        Mean loss per trained pair of each epoch of the last `train()`: of all batches with ``compute_loss=True``,
        otherwise of every 16th, of those of 512 words or more every 64th.
    training_report : dict or None
        What the last `train()` on a cluster took: bytes, seconds of workers, staleness, figures of every task.

    Examples
    --------
    .. sourcecode:: pycon

        >>> from gensim_tfw2v import TFWord2Vec
        >>> sentences = [["cat", "say", "meow"], ["dog", "say", "woof"]]
        >>> model = TFWord2Vec(sentences, min_count=1)
    """

    def __init__(
        self,
        sentences: Iterable[Sequence[Any]] | None = None,
        corpus_file: str | None = None,
        vector_size: int = 100,
        alpha: float = 0.025,
        window: int = 5,
        min_count: int = 5,
        max_vocab_size: int | None = None,
        sample: float = 1e-3,
        seed: int = 1,
        workers: int = 3,
        min_alpha: float = 0.0001,
        sg: int = 0,
        hs: int = 0,
        negative: int = 5,
        ns_exponent: float = 0.75,
        cbow_mean: int = 1,
        hashfxn: Callable[[Any], int] = hash,
        epochs: int = 5,
        null_word: int = 0,
        trim_rule: Callable[[str, int, int], int] | None = None,
        sorted_vocab: int = 1,
        batch_words: int = UNSET_BATCH_WORDS,
        compute_loss: bool = False,
        callbacks: Iterable[Any] = (),
        comment: str | None = None,
        max_final_vocab: int | None = None,
        shrink_windows: bool = True,
        *,
        progress: bool | None = None,
        cache_memory: int = CACHE_MEMORY,
        cache_disk: int = 0,
        cache_dir: str | None = None,
        batch_tokens: int | None = None,
        run_tokens: int | None = None,
        shared_negatives: int | None = None,
        update_bound: float | None = None,
        compute_dtype: str | None = None,
        logdir: LogDir = None,
        cluster: Any = None,
        cluster_timeout: float = CLUSTER_TIMEOUT,
        cluster_overlap: bool | None = None,
        cluster_dtype: str | None = None,
        vectors_on_servers: bool = False,
    ) -> None:
        check_arguments(locals())
        check_log(log_options(logdir))
        check_server_vectors(vectors_on_servers, cluster, logdir)
        if cluster is not None:
            addresses_of(cluster)  # raises an error if it is none
        self.progress = progress
        self.cache_memory = cache_memory
        self.cache_disk = cache_disk
        self.cache_dir = cache_dir
        self.batch_tokens = batch_tokens
        self.run_tokens = run_tokens
        self.shared_negatives = shared_negatives
        self.update_bound = update_bound
        self.compute_dtype = compute_dtype
        self.logdir = logdir
        self.cluster = cluster
        self.cluster_timeout = cluster_timeout
        self.cluster_overlap = cluster_overlap
        self.cluster_dtype = cluster_dtype
        self.vectors_on_servers = vectors_on_servers
        self.training_report: dict[str, Any] | None = None
        self.epoch_losses: list[float] = []
        self._scan = None
        super().__init__(
            sentences=sentences,
            corpus_file=corpus_file,
            vector_size=int(vector_size),
            alpha=alpha,
            window=window,
            min_count=min_count,
            max_vocab_size=max_vocab_size,
            sample=sample,
            seed=seed,
            workers=workers,
            min_alpha=min_alpha,
            sg=sg,
            hs=hs,
            negative=negative,
            ns_exponent=ns_exponent,
            cbow_mean=cbow_mean,
            hashfxn=hashfxn,
            epochs=epochs,
            null_word=null_word,
            trim_rule=trim_rule,
            sorted_vocab=sorted_vocab,
            batch_words=batch_words,
            compute_loss=compute_loss,
            callbacks=callbacks,
            comment=comment,
            max_final_vocab=max_final_vocab,
            shrink_windows=shrink_windows,
        )

    # -- vocabulary ------------------------------------------------------------------------------------------------

    def make_cum_table(self, domain: int = 2**31 - 1) -> None:
        """Set ``cum_table``, which negatives are drawn from, as gensim's loop over all words would."""
        self.cum_table = cumulative_table(word_counts(self.wv), float(self.ns_exponent), domain)

    def create_binary_tree(self) -> None:
        """Set each word's ``code`` and ``point`` as gensim would, for many words as in an order that the seed draws."""
        logger.info("constructing a huffman tree from %i words", len(self.wv))
        order = np.arange(len(self.wv))
        if draws_ties(len(self.wv)):
            np.random.default_rng(self._entropy()).shuffle(order)
        ways = huffman_codes(word_counts(self.wv), order)
        for name, values in (("code", ways.codes), ("point", ways.points)):
            self.wv.allocate_vecattrs(attrs=[name], types=[object])
            for word, (start, stop) in enumerate(pairwise(ways.offsets.tolist())):
                self.wv.expandos[name][word] = values[start:stop]
        logger.info("built huffman tree with maximum node depth %i", np.diff(ways.offsets).max(initial=0))

    # -- training --------------------------------------------------------------------------------------------------

    def train(
        self,
        corpus_iterable: Iterable[Sequence[Any]] | None = None,
        corpus_file: str | None = None,
        total_examples: int | None = None,
        total_words: int | None = None,
        epochs: int | None = None,
        start_alpha: float | None = None,
        end_alpha: float | None = None,
        word_count: int = 0,
        queue_factor: int = 2,
        report_delay: float = 1.0,
        compute_loss: bool = False,
        callbacks: Iterable[Any] = (),
        *,
        logdir: LogDir = None,
        cluster: Any = None,
    ) -> tuple[int, int]:
        """Update the vectors from a corpus, as :meth:`gensim.models.Word2Vec.train` does and with its arguments.

        `word_count` and `queue_factor` are accepted and have no effect: the first has none in gensim, and as many
        blocks are read ahead as there are workers. `logdir` and `cluster` are as in the constructor, whose values stand
        if there are none here.

        Returns
        -------
        (int, int)
            Number of trained words (known and kept by subsampling) and of raw words, over all epochs.
        """
        rates = plain_arguments({"start_alpha": start_alpha, "end_alpha": end_alpha})
        self.__dict__.update(plain_arguments({name: getattr(self, name) for name in TRAINING_ARGUMENTS}))
        log = log_options(self.logdir if logdir is None else logdir)
        check_log(log)
        cluster = self.cluster if cluster is None else cluster
        check_server_vectors(self.vectors_on_servers, cluster, log)
        with self._settings_kept_if_it_fails():
            self.alpha: float = rates["start_alpha"] or self.alpha
            self.min_alpha: float = rates["end_alpha"] or self.min_alpha
            self.epochs: Any = epochs  # gensim's own check below wants a number
            self._check_training_sanity(epochs=epochs, total_examples=total_examples, total_words=total_words)
            self._check_corpus_sanity(corpus_iterable=corpus_iterable, corpus_file=corpus_file, passes=epochs)
            if corpus_file is not None and not total_words:
                raise ValueError("total_words must be provided alongside corpus_file argument.")
            check_tables(self)
            check_runs_at_once()
            self.add_lifecycle_event(
                "train",
                msg=(
                    f"training model with {self.workers} workers on {len(self.wv)} vocabulary and "
                    f"{self.layer1_size} features, using sg={self.sg} hs={self.hs} sample={self.sample} "
                    f"negative={self.negative} window={self.window} shrink_windows={self.shrink_windows}"
                ),
            )
            self.compute_loss = compute_loss
            self.running_training_loss = 0.0
            self.epoch_losses = []
            callbacks = list(callbacks)
            for callback in callbacks:
                callback.on_train_begin(self)

            start = default_timer() - 0.00001
            place = self._place(cluster, total_words)
            tallies = self._train_epochs(
                corpus_iterable, corpus_file, total_examples, total_words, report_delay, callbacks, log, place
            )
        trained_words = sum(tally.trained_words for tally in tallies)
        raw_words = sum(tally.raw_words for tally in tallies)
        self._log_train_end(raw_words, trained_words, default_timer() - start, sum(tally.blocks for tally in tallies))
        self.train_count += 1
        self._clear_post_train()
        for callback in callbacks:
            callback.on_train_end(self)
        return trained_words, raw_words

    @contextmanager
    def _settings_kept_if_it_fails(self) -> Iterator[None]:
        """Give back the settings that `train()` has taken over if it raises an error."""
        before = self.alpha, self.min_alpha, self.epochs
        try:
            yield
        except Exception:
            self.alpha, self.min_alpha, self.epochs = before
            raise

    def _train_epochs(
        self,
        corpus_iterable: Iterable[Sequence[Any]] | None,
        corpus_file: str | None,
        total_examples: int | None,
        total_words: int | None,
        report_delay: float,
        callbacks: Sequence[Any],
        log: TensorBoardLog | None,
        place: PlacementChoice,
    ) -> list[EpochCounts]:
        """Return what each epoch trained."""
        tallies: list[EpochCounts] = []
        settings, maker = self._step_and_blocks(place)
        in_use = self._settings_in_use()
        shown = TrainingBar() if wants_bar(self.progress) else TrainingLog(report_delay)
        with ExitStack() as cleanup:
            cleanup.callback(shown.close)
            source = self._source(corpus_iterable, corpus_file, total_words, place.block_words)
            cleanup.callback(source.close)
            current = TableSync(self, place.make(settings, replace(maker, reader=source.reader)))
            cleanup.callback(current.close)  # brings the model up to date, also when training is cut short
            observers: list[ProgressObserver] = [shown]
            if log is not None:
                observers.append(cleanup.enter_context(start_log(self, log, settings, current.look, place.addresses)))

            def plan(epoch: int) -> EpochPlan:
                self._warn_of_changes(in_use)
                return self._epoch_plan(epoch, total_examples, total_words)

            is_looked_at = bool(callbacks) or log is not None  # between epochs, which else follow without a pause
            for epochs in [[epoch] for epoch in range(self.epochs)] if is_looked_at else [range(self.epochs)]:
                for callback in callbacks:
                    callback.on_epoch_begin(self)
                placement = current.push()
                with closing(train_epochs(map(plan, epochs), source, placement, observers)) as trained:
                    for done, tally in trained:
                        tallies.append(tally)
                        self._count_epoch(done, tally, from_file=corpus_file is not None)
                        self.training_report = current.report(sum(tally.raw_words for tally in tallies))
                        if callbacks:  # they may read the model, and change it
                            current.pull()
                        elif done.epoch + 1 < self.epochs:  # after the last it is brought up to date at once
                            current.back_up()
                for callback in callbacks:
                    callback.on_epoch_end(self)
        return tallies

    def _count_epoch(self, plan: EpochPlan, tally: EpochCounts, from_file: bool) -> None:
        """Take an epoch's figures into the model's own."""
        if tally.blocks == 0 and tally.raw_words == 0 and self.train_count == 0:
            logger.warning(
                "train() called with an empty iterator (if not intended, "
                "be sure to provide a corpus that offers restartable iteration = an iterable)."
            )
        self.epoch_losses.append(tally.mean_loss)
        if self.compute_loss:
            self.running_training_loss += tally.loss
        self.total_train_time += tally.seconds
        self._log_epoch_end(
            plan.epoch,
            tally.examples,
            plan.total_examples,
            tally.raw_words,
            plan.total_words,
            tally.trained_words,
            max(tally.seconds, 1e-9),
            from_file,
        )

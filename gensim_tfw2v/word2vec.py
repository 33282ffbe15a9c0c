"""gensim's Word2Vec whose `train()` runs TensorFlow graphs: arguments and hooks only, the work is done elsewhere."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from timeit import default_timer
from typing import Any, TypeVar

import numpy as np
from gensim.models import Word2Vec

from gensim_tfw2v.blocks.huffman import build_huffman_tree, has_random_ties
from gensim_tfw2v.blocks.sampling import cumulative_table, word_counts
from gensim_tfw2v.cluster.exposure import check_cluster
from gensim_tfw2v.corpus.decompression import is_compressed
from gensim_tfw2v.corpus.shards import header_of, is_encoded
from gensim_tfw2v.files.models import missing_explained, save_whole
from gensim_tfw2v.files.vectors import write_vectors
from gensim_tfw2v.model.arguments import (
    TRAINING_ARGUMENTS,
    check_arguments,
    default_of,
    docstring_entries,
    plain_arguments,
)
from gensim_tfw2v.model.checkpoint_content import state_in
from gensim_tfw2v.model.consistency import check_fits
from gensim_tfw2v.model.corpus_reading import (
    Corpus,
    CorpusReader,
    MarklessLines,
    RawVocabulary,
    ReadingOptions,
    check_holds_words,
    shown_sentences,
)
from gensim_tfw2v.model.fast_vecattr import set_quickly
from gensim_tfw2v.model.gensim_files import as_class, as_plain_gensim, restored_state, saved_state
from gensim_tfw2v.model.resuming import ResumeFrom, check_folder, resumed_model, where_to_begin
from gensim_tfw2v.model.server_vectors import (
    check_matrices_are_here,
    check_server_vectors,
    check_vocabulary_can_change,
    free_server_matrices,
    make_server_matrices,
)
from gensim_tfw2v.model.training_loop import TrainingCall, TrainingLoop
from gensim_tfw2v.model.training_plan import (
    UNSET_BATCH_WORDS,
    TrainingChoices,
    TrainingPlan,
    entropy_of,
    fall_within_epoch,
    placement_for,
)
from gensim_tfw2v.placement.designs import check_design
from gensim_tfw2v.runtime.tensorflow import check_runs_at_once, is_tensorflow_loaded
from gensim_tfw2v.tensorboard.model_log import check_log
from gensim_tfw2v.tensorboard.options import LogDir, log_options
from gensim_tfw2v.training.display import shown_while, wants_bar
from gensim_tfw2v.training.progress import EpochCounts

_Model = TypeVar("_Model", bound="TFWord2Vec")

logger = logging.getLogger(__name__)


class TFWord2Vec(Word2Vec):
    """Train, use and evaluate word vectors as with :class:`gensim.models.Word2Vec`, faster.

    Every argument, attribute and method of gensim's class is there with the same meaning; `train()` runs TensorFlow
    graphs. What differs is listed in ``docs/differences.md``. The arguments below are this class's own.

    Parameters
    ----------
    {own_arguments}

    Attributes
    ----------
    epoch_losses : list of float
        Mean loss per trained pair of each epoch of the last `train()`: of all batches with ``compute_loss=True``,
        otherwise of every 16th, of those of 512 words or more every 64th.
    training_report : dict or None
        What the last `train()` on a cluster took: bytes, seconds of workers, staleness, metrics of every task. With
        sub-models also what each of them trained.

    Examples
    --------
    .. sourcecode:: pycon

        >>> from gensim_tfw2v import TFWord2Vec
        >>> sentences = [["cat", "say", "meow"], ["dog", "say", "woof"]]
        >>> model = TFWord2Vec(sentences, min_count=1)
    """

    _is_constructed = True  # so it is for models that were loaded

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
        schedule: str | None = None,
        cache_memory: int = default_of("cache_memory"),
        cache_disk: int = 0,
        cache_dir: str | None = None,
        batch_tokens: int | None = None,
        run_tokens: int | None = None,
        shared_negatives: int | None = None,
        update_bound: float | None = None,
        compute_dtype: str | None = None,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        checkpoint_every: float | str = default_of("checkpoint_every"),
        keep_checkpoints: int = default_of("keep_checkpoints"),
        logdir: LogDir = None,
        cluster: Any = None,
        distribution: str = default_of("distribution"),
        round_words: int | None = None,
        backup_workers: int = default_of("backup_workers"),
        submodels: int | None = None,
        sampling: str | None = None,
        sampling_rate: float | None = None,
        merge: str | None = None,
        lbfgs_history: int | None = None,
        cluster_timeout: float = default_of("cluster_timeout"),
        recovery_timeout: float = default_of("recovery_timeout"),
        max_recoveries: int = default_of("max_recoveries"),
        cluster_overlap: bool | None = None,
        cluster_dtype: str | None = None,
        allow_network: bool = False,
        vectors_on_servers: bool = False,
    ) -> None:
        check_arguments(locals())
        check_log(log_options(logdir))
        check_folder(checkpoint_dir)
        check_server_vectors(vectors_on_servers, cluster, logdir)
        trains_later = sentences is None and corpus_file is None  # and may be given a cluster then
        check_design(locals(), has_cluster=trains_later or cluster is not None)
        if cluster is not None:
            check_cluster(cluster, allow_network)
        self.progress = progress
        self.schedule = schedule
        self.cache_memory = cache_memory
        self.cache_disk = cache_disk
        self.cache_dir = cache_dir
        self.batch_tokens = batch_tokens
        self.run_tokens = run_tokens
        self.shared_negatives = shared_negatives
        self.update_bound = update_bound
        self.compute_dtype = compute_dtype
        self.checkpoint_dir = checkpoint_dir
        self.checkpoint_every = checkpoint_every
        self.keep_checkpoints = keep_checkpoints
        self.logdir = logdir
        self.cluster = cluster
        self.distribution = distribution
        self.round_words = round_words
        self.backup_workers = backup_workers
        self.submodels = submodels
        self.sampling = sampling
        self.sampling_rate = sampling_rate
        self.merge = merge
        self.lbfgs_history = lbfgs_history
        self.cluster_timeout = cluster_timeout
        self.recovery_timeout = recovery_timeout
        self.max_recoveries = max_recoveries
        self.cluster_overlap = cluster_overlap
        self.cluster_dtype = cluster_dtype
        self.allow_network = allow_network
        self.vectors_on_servers = vectors_on_servers
        self.training_report: dict[str, Any] | None = None
        self.epoch_losses: list[float] = []
        self._reader = CorpusReader()
        self._is_constructed = False  # until gensim's constructor, which may train, has ended
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
        self._is_constructed = True

    # -- vocabulary ------------------------------------------------------------------------------------------------

    def scan_vocab(
        self,
        corpus_iterable: Iterable[Sequence[Any]] | None = None,
        corpus_file: str | None = None,
        progress_per: int = 10000,
        workers: int | None = None,
        trim_rule: Callable[[str, int, int], int] | None = None,
    ) -> tuple[int, int]:
        """Count the words of a corpus into ``raw_vocab``; all `workers` read a `corpus_file` at once.

        Returns
        -------
        (int, int)
            Number of raw words and of sentences.
        """
        self._reader.forget()
        options = ReadingOptions.of(self, workers)
        found: RawVocabulary
        if corpus_file is not None and is_encoded(corpus_file):
            found = self._reader.count_encoded(corpus_file, self.max_vocab_size)
        elif corpus_file is not None and not self.max_vocab_size:
            found = self._reader.count_file(corpus_file, options)
        else:  # pruning depends on the order of the words, so one process reads them
            if corpus_file is not None:
                corpus_iterable = MarklessLines(corpus_file)
            elif corpus_iterable is not None:
                corpus_iterable = shown_sentences(corpus_iterable, options.draws_bar)
            words, sentences = super().scan_vocab(corpus_iterable, None, progress_per, workers, trim_rule)
            return words, sentences
        self.raw_vocab = found.counts
        return found.raw_words, found.sentences

    def prepare_vocab(
        self,
        update: bool = False,
        keep_raw_vocab: bool = False,
        trim_rule: Any = None,
        min_count: int | None = None,
        sample: float | None = None,
        dry_run: bool = False,
    ) -> Any:
        """Choose the words to train, as gensim does; raise RuntimeError if their matrices are on the servers."""
        check_vocabulary_can_change(self)
        with set_quickly(self.wv):
            return super().prepare_vocab(update, keep_raw_vocab, trim_rule, min_count, sample, dry_run)

    def init_weights(self) -> None:
        """Make the matrices, or record how the servers make them when training begins."""
        if self.vectors_on_servers:
            make_server_matrices(self)
        else:
            super().init_weights()

    def make_cum_table(self, domain: int = 2**31 - 1) -> None:
        """Set ``cum_table``, which negatives are drawn from, as gensim's loop over all words would."""
        self.cum_table = cumulative_table(word_counts(self.wv), float(self.ns_exponent), domain)

    def create_binary_tree(self) -> None:
        """Set each word's ``code`` and ``point`` as gensim would, for many words as in an order that the seed draws."""
        logger.info("constructing a huffman tree from %i words", len(self.wv))
        order = np.arange(len(self.wv))
        if has_random_ties(len(self.wv)):
            np.random.default_rng(entropy_of(self)).shuffle(order)
        tree = build_huffman_tree(word_counts(self.wv), order)
        tree.store(self.wv)
        logger.info("built huffman tree with maximum node depth %i", tree.path_lengths().max(initial=0))

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
        resume: ResumeFrom = False,
    ) -> tuple[int, int]:
        """Update the vectors from a corpus, as :meth:`gensim.models.Word2Vec.train` does and with its arguments.

        `word_count` and `queue_factor` are accepted and have no effect: the first has none in gensim, and as many
        blocks are read ahead as there are workers. `logdir` and `cluster` are as in the constructor, whose values stand
        if there are none here.

        Parameters
        ----------
        resume : bool, str or os.PathLike
            True goes on from the newest checkpoint in the model's ``checkpoint_dir``, or begins anew if there is none.
            The path of a checkpoint goes on from that one. See :meth:`resume`, which needs no model.

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
        check_design(vars(self), has_cluster=cluster is not None)
        callbacks = list(callbacks)
        with self._settings_kept_if_it_fails(), ExitStack() as cleanup:
            self.alpha: float = rates["start_alpha"] or self.alpha
            self.min_alpha: float = rates["end_alpha"] or self.min_alpha
            self.epochs: Any = epochs  # gensim's own check wants a number
            self._check_can_train(corpus_iterable, corpus_file, total_examples, total_words)
            beginning = where_to_begin(self, resume, total_examples, total_words)
            folder, resumed, checkpoint = cleanup.enter_context(beginning)
            self._begin_training(compute_loss, callbacks)
            if callbacks:  # which may have changed the model
                check_fits(self)
            start = default_timer() - 0.00001
            begun_with = None if resumed is None else resumed.choices
            connect = partial(placement_for, self, cluster, total_words, begun_with)
            with shown_while("connecting to the cluster", wants_bar(self.progress) and cluster is not None):
                choice = connect()
            # gensim's constructor gives the model's own `min_alpha` as `end_alpha`.
            end_is_chosen = self._is_constructed and bool(rates["end_alpha"])
            fall = fall_within_epoch(self, from_file=corpus_file is not None, end_is_chosen=end_is_chosen)
            choices = begun_with or TrainingChoices.of(self, choice, total_examples, total_words, fall)
            source = self._reader.source(
                Corpus(corpus_iterable, corpus_file),
                self.wv,
                ReadingOptions.of(self),
                choices.block_words,
                total_words or self.corpus_total_words or 0,
                is_read_again=self.epochs != 1,
            )
            from_file = corpus_file is not None
            call = TrainingCall(callbacks, log, report_delay, from_file, connect, folder, resumed, checkpoint)
            of_epochs = TrainingLoop(self, TrainingPlan(self, choice, choices), source, call).run()
        return self._end_training(of_epochs, default_timer() - start, callbacks)

    @classmethod
    def resume(
        cls: type[_Model],
        checkpoint_dir: str | os.PathLike[str],
        corpus_iterable: Iterable[Sequence[Any]] | None = None,
        corpus_file: str | None = None,
        *,
        epochs: int | None = None,
        callbacks: Iterable[Any] = (),
        report_delay: float = 1.0,
        **changes: Any,
    ) -> _Model:
        """Return the model of a training that was interrupted, after it has been trained to its end.

        The corpus must be the one with which training began. It is read up to where training was, and goes on from
        there as it would have.

        Parameters
        ----------
        checkpoint_dir : str or os.PathLike
            The training's ``checkpoint_dir``, or one of the checkpoints there to go on from that one.
        corpus_iterable, corpus_file, callbacks, report_delay
            As for :meth:`train`.
        epochs : int, optional
            As many epochs as the training began with, or more. By default as many.
        **changes
            Arguments of the constructor that may differ from those with which training began: `workers`, `progress`,
            `logdir`, `cluster` and others of the cluster, of checkpoints and of the corpus's cache.
        """
        model, checkpoint = resumed_model(cls, checkpoint_dir, epochs, changes)
        if checkpoint is not None:
            choices = state_in(checkpoint).choices
            model.train(
                corpus_iterable,
                corpus_file,
                choices.total_examples,
                choices.total_words,
                model.epochs,
                compute_loss=model.compute_loss,
                callbacks=callbacks,
                report_delay=report_delay,
                resume=checkpoint.path,
            )
        found: _Model = model
        return found

    def _check_can_train(
        self,
        corpus_iterable: Iterable[Sequence[Any]] | None,
        corpus_file: str | None,
        total_examples: int | None,
        total_words: int | None,
    ) -> None:
        """Raise an error for what training cannot begin with."""
        if not len(self.wv) and corpus_file is not None and os.path.isfile(corpus_file):
            check_holds_words(corpus_file)
        self._check_training_sanity(epochs=self.epochs, total_examples=total_examples, total_words=total_words)
        if corpus_iterable is not None or not self._reader.keeps_deleted(corpus_file):
            self._check_corpus_sanity(corpus_iterable=corpus_iterable, corpus_file=corpus_file, passes=self.epochs)
        if corpus_file is not None and not total_words:
            raise ValueError("total_words must be provided alongside corpus_file argument.")
        check_fits(self)
        with shown_while("loading TensorFlow", wants_bar(self.progress) and not is_tensorflow_loaded()):
            check_runs_at_once()

    def _begin_training(self, compute_loss: bool, callbacks: Sequence[Any]) -> None:
        """Record that training begins, reset losses, and tell the callbacks."""
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
        for callback in callbacks:
            callback.on_train_begin(self)

    def _end_training(
        self, of_epochs: Sequence[EpochCounts], seconds: float, callbacks: Sequence[Any]
    ) -> tuple[int, int]:
        """Record that training has ended, tell the callbacks, and return the trained and the raw words."""
        trained_words = sum(counts.trained_words for counts in of_epochs)
        raw_words = sum(counts.raw_words for counts in of_epochs)
        self._log_train_end(raw_words, trained_words, seconds, sum(counts.blocks for counts in of_epochs))
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

    def _check_corpus_sanity(
        self,
        corpus_iterable: Iterable[Sequence[Any]] | None = None,
        corpus_file: str | None = None,
        passes: int | None = 1,
    ) -> None:
        """Raise TypeError if there is no corpus, or one that cannot be used."""
        if corpus_file is not None and is_encoded(corpus_file):
            corpus_file = header_of(corpus_file)  # gensim wants a file
        elif corpus_file is not None and is_compressed(corpus_file) and os.path.isfile(corpus_file):
            corpus_file = __file__  # gensim wants one whose name is not that of a compressed file
        super()._check_corpus_sanity(corpus_iterable, corpus_file, passes)

    # -- vectors and files -------------------------------------------------------------------------------------------

    def score(
        self,
        sentences: Iterable[list[str]],
        total_sentences: int = 10**6,
        chunksize: int = 100,
        queue_factor: int = 2,
        report_delay: float = 1,
    ) -> Any:
        """Score sentences as gensim does; raise RuntimeError if the vectors are on the servers."""
        check_matrices_are_here(self)  # an error in one of gensim's threads would leave it waiting for ever
        return super().score(sentences, total_sentences, chunksize, queue_factor, report_delay)

    def export_vectors(self, path: str | os.PathLike[str], file_format: str | None = None) -> None:
        """Write the vectors to a file a few rows at a time, in the order of the vocabulary.

        The file, and for keyed vectors the matrix beside it, appears when it is complete. Vectors that do not fit the
        memory are opened from keyed vectors: ``KeyedVectors.load(path, mmap="r")``.

        Parameters
        ----------
        path : str or os.PathLike
            The file; its suffix tells the format: .txt or .vec, .bin, .kv.
        file_format : {"text", "binary", "keyed-vectors"}, optional
            The format, whatever the suffix.
        """
        write_vectors(self.wv, Path(path), file_format)

    def free_server_vectors(self) -> None:
        """Give the servers their memory back; the vectors are then lost, and the next training begins anew."""
        free_server_matrices(self)

    def to_gensim(self) -> Word2Vec:
        """Return a plain gensim model that shares this one's vocabulary and matrices.

        Raise RuntimeError if the vectors are on the servers.
        """
        check_matrices_are_here(self)  # before gensim opens a file to save them in
        return as_plain_gensim(self)

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the model in gensim's own format: plain gensim loads it where this package is not installed.

        A save that fails leaves the former model of that name whole.
        """
        save_whole(self.to_gensim(), *args, **kwargs)

    @classmethod
    def load(cls: type[_Model], *args: Any, rethrow: bool = False, **kwargs: Any) -> _Model:
        """Return a model saved by :meth:`save`, by gensim's own class or by a subclass of that, ready to train on."""
        plain = [os.fspath(argument) if isinstance(argument, os.PathLike) else argument for argument in args]
        with missing_explained(plain[0] if plain else kwargs.get("fname")):
            model: _Model = as_class(cls, super().load(*plain, rethrow=rethrow, **kwargs))
        return model

    def __getstate__(self) -> dict[str, Any]:
        return saved_state(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**restored_state(state), "_reader": CorpusReader()})


TFWord2Vec.__doc__ = (TFWord2Vec.__doc__ or "").replace("{own_arguments}", docstring_entries())

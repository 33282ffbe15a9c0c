"""gensim's Word2Vec whose `train()` runs TensorFlow graphs: only arguments and hooks; other modules do the work."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from gensim.models import Word2Vec

from gensim_tfw2v.files.models import save_whole
from gensim_tfw2v.files.vectors import write_vectors
from gensim_tfw2v.model.argument_groups import without_groups
from gensim_tfw2v.model.arguments import core_count, default_of, own_and_gensims, warn_of_deprecated, with_tables
from gensim_tfw2v.model.checks import check_constructor, check_corpus_types
from gensim_tfw2v.model.corpus_reading import (
    CorpusReader,
    iterable_that_gensim_takes,
    path_that_gensim_takes,
    sentences_for_gensim,
)
from gensim_tfw2v.model.gensim_files import as_class, as_plain_gensim, loaded, restored_state, saved_state
from gensim_tfw2v.model.results import results_before_training
from gensim_tfw2v.model.resuming import arguments_to_resume, resumed_model
from gensim_tfw2v.model.subwords import has_subwords
from gensim_tfw2v.model.tables import (
    check_matrices_are_here,
    check_vocabulary_can_change,
    free_server_matrices,
    make_server_matrices,
)
from gensim_tfw2v.model.tables_on_disk import grow_tables, make_tables, saved_from_disk
from gensim_tfw2v.model.train import train
from gensim_tfw2v.model.training_plan import UNSET_BATCH_WORDS, TrainArguments
from gensim_tfw2v.model.vocabulary import (
    begin_import_for_training,
    set_cumulative_table,
    set_huffman_tree,
    set_quickly,
    without_positions,
)
from gensim_tfw2v.tensorboard.options import LogDir
from gensim_tfw2v.training.early_stopping import EarlyStopping
from gensim_tfw2v.training.state import ResumeFrom

_Model = TypeVar("_Model", bound="TFWord2Vec")


class TFWord2Vec(Word2Vec):
    """Train, use and evaluate word vectors as with `gensim.models.Word2Vec`, faster.

    Every argument, attribute and method of gensim's class has the same meaning; `train()` runs TensorFlow graphs.
    ``docs/start/from-gensim.md`` lists the differences. The arguments below are this class's own.

    Parameters
    ----------
    {own_arguments}

    Attributes
    ----------
    {results}

    Examples
    --------
    >>> from gensim_tfw2v import TFWord2Vec
    >>> sentences = [["cat", "say", "meow"], ["dog", "say", "woof"]]
    >>> model = TFWord2Vec(sentences, min_count=1)
    """

    _is_constructed = True  # also for models that were loaded

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
        reproducible: bool = False,
        optimizer: str | None = None,
        freeze: str | None = None,
        weights: Iterable[float] | None = None,
        validation: Any = None,
        validation_metric: str = default_of("validation_metric"),
        validation_every: float | str | None = None,
        early_stopping: int | EarlyStopping | None = None,
        device: str | None = None,
        column: str | None = None,
        cache: Any = None,
        cache_memory: int | str = default_of("cache_memory"),
        cache_disk: int | str = 0,
        cache_dir: str | None = None,
        tables_dir: str | os.PathLike[str] | None = None,
        batch_tokens: int | None = None,
        run_tokens: int | None = None,
        shared_negatives: int | None = None,
        update_bound: float | None = None,
        compute_dtype: str | None = None,
        checkpoints: Any = None,
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
        max_workers: int | None = None,
        cluster_overlap: bool | None = None,
        blocks_per_call: int | None = None,
        cluster_dtype: str | None = None,
        allow_network: bool = False,
        vectors_on_servers: bool = False,
    ) -> None:
        self._construct(without_groups(locals()))

    def _construct(self, arguments: Mapping[str, Any]) -> None:
        own, gensims = own_and_gensims(arguments)
        check_constructor({**own, **gensims, "bags": has_subwords(self)})
        warn_of_deprecated(own, stacklevel=3)
        self.__dict__.update(own, **results_before_training())
        self._reader = CorpusReader()
        self._is_constructed = False  # until gensim's constructor, which may train, has ended
        whole = {"vector_size": int(gensims["vector_size"]), "workers": core_count(gensims["workers"], own["cluster"])}
        super().__init__(**gensims | whole)
        self._reader.forget_sentences()
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
        """Return the number of raw words and of sentences of a corpus, whose words are counted into ``raw_vocab``.

        All `workers` read a `corpus_file` at once.
        """
        self._reader.forget()
        found = self._reader.count(self, corpus_iterable, corpus_file, progress_per, workers)
        if found is None:
            sentences = sentences_for_gensim(self, corpus_iterable, corpus_file)
            words, examples = super().scan_vocab(sentences, None, progress_per, workers, trim_rule)
            return words, examples
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
        with set_quickly(self.wv), without_positions(self.wv):
            return super().prepare_vocab(update, keep_raw_vocab, trim_rule, min_count, sample, dry_run)

    def init_weights(self) -> None:
        """Make the matrices, or record how the servers make them when training begins."""
        self.optimizer_states: dict[str, Any] = {}
        if self.vectors_on_servers:
            make_server_matrices(self)
            return
        begin_import_for_training(self)
        if self.tables_dir is None:
            super().init_weights()
        else:
            make_tables(self)

    def update_weights(self) -> None:
        """Add rows for new words to the matrices."""
        if self.tables_dir is None:
            super().update_weights()
        else:
            grow_tables(self)

    def make_cum_table(self, domain: int = 2**31 - 1) -> None:
        """Set ``cum_table``, which negatives are drawn from, as gensim's loop over all words would."""
        set_cumulative_table(self, domain)

    def create_binary_tree(self) -> None:
        """Set each word's ``code`` and ``point``, its path in the Huffman tree."""
        set_huffman_tree(self)

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
        freeze: str | None = None,
        weights: Iterable[float] | None = None,
        resume: ResumeFrom = False,
        validation: Any = None,
        early_stopping: int | EarlyStopping | None = None,
        device: str | None = None,
        validation_metric: str | None = None,
        distribution: str | None = None,
    ) -> tuple[int, int]:
        """Update the vectors from a corpus, as `gensim.models.Word2Vec.train` does and with its arguments.

        `word_count` and `queue_factor` are accepted and have no effect: gensim ignores the first, too, and one block
        for each worker is read ahead. `logdir`, `cluster`, `freeze`, `validation`, `early_stopping`, `device`,
        `validation_metric` and `distribution` replace those of the constructor, for this training. `weights` are those
        of the sentences in `corpus_iterable`. `total_examples` and `total_words` count all sentences, also those held
        out.

        Parameters
        ----------
        resume : bool, str or os.PathLike
            True resumes from the newest checkpoint in the model's ``checkpoint_dir``, or begins if there is none. The
            path of a checkpoint resumes from that one. The method `resume` does the same without a model.

        Returns
        -------
        (int, int)
            Number of trained words (known and kept by subsampling) and of raw words, over all epochs.
        """
        return train(self, TrainArguments.of_call(locals()))

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
        """Resume an interrupted training, and return its model when training has ended.

        Give the corpus with which training began. It is read up to where training was interrupted, and training
        continues from there.

        Parameters
        ----------
        checkpoint_dir : str or os.PathLike
            The training's ``checkpoint_dir``, or one of the checkpoints in it, to resume from that one.
        corpus_iterable, corpus_file, callbacks, report_delay
            As for `train`.
        epochs : int, optional
            Number of epochs, at least as many as the training began with. By default as many.
        **changes
            Arguments of the constructor that may differ from those with which training began: `workers`, `progress`,
            `logdir`, `cluster` and others of the cluster, of checkpoints and of the corpus's cache. A training that
            began with `weights` needs the same ones.
        """
        model, checkpoint = resumed_model(cls, checkpoint_dir, epochs, changes)
        if checkpoint is not None:
            totals = arguments_to_resume(model, checkpoint)
            model.train(corpus_iterable, corpus_file, **totals, callbacks=callbacks, report_delay=report_delay)
        return model

    def _check_corpus_sanity(
        self,
        corpus_iterable: Iterable[Sequence[Any]] | None = None,
        corpus_file: str | None = None,
        passes: int | None = 1,
    ) -> None:
        """Raise TypeError if there is no corpus, or one that cannot be used."""
        check_corpus_types(corpus_iterable, corpus_file)
        sentences = iterable_that_gensim_takes(corpus_iterable)
        super()._check_corpus_sanity(sentences, path_that_gensim_takes(corpus_file), passes)

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
        check_matrices_are_here(self)  # an error in one of gensim's threads would make gensim wait forever
        return super().score(sentences, total_sentences, chunksize, queue_factor, report_delay)

    def export_vectors(self, path: str | os.PathLike[str], file_format: str | None = None) -> None:
        """Write the vectors to a file a few rows at a time, in the order of the vocabulary.

        The file, and for keyed vectors the matrix beside it, appears when it is complete. To open vectors that do not
        fit into memory, write keyed vectors: ``KeyedVectors.load(path, mmap="r")``.

        Parameters
        ----------
        path : str or os.PathLike
            The file. Its suffix sets the format: .txt or .vec, .bin, .kv.
        file_format : {"text", "binary", "keyed-vectors"}, optional
            Format in place of the one that the suffix sets.
        """
        write_vectors(self.wv, Path(path), file_format)

    def free_server_vectors(self) -> None:
        """Free the servers' memory. The vectors are lost, and the next training starts with random ones."""
        free_server_matrices(self)

    def to_gensim(self) -> Word2Vec:
        """Return a plain gensim model of the same vocabulary and matrices; raise RuntimeError if servers hold these."""
        check_matrices_are_here(self)  # before gensim opens a file to save them in
        return as_plain_gensim(self)

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the model in gensim's own format: plain gensim loads it where this package is not installed.

        If the save fails, an older model of that name stays intact.
        """
        plain = self.to_gensim()
        save_whole(plain if self.tables_dir is None else saved_from_disk(plain), *args, **kwargs)

    @classmethod
    def load(cls: type[_Model], *args: Any, rethrow: bool = False, **kwargs: Any) -> _Model:
        """Return a model saved by `save`, by gensim's own class or by a subclass of that, ready to train on."""
        load = partial(Word2Vec.load.__func__, cls)  # those of gensim's subclasses take no `rethrow`
        return as_class(cls, loaded(load, *args, rethrow=rethrow, **kwargs))

    def __getstate__(self) -> dict[str, Any]:
        return saved_state(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**restored_state(state), "_reader": CorpusReader()})


TFWord2Vec.__doc__ = with_tables(TFWord2Vec.__doc__)

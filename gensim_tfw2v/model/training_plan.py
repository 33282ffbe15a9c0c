"""A call of `train()` → the plan of a training: where it runs, its corpus, its blocks and steps, its learning rates."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from gensim.models import Word2Vec
from gensim.models.word2vec import MAX_WORDS_IN_BATCH

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.corpus.shards import is_encoded
from gensim_tfw2v.corpus.sources import Source
from gensim_tfw2v.model.arguments import FIXED_IN_TRAINING
from gensim_tfw2v.model.choices import block_maker, choices_for, moves_by_run
from gensim_tfw2v.model.corpus_reading import Corpus
from gensim_tfw2v.model.documents import has_documents, tag_lists_of, trains_skip_gram, with_documents
from gensim_tfw2v.model.input_parts import input_parts
from gensim_tfw2v.model.subwords import has_subwords
from gensim_tfw2v.model.validation import hold_out_for, validation_for
from gensim_tfw2v.placement.block_size import in_flight_limits
from gensim_tfw2v.placement.choice import choose_placement
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.placement.designs import DEFAULT_DESIGN, DESIGNS
from gensim_tfw2v.placement.request import CorpusSize, PlacementChoice, TrainingOptions
from gensim_tfw2v.placement.row_states import with_states
from gensim_tfw2v.steps.settings import ADAGRAD, StepSettings
from gensim_tfw2v.tensorboard.options import LogDir
from gensim_tfw2v.training.display import shown_while, wants_bar
from gensim_tfw2v.training.epoch import EpochPlan
from gensim_tfw2v.training.state import Beginning, ResumeFrom, TrainingChoices
from gensim_tfw2v.training.validation import Validation

logger = logging.getLogger(__name__)

UNSET_BATCH_WORDS = MAX_WORDS_IN_BATCH  # gensim's default; with it, blocks have the size that is best for them


@dataclass(frozen=True, kw_only=True)
class TrainArguments:
    """The arguments of one call of `train()`, under their names."""

    corpus: Corpus
    weights: Any = None
    total_examples: int | None = None
    total_words: int | None = None
    epochs: int | None = None
    start_alpha: float | None = None
    end_alpha: float | None = None
    report_delay: float = 1.0
    compute_loss: bool = False
    callbacks: Iterable[Any] = ()
    logdir: LogDir = None
    cluster: Any = None
    freeze: str | None = None
    resume: ResumeFrom = False
    validation: Any = None
    early_stopping: Any = None
    device: str | None = None
    validation_metric: str | None = None
    distribution: str | None = None

    @classmethod
    def of_call(cls, variables: Mapping[str, Any]) -> TrainArguments:
        """Return the arguments among the local variables of the class's `train()`, without those of no effect."""
        corpus = Corpus(variables["corpus_iterable"], variables["corpus_file"])
        others = (field.name for field in fields(cls) if field.name != "corpus")
        return cls(corpus=corpus, **{name: variables[name] for name in others})


@dataclass(kw_only=True)
class TrainingPlan:
    """The plan of one training.

    The model's settings are read once, apart from learning rates and the number of epochs, which a callback may change.
    """

    model: Word2Vec
    arguments: TrainArguments
    beginning: Beginning
    connect: Callable[[], PlacementChoice]  # connects to the cluster again
    choice: PlacementChoice  # where to train
    choices: TrainingChoices
    maker: BlockMaker
    source: Source
    validation: Validation = field(default_factory=Validation)

    def __post_init__(self) -> None:
        self._in_use = {name: getattr(self.model, name) for name in FIXED_IN_TRAINING}

    def placement(self) -> Placement:
        """Return a placement that trains chunks of the corpus."""
        return make_placement(self.choice, self.choices.settings, replace(self.maker, reader=self.source.reader))

    def epoch(self, number: int) -> EpochPlan:
        """Return the plan of an epoch."""
        self._warn_of_changes()
        model, choices = self.model, self.choices
        return EpochPlan(
            epoch=number,
            epochs=model.epochs,
            seed=(*choices.entropy, model.train_count, number),
            learning_rate_at=lambda fraction: float(model._get_next_alpha(choices.fall * fraction, number)),
            total_examples=choices.total_examples,
            total_words=choices.total_words,
            exact_loss=model.compute_loss,
        )

    def _warn_of_changes(self) -> None:
        """Warn once of each setting that was changed during training."""
        for name in [name for name, used in self._in_use.items() if getattr(self.model, name) != used]:
            logger.warning(
                "%s has been set to %r during train(), which continues with %r; the next train() uses the new value",
                name,
                getattr(self.model, name),
                self._in_use.pop(name),
            )


def plan_for(model: Word2Vec, arguments: TrainArguments, beginning: Beginning) -> TrainingPlan:
    """Return the plan of a training, whose cluster is connected; `arguments` are checked and complete."""
    corpus, total_words, cluster = arguments.corpus, arguments.total_words, arguments.cluster
    begun_with = None if beginning.state is None else beginning.state.choices
    reads_itself = corpus.file is not None and is_encoded(corpus.file)
    connect = partial(placement_for, model, cluster, total_words, begun_with, reads_itself)
    with shown_while("connecting to the cluster", wants_bar(model.progress) and cluster is not None):
        choice = connect()
    # gensim's constructor gives the model's own `min_alpha` as `end_alpha`.
    end_is_chosen = model._is_constructed and bool(arguments.end_alpha)
    choices = begun_with or choices_for(
        model,
        choice,
        arguments.total_examples,
        total_words,
        fall_within_epoch(model, from_file=corpus.file is not None, end_is_chosen=end_is_chosen),
        arguments.freeze,
        weighted=corpus.weights is not None,
        first_pass=corpus.next_pass,
    )
    maker, tags = block_maker(model, choices), tag_lists_of(model)
    held_out = hold_out_for(arguments.validation, choices.entropy, of_words=tags is not None)
    if tags is not None:
        first_row = input_parts(model)[0].size
        maker = with_documents(maker, model, tags, first_row, arguments.freeze, by_run=moves_by_run(choice))
    source = model._reader.source(
        model,
        corpus,
        choices.block_words,
        total_words or model.corpus_total_words or 0,
        is_read_again=model.epochs != 1 or held_out is not None,
        held_out=held_out,
        first_pass=choices.first_pass,
        tags=tags,
    )
    is_read_now = arguments.validation is not None
    with shown_while("reading the validation sentences", wants_bar(model.progress) and is_read_now):
        validation = validation_for(
            model, arguments.validation, arguments.early_stopping, source, choices.entropy, beginning, tags
        )
    if begun_with is None:
        choices = choices.without(*validation.held_out())
    return TrainingPlan(
        model=model,
        arguments=arguments,
        beginning=beginning,
        connect=connect,
        choice=choice,
        choices=choices,
        maker=maker,
        source=source,
        validation=validation,
    )


def fall_within_epoch(model: Word2Vec, from_file: bool, end_is_chosen: bool) -> float:
    """Return how far the learning rate falls within an epoch, as a share of an even fall to `min_alpha`.

    When gensim trains from a file, each thread counts only its own words, as if they were the words of all threads. A
    reproducible training must not depend on the number of threads. With Adagrad an even fall scores higher.
    """
    is_asked_for = model.schedule == "linear" or model.reproducible or end_is_chosen
    falls_evenly = is_asked_for or model.optimizer == ADAGRAD or not from_file
    return 1.0 if falls_evenly else 1.0 / model.workers


def placement_for(
    model: Word2Vec,
    cluster: Any,
    total_words: int | None,
    choices: TrainingChoices | None = None,
    is_encoded: bool = False,
) -> PlacementChoice:
    """Return where to train a model: in this process if `cluster` is None, or on the cluster, which it connects to.

    A resumed training has its `choices` already, including the size of its blocks. `is_encoded` says whether workers
    read the corpus themselves.
    """
    distribution = model.distribution
    if cluster is None and DESIGNS[distribution].choose_local is None:
        distribution = DEFAULT_DESIGN  # for inference; training is refused
    size = CorpusSize(
        total_words=int(total_words or model.corpus_total_words or 0),
        epochs=model.epochs,
        batch_words=None if model.batch_words == UNSET_BATCH_WORDS else model.batch_words,
        chunk_words=None if choices is None else choices.block_words,
        is_encoded=is_encoded,
    )
    options = TrainingOptions(
        distribution=distribution,
        of_design={name: getattr(model, name) for name in DESIGNS[distribution].arguments},
        workers=model.workers,
        skip_gram=trains_skip_gram(model),
        tree=bool(model.hs),
        negative=model.negative,
        device=model.device,
        seed=model.seed,
        reproducible=bool(model.reproducible),
        bags=has_subwords(model) or has_documents(model),
        timeout=model.cluster_timeout,
        dtype=model.cluster_dtype,
        allow_network=bool(model.allow_network),
    )
    limits = in_flight_limits(len(model.wv), options.skip_gram, options.tree)
    return choose_placement(cluster, size, limits, options)


def make_placement(choice: PlacementChoice, settings: StepSettings, maker: BlockMaker) -> Placement:
    """Return a placement where training was chosen to be, with the optimizer's states if it has any."""
    made = choice.make(settings, maker)
    return with_states(made) if settings.have_states else made

"""What the contract suite needs of the package below its class: placements, and which arguments are designs' own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.blocks.chunk_task import ChunkTask
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.model.choices import block_maker, choices_for
from gensim_tfw2v.model.documents import tag_lists_of, with_documents
from gensim_tfw2v.model.input_parts import input_parts
from gensim_tfw2v.model.tables import tables_of
from gensim_tfw2v.model.training_plan import make_placement, placement_for
from gensim_tfw2v.placement.contract import ModelTables, Placement
from gensim_tfw2v.placement.design_arguments import DESIGN_ARGUMENTS
from gensim_tfw2v.placement.designs import DESIGNS
from support.design_promises import DesignPromises
from support.design_trainings import SENTENCES, WORDS, place_of, untrained

DISTRIBUTIONS = frozenset(DESIGNS)
"""The values of the argument `distribution`."""
ARGUMENTS_OF_DESIGNS = frozenset(argument.name for argument in DESIGN_ARGUMENTS)
"""The model's arguments that not every design takes."""
Tables = dict[str, Any]
"""Tables by their names, each [words, vector size]."""


class PlacedTables:
    """A placement of a design, made as training makes it for a model of the suite's corpus."""

    def __init__(self, placement: Placement, model: TFWord2Vec) -> None:
        self._placement, self._model = placement, model
        self._shapes = {name: values.shape for name, values in tables_of(model).present().items()}

    def random_tables(self, seed: int) -> Tables:
        """Return tables of normal random numbers."""
        random = np.random.default_rng(seed)
        return {name: random.normal(size=shape).astype(np.float32) for name, shape in self._shapes.items()}

    def load(self, tables: Tables) -> None:
        """Set the tables of the placement."""
        self._placement.load(self._model_tables({name: values.copy() for name, values in tables.items()}))

    def read(self) -> Tables:
        """Return what the placement writes into a model's tables."""
        tables = {name: np.full(shape, np.nan, np.float32) for name, shape in self._shapes.items()}
        self._placement.read_into(self._model_tables(tables))
        return tables

    def rows(self, table: str, first: int, end: int) -> Any:
        """Return some rows of a table."""
        return self._placement.rows(table, first, end)

    def train_one_chunk(self) -> None:
        """Train an epoch of one chunk: six sentences of ten words."""
        ids = np.random.default_rng(5).integers(0, len(self._model.wv), 60).astype(np.int32)
        sentences = Sentences(ids, np.full(6, 10, np.int32))
        if (tags := tag_lists_of(self._model)) is not None:
            sentences = tags.with_tags(replace(sentences, documents=np.arange(6, dtype=np.int32)))
        self._placement.begin_epoch(0)
        self._placement.train_chunk(ChunkTask(sentences, (1, 0, 0), 0.5, 0.5, exact_loss=True))
        self._placement.end_epoch(0)

    def _model_tables(self, tables: Tables) -> ModelTables:
        return ModelTables(tables["inputs"], tables.get("outputs"), tables.get("nodes"), np.ones(1, np.float32))


@contextmanager
def placed(design: DesignPromises) -> Iterator[PlacedTables]:
    """Yield a placement of the design, in the place where the table has it trained."""
    with design.registered():
        model = untrained(design)
        choice = placement_for(model, place_of(design), WORDS)
        choices = choices_for(model, choice, len(SENTENCES), WORDS)
        maker, tags = block_maker(model, choices), tag_lists_of(model)
        if tags is not None:
            maker = with_documents(maker, model, tags, input_parts(model)[0].size, None, by_run=True)
        placement = make_placement(choice, choices.settings, maker)
        try:
            yield PlacedTables(placement, model)
        finally:
            placement.close()

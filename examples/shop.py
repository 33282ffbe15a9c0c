"""Learns the items of a shop again every day, with new items, and keeps the vectors of old items comparable.

The program makes the sessions: customers look at items of one kind, and each day brings new items. It compares three
ways to learn a day: a new model, the model of the day before, and that model with frozen output vectors.
"""

from __future__ import annotations

import copy
import itertools
import random

import numpy as np

from gensim_tfw2v import TFWord2Vec

DAYS, KINDS, FIRST, NEW, SESSIONS = 4, 15, 600, 60, 4_000
SETTINGS = {"sg": 1, "vector_size": 32, "window": 5, "min_count": 3, "sample": 0, "workers": 2, "seed": 1}


def sessions_of(day: int, rng: random.Random) -> list[list[str]]:
    """Return the sessions of a day, in which most items are of one kind. New items are looked at most."""
    items = FIRST + day * NEW
    newest = range(items - NEW, items)
    sessions = []
    for _ in range(SESSIONS):
        kind = rng.randrange(KINDS)
        session = []
        while len(session) < 8:
            item = rng.choice(newest) if rng.random() < 0.3 else rng.randrange(items)
            if item % KINDS == kind or rng.random() < 0.02:
                session.append(f"item{item}")
        sessions.append(session)
    return sessions


def learnt(way: str, before: TFWord2Vec | None, today: list[list[str]]) -> TFWord2Vec:
    """Return the model of a day: a new one, or the one of the day before with more items and more training."""
    if before is None or way == "a new model":
        return TFWord2Vec(today, **SETTINGS)
    model = copy.deepcopy(before)
    model.build_vocab(today, update=True)
    freeze = "outputs" if way == "frozen outputs" else None
    model.train(today, total_examples=len(today), epochs=model.epochs, start_alpha=0.01, freeze=freeze)
    return model


def self_similarity(before: TFWord2Vec, model: TFWord2Vec) -> float:
    """Return the mean cosine of an item with itself of the day before."""
    items = [item for item in before.wv.index_to_key if item in model.wv]
    return float(np.mean(np.sum(normed(before, items) * normed(model, items), axis=1)))


def normed(model: TFWord2Vec, items: list[str]) -> np.ndarray:
    """Return the vectors of items, each of length 1."""
    return model.wv.vectors_for_all(items).get_normed_vectors()


def kinds_found(before: TFWord2Vec, model: TFWord2Vec) -> float:
    """Return how many new items are nearest to an old item of their kind, whose vector is that of the day before."""
    new = [item for item in model.wv.index_to_key if item not in before.wv]
    nearest = [before.wv.similar_by_vector(model.wv[item], topn=1)[0][0] for item in new]
    same = [int(one[4:]) % KINDS == int(other[4:]) % KINDS for one, other in zip(new, nearest, strict=True)]
    return float(np.mean(same))


def main() -> None:
    """Learn some days in each way, and print how far old items moved and whether new ones are found among them."""
    rng = random.Random(1)
    days = [sessions_of(day, rng) for day in range(DAYS)]
    print(f"{DAYS} days of {SESSIONS} sessions, {NEW} new items a day")
    print(f"{'':16} an item beside itself  new items that find their kind")
    for way in ("a new model", "continued", "frozen outputs"):
        models: list[TFWord2Vec] = []
        for today in days:
            models.append(learnt(way, models[-1] if models else None, today))
        pairs = list(itertools.pairwise(models))
        moved = np.mean([self_similarity(before, model) for before, model in pairs])
        found = np.mean([kinds_found(before, model) for before, model in pairs])
        print(f"{way:16} {moved:21.2f}  {found:30.2f}")


if __name__ == "__main__":
    main()

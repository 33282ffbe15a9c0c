"""Learns vectors of films from what people rated in turn, recommends the next film, and measures the recommendations.

The ratings are MovieLens 100K, which the package recbole holds: `pip install --no-deps recbole==1.2.1`.
"""

from __future__ import annotations

import csv
import importlib.util
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors

from gensim_tfw2v import TFWord2Vec

LENGTH = 10  # of a list of recommendations
Sessions = list[list[str]]
Recommend = Callable[[Sequence[str]], list[str]]


def folder_of_ratings() -> Path:
    """Return the folder in which the installed package recbole has its ratings; its modules are not imported."""
    found = importlib.util.find_spec("recbole")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("this example reads ratings that a package holds: pip install --no-deps recbole==1.2.1")
    return Path(found.submodule_search_locations[0]) / "dataset_example" / "ml-100k"


def read_sessions(folder: Path) -> Sessions:
    """Return the films of each person, in the order in which the person rated them."""
    ratings = defaultdict(list)
    with (folder / "ml-100k.inter").open(encoding="utf8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            ratings[row["user_id:token"]].append((float(row["timestamp:float"]), row["item_id:token"]))
    return [[film for _, film in sorted(rated, key=lambda pair: pair[0])] for rated in ratings.values()]


def read_titles(folder: Path) -> dict[str, str]:
    """Return the title of each film."""
    with (folder / "ml-100k.item").open(encoding="utf8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["item_id:token"]: row["movie_title:token_seq"] for row in rows}


def by_vectors(vectors: KeyedVectors, recent: int = 3) -> Recommend:
    """Return a function that recommends the films whose vectors are nearest to those of the most recent ones."""
    unit = vectors.get_normed_vectors()

    def recommend(seen: Sequence[str]) -> list[str]:
        known = [vectors.key_to_index[film] for film in seen if film in vectors.key_to_index]
        similarity = unit @ unit[known[-recent:]].sum(axis=0)
        similarity[known] = -np.inf
        return [vectors.index_to_key[place] for place in np.argsort(-similarity)[:LENGTH]]

    return recommend


def by_popularity(sessions: Sessions) -> Recommend:
    """Return a function that recommends the films with the most ratings."""
    ranked = [film for film, _ in Counter(film for session in sessions for film in session).most_common()]

    def recommend(seen: Sequence[str]) -> list[str]:
        return [film for film in ranked if film not in set(seen)][:LENGTH]

    return recommend


def scores(recommend: Recommend, sessions: Sessions, following: list[str]) -> tuple[float, float]:
    """Return hit rate and NDCG: the share of lists with the film that followed, and the same discounted by its rank."""
    ranks = []
    for session, film in zip(sessions, following, strict=True):
        listed = recommend(session)
        ranks.append(listed.index(film) if film in listed else np.inf)
    places = np.array(ranks)
    return float(np.mean(np.isfinite(places))), float(np.mean(1 / np.log2(places + 2)))


def train(sessions: Sessions, **settings: float) -> TFWord2Vec:
    """Return a model of all films that occur twice or more."""
    defaults = {"vector_size": 50, "min_count": 2, "workers": 2, "seed": 1}
    return TFWord2Vec(sessions, **{**defaults, **settings})


BEST = {"sg": 1, "epochs": 30, "window": 5, "sample": 0, "ns_exponent": 0.0}
TRIALS = {
    "gensim's defaults": {},
    "skip-gram": {"sg": 1},
    "30 epochs": {"sg": 1, "epochs": 30},
    "all of it": BEST,
}


def main() -> None:
    """Compare settings on the last film but one of each person, and the best of them with popularity on the last."""
    folder = folder_of_ratings()
    sessions, titles = read_sessions(folder), read_titles(folder)
    known = [session[:-2] for session in sessions]
    print(f"{len(sessions)} people, {len(titles)} films, {sum(map(len, sessions))} ratings")

    print(f"\n{'settings':40} hit rate   NDCG")
    for name, settings in TRIALS.items():
        hits, ndcg = scores(by_vectors(train(known, **settings).wv), known, [session[-2] for session in sessions])
        print(f"{name:40} {hits:8.3f} {ndcg:6.3f}")


if __name__ == "__main__":
    main()

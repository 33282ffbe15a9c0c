"""Learns vectors of films from what people rated in turn, recommends the next film, and measures the recommendations.

The ratings are MovieLens 100K, which the package recbole holds: `pip install --no-deps recbole==1.2.1`.
"""

from __future__ import annotations

import csv
import importlib.util
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import Word2Vec

from gensim_tfw2v import TFWord2Vec

LENGTH = 10  # of a list of recommendations
RECENT = 5  # films of a session that decide what comes next
CHANGES: list[dict[str, Any]] = [
    {},
    {"sg": 1},
    {"ns_exponent": 0.25},
    {"sample": 0},
    {"negative": 15},
    {"window": 3, "shrink_windows": False},
    {"optimizer": "adagrad"},
    {"epochs": 20},
]  # one after another
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


def by_neighbours(model: Word2Vec) -> Recommend:
    """Return a function that recommends the films whose vectors are nearest to those of the most recent ones."""
    unit = model.wv.get_normed_vectors()
    return by_scores(model, unit, unit)


def by_prediction(model: Word2Vec) -> Recommend:
    """Return a function that recommends the films that the model expects beside the most recent ones."""
    return by_scores(model, model.wv.vectors, model.syn1neg)


def by_scores(model: Word2Vec, of_seen: np.ndarray, of_candidates: np.ndarray) -> Recommend:
    """Return a function that recommends the films whose products with the most recent ones are largest."""
    ids, films = model.wv.key_to_index, model.wv.index_to_key

    def recommend(seen: Sequence[str]) -> list[str]:
        known = [ids[film] for film in seen if film in ids]
        scores = of_candidates @ of_seen[known[-RECENT:]].mean(axis=0)
        scores[known] = -np.inf
        return [films[place] for place in np.argsort(-scores)[:LENGTH]]

    return recommend


def by_popularity(sessions: Sessions) -> Recommend:
    """Return a function that recommends the films with the most ratings."""
    ranked = [film for film, _ in Counter(film for session in sessions for film in session).most_common()]

    def recommend(seen: Sequence[str]) -> list[str]:
        return [film for film in ranked if film not in set(seen)][:LENGTH]

    return recommend


def measured(recommend: Recommend, sessions: Sessions, following: list[str]) -> tuple[float, float]:
    """Return hit rate and NDCG: the share of lists with the film that followed, and the same discounted by its rank."""
    ranks = []
    for session, film in zip(sessions, following, strict=True):
        listed = recommend(session)
        ranks.append(listed.index(film) if film in listed else np.inf)
    places = np.array(ranks)
    return float(np.mean(np.isfinite(places))), float(np.mean(1 / np.log2(places + 2)))


def train(sessions: Sessions, word2vec: type[Word2Vec] = TFWord2Vec, **settings: Any) -> Word2Vec:
    """Return a model of all films that occur twice or more."""
    return word2vec(sessions, **{"vector_size": 50, "min_count": 2, "workers": 2, "seed": 1, **settings})


def main() -> None:
    """Choose settings by the last film but one of each person, and compare the best of them by the last film."""
    folder = folder_of_ratings()
    sessions, titles = read_sessions(folder), read_titles(folder)
    print(f"{len(sessions)} people, {len(titles)} films, {sum(map(len, sessions))} ratings")

    known, following = [session[:-2] for session in sessions], [session[-2] for session in sessions]
    print(f"\n{'the last film but one':37} hit rate   NDCG")
    settings: dict[str, Any] = {}
    for change in CHANGES:
        settings |= change
        name = ", ".join(f"{key}={value}" for key, value in change.items())
        hit_rate, ndcg = measured(by_prediction(train(known, **settings)), known, following)
        print(f"{f'and {name}' if name else 'the defaults':37} {hit_rate:8.3f} {ndcg:6.3f}")

    known, following = [session[:-1] for session in sessions], [session[-1] for session in sessions]
    model = train(known, **settings)
    of_gensim = {name: value for name, value in settings.items() if name != "optimizer"}
    rows = {
        "the most popular films": by_popularity(known),
        "TFWord2Vec, nearest vectors": by_neighbours(model),
        "TFWord2Vec, predicted films": by_prediction(model),
        "Word2Vec, predicted films": by_prediction(train(known, Word2Vec, **of_gensim)),
    }
    print(f"\n{'the last film':37} hit rate   NDCG")
    for name, recommend in rows.items():
        hit_rate, ndcg = measured(recommend, known, following)
        print(f"{name:37} {hit_rate:8.3f} {ndcg:6.3f}")

    seen = known[0]
    print(f"\nto follow {'; '.join(titles[film] for film in seen[-RECENT:])}:")
    print("; ".join(titles[film] for film in by_prediction(model)(seen)))


if __name__ == "__main__":
    main()

"""Finds synonyms for a search engine in its log: words that stand beside the same other words in queries.

The program makes the log, so it knows which words are synonyms and can count how many it finds. The last lines that it
prints are in the format of Solr's and Elasticsearch's files of synonyms.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from gensim_tfw2v import TFWord2Vec

# Words for one thing; the first is the most usual one.
THINGS = {
    "furniture": [
        "sofa couch settee",
        "wardrobe closet",
        "desk bureau",
        "rug carpet",
        "lamp light",
        "cupboard cabinet",
    ],
    "clothes": ["trousers pants slacks", "pullover sweater jumper", "trainers sneakers", "coat jacket", "scarf shawl"],
    "devices": [
        "laptop notebook",
        "tv television telly",
        "phone mobile handset",
        "earphones headphones",
        "fridge cooler",
    ],
}
BESIDE = {
    "furniture": [
        "oak",
        "pine",
        "leather",
        "fabric",
        "corner",
        "small",
        "large",
        "white",
        "grey",
        "antique",
        "assembled",
        "bedroom",
    ],
    "clothes": [
        "cotton",
        "wool",
        "linen",
        "men",
        "women",
        "kids",
        "slim",
        "winter",
        "summer",
        "waterproof",
        "black",
        "blue",
    ],
    "devices": [
        "cheap",
        "refurbished",
        "wireless",
        "4k",
        "used",
        "silver",
        "charger",
        "screen",
        "warranty",
        "fast",
        "2026",
        "manual",
    ],
}
OTHERS = ["buy", "best", "sale", "near", "me", "online", "delivery", "price", "review", "and", "for", "with"]
LINE = re.compile(r"^\S+ user=\S+ q=\"(.*)\"$")


def log_lines(queries: int, rng: random.Random) -> Iterator[str]:
    """Yield lines of a log. Each thing is searched beside some words of its kind more often than beside others."""
    for number in range(queries):
        kind = rng.choice(list(THINGS))
        place = rng.randrange(len(THINGS[kind]))
        names = THINGS[kind][place].split()
        word = rng.choices(names, weights=range(len(names) + 1, 1, -1))[0]
        liked = BESIDE[kind][2 * place : 2 * place + 3]
        beside = [rng.choice(liked if rng.random() < 0.8 else BESIDE[kind]) for _ in range(rng.randint(1, 3))]
        words = [*beside, word, *rng.sample(OTHERS, rng.randint(0, 2))]
        rng.shuffle(words)
        yield f'2026-05-04T10:{number % 60:02}:00 user={rng.randrange(5000)} q="{" ".join(words)}"'


def queries_in(lines: Iterator[str]) -> list[list[str]]:
    """Return the words of each query. In a log of your own, remove what names a person first."""
    return [found[1].lower().split() for line in lines if (found := LINE.match(line))]


def synonyms_in(model: TFWord2Vec, least: float = 0.6) -> list[tuple[str, str]]:
    """Return pairs of words of which each is among the three nearest of the other, and that are near enough."""
    near = {word: dict(model.wv.most_similar(word, topn=3)) for word in model.wv.index_to_key}
    return sorted(
        (word, other)
        for word, others in near.items()
        for other, similarity in others.items()
        if word < other and similarity >= least and word in near[other]
    )


def main() -> None:
    """Make a log, train on its queries, and count the synonyms that are found."""
    queries = queries_in(log_lines(60_000, random.Random(1)))
    # Queries are short and have no order: the window holds a whole one, and all words of it count alike.
    model = TFWord2Vec(
        queries, sg=1, window=10, shrink_windows=False, min_count=20, vector_size=50, epochs=10, workers=2
    )
    true = {
        tuple(sorted((one, other)))
        for groups in THINGS.values()
        for names in map(str.split, groups)
        for one in names
        for other in names
        if one < other
    }
    known = {word for pair in true for word in pair}
    found = [pair for pair in synonyms_in(model) if set(pair) <= known]
    right = true.intersection(found)
    print(f"{len(queries)} queries, {len(model.wv)} words")
    print(f"{len(found)} pairs proposed, {len(right)} of the {len(true)} true ones among them")
    for one, other in sorted(right)[:5]:
        print(f"{one}, {other}")


if __name__ == "__main__":
    main()

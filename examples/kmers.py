"""Learns vectors of k-mers from peptides, and predicts which peptides kill microbes; counts of k-mers are beside them.

The 5,200 sequences are in the package modlamp, half of them antimicrobial peptides (from APD3) and half random parts of
UniProt: `pip install --no-deps modlamp==4.3.3`.
"""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler, normalize

from gensim_tfw2v import TFWord2Vec

K = 3
DIMENSIONS = 100
SHARES = (0.01, 0.1)  # of the sequences, whose labels the predictions learn from
SPLITS = 10  # into those and the others, over which the scores are averaged


def file_of_sequences() -> Path:
    """Return the file that the installed package modlamp has its peptides in; its modules are not imported."""
    found = importlib.util.find_spec("modlamp")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("this example reads sequences that a package holds: pip install --no-deps modlamp==4.3.3")
    return Path(found.submodule_search_locations[0]) / "data" / "AMPvsUniProt.csv"


def read_sequences(file: Path) -> dict[str, int]:
    """Return the label of each sequence once: 1 if it is an antimicrobial peptide, and 0 otherwise."""
    with file.open(encoding="utf8", newline="") as rows:
        labels: dict[str, int] = {}
        for sequence, label in list(csv.reader(rows, skipinitialspace=True))[1:]:
            labels[sequence] = max(int(label), labels.get(sequence, 0))  # some are in both classes
    return labels


def counts(sequences: list[str], length: int) -> Any:
    """Return the counts of each sequence's k-mers of a length, as a sparse matrix with rows of length 1."""
    counter = CountVectorizer(analyzer="char", ngram_range=(length, length), lowercase=False)
    return normalize(counter.fit_transform(sequences).astype(float))


def mean_vectors(sequences: list[str]) -> np.ndarray:
    """Return for each sequence the mean vector of its k-mers, which learn from all sequences without their labels."""
    corpus = [[sequence[place : place + K] for place in range(len(sequence) - K + 1)] for sequence in sequences]
    settings = {"sg": 1, "window": 10, "epochs": 20, "sample": 0, "min_count": 1, "workers": 2, "seed": 1}
    model = TFWord2Vec(corpus, vector_size=DIMENSIONS, **settings)
    means = [model.wv.get_mean_vector(kmers) if kmers else np.zeros(DIMENSIONS) for kmers in corpus]
    return StandardScaler().fit_transform(np.array(means))


def accuracy(predictor: Any, features: Any, labels: np.ndarray, share: float) -> float:
    """Return the share of right predictions for the sequences whose labels were hidden, over several splits."""
    scores = []
    for split in range(SPLITS):
        learnt, tested, known, truth = train_test_split(
            features, labels, train_size=share, stratify=labels, random_state=split
        )
        scores.append(predictor.fit(learnt, known).score(tested, truth))
    return float(np.mean(scores))


def main() -> None:
    """Print how often the nearest sequences, and a linear classifier, predict the label of a sequence."""
    labelled = read_sequences(file_of_sequences())
    sequences, labels = list(labelled), np.array(list(labelled.values()))
    print(f"{len(sequences)} different sequences, {labels.sum()} of them antimicrobial")
    # Weights of features of length 1 may be larger than those of standardised ones.
    rows = {
        "counts of amino acids": (counts(sequences, 1), 10),
        f"counts of {K}-mers": (counts(sequences, K), 10),
        f"vectors of {K}-mers": (mean_vectors(sequences), 0.1),
    }
    print(f"\n{'':22} {'nearest sequences':^17}   {'linear classifier':^17}")
    print(f"{'known labels':22} " + "   ".join(" ".join(f"{share:8.0%}" for share in SHARES) for _ in range(2)))
    for name, (features, inverse_penalty) in rows.items():
        nearest = KNeighborsClassifier(5, metric="cosine")
        linear = LogisticRegression(C=inverse_penalty, max_iter=1000)
        scores = [accuracy(one, features, labels, share) for one in (nearest, linear) for share in SHARES]
        print(f"{name:22} {scores[0]:8.3f} {scores[1]:8.3f}   {scores[2]:8.3f} {scores[3]:8.3f}")


if __name__ == "__main__":
    main()

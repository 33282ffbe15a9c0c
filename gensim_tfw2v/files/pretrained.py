"""Vectors of words → a folder that model2vec and sentence-transformers open, as folders on the Hugging Face Hub are."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from gensim_tfw2v.arguments.rules import check_keyed_vectors
from gensim_tfw2v.files.vectors import pieces
from gensim_tfw2v.files.whole_files import written_folder
from gensim_tfw2v.files.word_texts import as_texts, check_undivided

UNKNOWN = "[UNK]"  # the token of words that have no vector
_TENSOR = "embeddings"
_CARD = """---
{header}
---

# {name}

{about}{words:,} {kind}

```python
from model2vec import StaticModel

vectors = StaticModel.from_pretrained("{name}").encode([{example}])
```

```python
from sentence_transformers import SentenceTransformer

vectors = SentenceTransformer("{name}").encode([{example}])
```
"""
_OF_WORDS = """words with vectors of {numbers} numbers, written by gensim-tfw2v. The vector of a text is the mean of
the vectors of its words, which white space divides. Words without a vector are left out."""
_OF_DOCUMENTS = """documents with vectors of {numbers} numbers, written by gensim-tfw2v. A text that is the tag of a
document has its vector."""


def export_pretrained(
    keyed_vectors: Any,
    folder: str | os.PathLike[str],
    *,
    lowercase: bool = False,
    license: str | None = None,
    language: str | None = None,
    description: str | None = None,
    of_documents: bool = False,
) -> None:
    """Write vectors as a folder that `model2vec.StaticModel` and `sentence_transformers.SentenceTransformer` open.

    The folder has the vectors as safetensors, a tokenizer and a model card, so that it can be uploaded to the Hugging
    Face Hub as it is. It appears when it is complete. No package of Hugging Face is needed to write it.

    Parameters
    ----------
    keyed_vectors : gensim.models.KeyedVectors
        The vectors, such as ``model.wv``.
    folder : str or os.PathLike
        The folder to write. It must not exist yet.
    lowercase : bool, optional
        Whether texts become lower case before their words are looked up.
    license, language, description : str, optional
        What the model card says: identifiers as the Hub has them, such as ``"apache-2.0"`` and ``"en"``, and a text.
    of_documents : bool, optional
        Whether the vectors are those of documents' tags, such as ``model.dv``. The model card says so.

    Raises
    ------
    ValueError
        If a word cannot be one of the tokenizer: if white space is in it, or if it is the token of unknown words.
    FileExistsError
        If there is such a folder.

    Examples
    --------
    >>> from gensim_tfw2v import Word2Vec, export_pretrained
    >>> model = Word2Vec([["cat", "dog", "cow"]] * 10, min_count=1)
    >>> export_pretrained(model.wv, "animals", license="cc0-1.0", language="en")
    """
    check_keyed_vectors("export_pretrained", keyed_vectors)
    words = as_texts(keyed_vectors.index_to_key)
    check_undivided(words, "the word {!r} has white space, or is empty, and no text could have it as a word")
    if UNKNOWN in words:
        raise ValueError(f"the word {UNKNOWN!r} stands for unknown words there; leave it out of the vocabulary")
    numbers = int(keyed_vectors.vector_size)
    target = Path(os.path.abspath(folder))
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "hidden_dim": numbers,
        "normalize": False,
        "embedding_dtype": "float32",
    }
    modules = [{"idx": 0, "name": "0", "path": ".", "type": "sentence_transformers.models.StaticEmbedding"}]
    header = {
        "library_name": "model2vec",
        "license": license,
        "language": language,
        "pipeline_tag": "sentence-similarity",
        "tags": ["word2vec", "static-embeddings", "model2vec", "sentence-transformers"],
    }
    card = _CARD.format(
        header="\n".join(f"{key}: {json.dumps(value)}" for key, value in header.items() if value is not None),
        name=target.name,
        about="" if description is None else f"{description}\n\n",
        words=len(words),
        kind=(_OF_DOCUMENTS if of_documents else _OF_WORDS).format(numbers=numbers),
        example=json.dumps(words[0] if of_documents else "some words", ensure_ascii=False),
    )
    with written_folder(target) as unfinished:
        _write_safetensors(unfinished / "model.safetensors", keyed_vectors.vectors)
        contents = {"tokenizer": _tokenizer(words, lowercase), "config": config, "modules": modules}
        for name, content in contents.items():
            (unfinished / f"{name}.json").write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        (unfinished / "README.md").write_text(card, encoding="utf-8")


def _tokenizer(words: list[str], lowercase: bool) -> dict[str, Any]:
    """Return a tokenizer of Hugging Face that divides texts at white space; its last token stands for unknown words."""
    unknown = {"id": len(words), "content": UNKNOWN, "special": True, "normalized": False}
    unknown |= {"single_word": False, "lstrip": False, "rstrip": False}
    vocabulary = {word: number for number, word in enumerate([*words, UNKNOWN])}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [unknown],
        "normalizer": {"type": "Lowercase"} if lowercase else None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": UNKNOWN},
    }


def _write_safetensors(path: Path, matrix: Any) -> None:
    """Write a matrix and a row of zeros, for unknown words, as safetensors: a header in JSON, and the numbers."""
    rows, columns = matrix.shape[0] + 1, matrix.shape[1]
    tensor = {"dtype": "F32", "shape": [rows, columns], "data_offsets": [0, 4 * rows * columns]}
    header = json.dumps({"__metadata__": {"format": "pt"}, _TENSOR: tensor}).encode()
    header += b" " * (-len(header) % 8)
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for _, part in pieces(matrix):
            file.write(part.data)
        file.write(np.zeros(columns, "<f4").tobytes())

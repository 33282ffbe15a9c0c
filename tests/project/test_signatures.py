"""Functions have few positional parameters: what belongs together is one value."""

from __future__ import annotations

import ast
from pathlib import Path

import gensim_tfw2v

PACKAGE = Path(gensim_tfw2v.__file__).parent
MOST = 8
LONGER = {
    "word2vec.TFWord2Vec.__init__": "gensim's signature",
    "word2vec.TFWord2Vec.train": "gensim's signature",
    "native.walks_in_numpy.draw_walks": "the parameters of the function in C",
}


def functions(body: list[ast.stmt], prefix: str) -> dict[str, ast.FunctionDef]:
    """Return all functions in some statements, also those in classes and functions, by their dotted names."""
    found: dict[str, ast.FunctionDef] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = f"{prefix}.{node.name}"
            found |= functions(node.body, name) | ({name: node} if isinstance(node, ast.FunctionDef) else {})
    return found


def positional(function: ast.FunctionDef) -> int:
    """Return the number of positional parameters, without the object or class that a method has."""
    names = [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def test_functions_have_few_positional_parameters() -> None:
    found = {
        name: positional(function)
        for path in sorted(PACKAGE.rglob("*.py"))
        for name, function in functions(
            ast.parse(path.read_text(encoding="utf8")).body, ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        ).items()
    }
    assert {name for name, count in found.items() if count > MOST} == LONGER.keys()

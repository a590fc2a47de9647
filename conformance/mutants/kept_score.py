"""Stores the mutation score of the last large run, by module, with a digest of each module's code.

A module whose code has changed since does not count in the score until it is measured again.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from conformance.mutants.mutate import MODULES
from conformance.mutants.trial import MutantTrial, MutationScore, interval

FORMAT = "insync.mutants.score/2"
FILE = Path(__file__).with_name("score.json")


class NoScore(ValueError):
    """The file holds no score; the message says what would help."""


@dataclass(frozen=True)
class KeptScore:
    """`changed`: modules that were measured with other code, or not at all; the score is of the
    others. `population`: how many mutants there were to draw from."""

    score: MutationScore
    changed: tuple[str, ...]
    measured: tuple[str, ...]
    population: int


def digest_of(module: str) -> str:
    """The digest of a module's code."""
    return digest_of_text(inspect.getsource(import_module(module)))


def digest_of_text(text: str) -> str:
    """The digest of the code in a text, without comments, docstrings and layout."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            body[:] = [each for each in body if not _is_text(each)]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:16]


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def keep_score(trials: Iterable[MutantTrial], population: int, file: Path = FILE) -> None:
    """Writes the score of a run; the same trials give the same file."""
    counted = {module: [0, 0] for module in MODULES}
    for trial in trials:
        module = trial.key.split(" ", 1)[0]
        counted[module][0] += trial.caught
        counted[module][1] += 1
    kept = {
        "format": FORMAT,
        "population": population,
        "modules": {
            module: {"code": digest_of(module), "caught": caught, "tried": tried}
            for module, (caught, tried) in counted.items()
        },
    }
    file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def kept_score(file: Path = FILE) -> KeptScore:
    """The saved score of the modules whose code has not changed since. NoScore."""
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NoScore(
            f"{file.name}: {error}; insync mutants --all --save-score writes it"
        ) from None
    if not isinstance(kept, dict) or kept.get("format") != FORMAT:
        raise NoScore(f"{file.name}: is no {FORMAT}; insync mutants --all --save-score writes it")
    caught = tried = 0
    changed, measured = [], []
    for module in MODULES:
        one = kept["modules"].get(module)
        if one is None or one.get("code") != digest_of(module):
            changed.append(module)
            continue
        measured.append(module)
        caught, tried = caught + one["caught"], tried + one["tried"]
    found = MutationScore(caught, tried, *interval(caught, tried))
    return KeptScore(found, tuple(changed), tuple(measured), kept["population"])

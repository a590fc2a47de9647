"""A new claim: a sentence, its formula, and the companion that must be reachable."""

from __future__ import annotations

import ast
import importlib

from conformance.scaffold.edits import Edits, NotPossible, checked_name, with_imports, with_member


def new_claim(
    edits: Edits, name: str, system: str, sentence: str, formula: str, companion: str, reaches: str
) -> list[str]:
    """Adds `@always(sentence)` called ``name``, and `@sometimes` called ``companion``.

    Both formulas are in the notation, over `now`: `every(BROKERS, lambda b: ...)`.
    """
    checked_name("claim", name)
    checked_name("claim", companion)
    path = f"model/{system}/claims.py"
    text = edits.read(path)
    defined = {one.name for one in ast.parse(text).body if isinstance(one, ast.FunctionDef)}
    for one in (name, companion):
        if one in defined:
            raise NotPossible(f"{one} is a claim of {system} already; choose another name")
    words = {"always", "sometimes"} | _names("formula", formula) | _names("companion", reaches)
    for module in ("model.language", f"model.{system}.state"):
        there = importlib.import_module(module)
        text = with_imports(text, module, sorted(one for one in words if hasattr(there, one)))
    said = sentence.rstrip(".").replace('"', "'")
    body = (
        f'@always("{said}", companion="{companion}")\ndef {name}(now):\n    return {formula}\n\n\n'
        f'@sometimes("the case that {name} is about")\ndef {companion}(now):\n'
        f"    return {reaches}\n\n\n"
    )
    at = text.index("CLAIMS = (")
    text = text[:at] + body + text[at:]
    for one in (name, companion):
        text = with_member(text, "CLAIMS", one)
    edits.put(path, text)
    edits.create(f"tests/{system}/test_{name}.py", _TEST.format(system=system, claim=name))
    return [f"insync explore {system} --claim {name}", f"insync test tests/{system}"]


_TEST = '''\
"""The claim `{claim}` of `{system}`: every state of the default bounds."""

from __future__ import annotations

from model.systems import system
from specs.explorer import explore
from specs.verdict import Verdict


def test_it_holds_in_every_state_and_its_companion_is_reached():
    chosen = system("{system}")

    found = explore(chosen.recorded(), chosen.limits({{}}), ["{claim}"])

    assert found.claims["{claim}"].verdict is Verdict.HOLDS
'''


def _names(what: str, formula: str) -> set[str]:
    try:
        tree = ast.parse(formula, mode="eval")
    except SyntaxError as error:
        raise NotPossible(f"the {what} is no expression: {error.msg}; such as "
                          "every(BROKERS, lambda b: now.holds[b])") from error  # fmt: skip
    return {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}

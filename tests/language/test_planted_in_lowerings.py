"""A line of each lowering is changed: random terms notice it, of TLA+ whole modules too.

pytest --deep tests/language/test_planted_in_lowerings.py
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

CHANGED: dict[str, list[tuple[str, str]]] = {
    "model.language.evaluate": [
        ("bottom = max(bottom, self", "bottom = min(bottom, self"),
        ("top = limit - 1 if top is None", "top = limit if top is None"),
        ("return go(args[1]) in members", "return go(args[1]) not in members"),
    ],
    "model.language.terms": [
        ("return lt(term.args[1], term.args[0])", "return le(term.args[1], term.args[0])"),
        ('(b - a + (op == "le"))', "(b - a)"),
        ('(a - b - (op == "le"))', "(a - b)"),
        ("return and_(not_(condition), other)", "return and_(condition, other)"),
    ],
    "specs.lowering.bounded_cells": [
        ("if b < c else t.FALSE if a >= d", "if b <= c else t.FALSE if a >= d"),
        ("for i in reversed(rest):", "for i in reversed(rest[1:]):"),
        ("self._narrow(t.lt(code, limits[1]))", "self._narrow(t.le(code, limits[1]))"),
        ("for value, case in reversed(cases):", "for value, case in cases:"),
        ("if candidates[0] <= low and high <= candidates[-1]:", "if True:"),
    ],
    "specs.lowering.intervals": [
        ("return min(a, c), max(b, d)", "return min(a, c), min(b, d)"),
        ("return 0, len(args)", "return 0, len(args) - 1"),
    ],
    "specs.lowering.python_code": [
        ('f"(c{number}{low:+d})"', 'f"c{number}"'),
        ("{right.args[0] - self.low[left.args[0]]}", "{right.args[0]}"),
        ("{left.args[0] - self.low[right.args[0]]} {symbol}", "{left.args[0]} {symbol}"),
    ],
    "specs.lowering.python_terms": [
        ('"lt": "<"', '"lt": "<="'),
        ("parts.append(f\"{then} if {condition} else \")",
         "parts.append(f\"{then} if not {condition} else \")"),
        ('first = f"max({first}', 'first = f"min({first}'),
        ('limits = [f"{first} <= {inner}"', 'limits = ["True"'),
        ('for part in others)\n        return f"for',
         'for part in others[1:])\n        return f"for'),
        ('return f"sum(1 {over} if {holds})"', 'return f"int(any({holds} {over}))"'),
        ("({parts[0]} in {names[field]})", "({parts[0]} not in {names[field]})"),
    ],
    "specs.lowering.llvm_terms": [
        ('"lt": "slt"', '"lt": "ult"'),
        ('"le": "sle"', '"le": "slt"'),
        ("operands = paired + ([operands[-1]] if", "operands = paired + ([] if"),
    ],
    "specs.lowering.packed_terms": [
        ('{self.literal(\'i32\', place.low)}")\n\n    def succ', '0")\n\n    def succ'),
        ("self.literal('i32', place.mask)", "self.literal('i32', place.mask >> 1)"),
    ],
    "specs.bounded.bits": [
        (
            "return connect(op, parts)",
            'return z3.ULT(*parts) if op == "lt" else connect(op, parts)',
        ),
        (").bit_length() if low < 0 else 0) + 1", ").bit_length() if low < 0 else 0) - 1"),
    ],
    "specs.lowering.z3_code": [
        ("return parts[0] <= parts[1]", "return parts[0] < parts[1]"),
        ("inside.append(self._term(low, state, env, memo) <= x)", "pass"),
        ("inside.append(x < self", "inside.append(x <= self"),
        ("return z3.Exists([x], z3.And(*inside, inner))", "return z3.Exists([x], inner)"),
        ("return [value >= sort.bottom]", "return [value > sort.bottom]"),
        ("return [value != self.literal(sort, 0)] if", "return [] if"),
        ("return env[args[0]](go(args[1]))", "return z3.Not(env[args[0]](go(args[1])))"),
    ],
    "specs.finding.observed": [
        ("return np.less_equal(*parts)", "return np.less(*parts)"),
        ("return np.where(*parts)", "return np.where(parts[0], parts[2], parts[1])"),
    ],
    "specs.tla.expressions": [
        ('(">=", low + 1)', '(">=", low)'),
        ('sign = "<" if term.op == "lt" else "<="', 'sign = "<"'),
        ('"+" if plus > 0 else "-"', '"+"'),
        ("t.and_(*(t.not_(part) for part in parts[:unsafe]))", "t.and_(*parts[:unsafe])"),
        ("return self._implied(parts[0].args[0]", "return self._implied(parts[0]"),
        ('(("Smaller", t.le(then, other)), ("Larger"',
         '(("Larger", t.le(then, other)), ("Smaller"'),
        ('if term.op == "every" else r"', 'if term.op == "some" else r"'),
        ('<= getattr(sort, "bottom", 0)', "<= 9"),
    ],
    "specs.tla.vocabulary": [
        ("Within(value, most) == value <= most", "Within(value, most) == value < most"),
        ("log_of[offset_of + 1]", "log_of[offset_of]"),
        ("SubSeq(log_of, 1, end_at)", "SubSeq(log_of, 1, end_at - 1)"),
        ('n < end_at}",\n    ),\n    "Between', 'n <= end_at}",\n    ),\n    "Between'),
        ("first_at <= n", "first_at < n"),
        (': n <= m"', ': n >= m"'),
    ],
    "specs.tla.sets": [
        ("\\cap", "\\cup"),
    ],
    "specs.tla.actions": [
        ("within = Infix(\"=>\", premise, within, IMPLIES)", "pass"),
        ("for r in step.requires]", "for r in step.requires[1:]]"),
        ("                rest.append(variable)", "                pass"),
        ("            return \"vars\"", "            return every[0]"),
    ],
    "specs.tla.limits": [
        ("if not self._may_exceed(arm, sort.high):", "if self._may_exceed(arm, sort.high):"),
        ("yield from _cases_of(other, (*given, t.not_(condition)))",
         "yield from _cases_of(other, (*given, condition))"),
    ],
    "specs.tla.updates": [
        ("Word(\"@\" if place.text == scope.here else place.text)", "Word(\"@\")"),
        ("assume(one.term, condition, holds)", "assume(one.term, condition, not holds)"),
        ("value = t.ite(t.eq(index, write.keys[0]), write.value, before)",
         "value = t.ite(t.eq(index, write.keys[0]), before, write.value)"),
        ("if write.keys[used] is key]", "if write.keys[used] is not None]"),
    ],
    "specs.tla.logs": [
        ('return call(self._of.names.helper("Cut"), own, self._of.of(end, scope))', "return own"),
        ("f\"{name} - 1\"", "name"),
    ],
    "specs.tla.shapes": [
        ("return Word(\"<<>>\")", "return Word(\"{}\")"),
        (r'r" \X ".join', r'r" \cup ".join'),
        ("\"->\", self.type(schema.of)", "\"->\", self._names.domain(schema.index)"),
    ],
    "specs.tla.module": [
        ("if write.field in self._kept:", "if write.field in self._kept and not write.variables:"),
        ("junction(r\"\\/\", [self._actions.enabled(step) for step in steps])",
         "junction(r\"\\/\", [self._actions.enabled(step) for step in steps[1:]])"),
    ],
    "specs.tla.claims": [
        ("Prefix(\"~\", Word(claim.name))", "Word(claim.name)"),
        ("body = self._of.said(term, NameScope())",
         "body = Prefix(\"~\", self._of.said(term, NameScope()))"),
    ],
    "specs.tla.rewriting": [
        ("t.not_(condition): t.const(not holds)", "t.not_(condition): t.const(holds)"),
    ],
    "specs.tla.places": [
        ("offset = self._write(indices[used], scope)",
         "offset = self._write(indices[used - 1], scope)"),
    ],
}  # fmt: skip
"""By module: a part of a line that stands there once, and what is put in its place."""

PLANTED = [(module, *pair) for module, pairs in CHANGED.items() for pair in pairs]

JUDGED_BY = {
    "model.language": "simplified or proofs", "specs.lowering.bounded_cells": "simplified",
    "specs.lowering.intervals": "interval or machine", "specs.lowering.python_code": "simplified",
    "specs.lowering.python_terms": "simplified or replays",
    "specs.lowering.llvm_terms": "machine",
    "specs.lowering.packed_terms": "machine", "specs.bounded": "bits",
    "specs.lowering.z3_code": "proofs or bits", "specs.finding": "columns",
    "specs.native": "replays", "specs.tla": "tla",
}  # fmt: skip
"""By the beginning of a module's name: the tests that are to notice, by a part of their names."""

TERMS = "tests/language/test_terms.py"
MODULES = [f"tests/specs/test_tla_{name}.py" for name in ("functions", "steps")]

RUN = """
import sys
from importlib.machinery import SourceFileLoader
import pytest
from hypothesis import Phase, settings
settings.register_profile("unshrunk", derandomize=True, deadline=None, max_examples=600,
                          phases=[Phase.generate])
name, old, new, tests, *files = sys.argv[1:]
unchanged = SourceFileLoader.get_code
def get_code(self, module):
    if module != name:
        return unchanged(self, module)
    return compile(self.get_source(module).replace(old, new), self.path, "exec")
SourceFileLoader.get_code = get_code
sys.exit(pytest.main(["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--no-header",
                      "-k", tests, *files]))
"""


def judges_of(module: str) -> str:
    return next(tests for name, tests in JUDGED_BY.items() if module.startswith(name))


def files_of(module: str) -> list[str]:
    """Where these tests stand."""
    return [*MODULES, TERMS] if module.startswith("specs.tla.") else [TERMS]


def source_of(module: str) -> str:
    found = importlib.util.find_spec(module)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).read_text(encoding="utf-8")


def test_what_is_planted_stands_in_its_module_once():
    assert [row for row in PLANTED if source_of(row[0]).count(row[1]) != 1] == []


@pytest.mark.deep
@pytest.mark.parametrize(("module", "old", "new"), PLANTED)
def test_random_terms_or_whole_modules_notice_a_changed_line(module, old, new):
    done = subprocess.run(
        [sys.executable, "-c", RUN, module, old, new, judges_of(module), *files_of(module)],
        cwd=ROOT, check=False,
        capture_output=True, text=True, env={**os.environ, "INSYNC_HYPOTHESIS": "unshrunk"},
    )  # fmt: skip

    assert done.returncode == 1, done.stdout[-2000:] + done.stderr[-2000:]

"""Random terms: the simplifying constructors, grounding and every lowering against naive Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from model.language import BOOL
from model.language import terms as t
from model.language.evaluate import Evaluator, blank_code
from model.language.terms import Term
from specs.bounded.bits import Bits, Frame
from specs.finding.observed import StateRows
from specs.lowering.grounding import Grounded
from specs.lowering.intervals import Intervals
from specs.lowering.llvm_terms import LANES
from specs.lowering.packed_terms import PackedWriter
from specs.lowering.packing import Packing
from specs.lowering.python_code import PythonCode
from specs.lowering.python_terms import CompiledEvaluator, SparseTerms
from specs.lowering.z3_code import Z3Code, lower_grounded
from specs.native.jit import build
from specs.tla import exported
from tests.language.random_terms import (
    ARGUMENTS,
    BOUNDS,
    BROKERS,
    GIVEN,
    GROUNDED,
    LEVELS,
    MANY_STATES,
    NOTHING,
    NUMBERS,
    RECORDED,
    STATES,
    WITHOUT_END,
    Drawn,
    Scope,
    conditions,
    field,
    literal,
    numbers,
    quantified,
    sparse_of,
    steps_with,
    values_of,
)
from tests.language.tla_values import NoValue, TlaModule

CODE = PythonCode(GROUNDED)
TWIN = Evaluator(RECORDED, WITHOUT_END)
COMPILED = CompiledEvaluator(RECORDED, WITHOUT_END)
SYMBOLIC = Z3Code(RECORDED, brokers=2, bounds=BOUNDS)
PACKING = Packing(GROUNDED, {})
FIELDS = list(RECORDED.fields.values())
SOME, FEW = (settings(max_examples=settings().max_examples // part) for part in (2, 5))
"""To draw a term takes most of the time, and to compile some; each is judged in several states."""

PLACES = {leaf.name: number for number, leaf in enumerate(FIELDS)}


def grounded(term: Term, arguments: Scope) -> Term:
    """Over cells, with the parameters of the step chosen."""
    chosen = {
        name: t.make("set", (value,), BOOL) if isinstance(value, frozenset) else t.const(value)
        for name, value in arguments.items()
    }
    return GROUNDED.ground(term, chosen)


@SOME
@given(conditions(4, GIVEN), MANY_STATES, ARGUMENTS)
def test_what_is_simplified_enumerated_and_compiled_keeps_its_meaning(drawn, states, arguments):
    compiled = CODE.condition(grounded(drawn.term, arguments))

    for codes in states:
        truth = bool(drawn.means(values_of(codes), arguments))
        assert bool(TWIN.value(drawn.term, sparse_of(codes), arguments)) == truth
        assert bool(COMPILED.value(drawn.term, sparse_of(codes), arguments)) == truth
        assert compiled(CODE.encode(codes)) == truth


@SOME
@given(conditions(3, GIVEN), MANY_STATES, ARGUMENTS)
def test_quantifier_free_formulas_of_numbers_and_of_bits_keep_the_meaning(drawn, states, arguments):
    term = grounded(drawn.term, arguments)
    within = Grounded(RECORDED, BOUNDS)
    within.claims = {"what is drawn": term}
    bits = Bits(within)

    def plain(code: int, is_bool: bool) -> Any:
        return z3.BoolVal(bool(code)) if is_bool else z3.IntVal(code)

    for codes in states[:4]:
        cells = [plain(codes[one.number], one.field.sort is BOOL) for one in GROUNDED.cells]
        frame = Frame(bits, [bits.code(*pair) for pair in zip(within.cells, codes, strict=True)])
        truth = bool(drawn.means(values_of(codes), arguments))
        assert z3.is_true(z3.simplify(lower_grounded(term, cells.__getitem__, {}))) == truth
        assert z3.is_true(z3.simplify(frame.formula(term))) == truth


@SOME
@given(conditions(3, GIVEN), MANY_STATES, ARGUMENTS)
def test_what_is_made_into_columns_keeps_its_meaning(drawn, states, arguments):
    rows = StateRows(GROUNDED, [
        np.array([codes[cell.number] for codes in states],
                 bool if cell.field.sort is BOOL else np.int16)
        for cell in GROUNDED.cells
    ])  # fmt: skip

    found = rows.wide(rows.of(grounded(drawn.term, arguments))).astype(bool).tolist()

    assert found == [bool(drawn.means(values_of(codes), arguments)) for codes in states]


# -- machine code ------------------------------------------------------------------------------


WORD, ADDRESS = ctypes.c_uint64, ctypes.c_void_p


@FEW
@given(
    st.lists(conditions(3, GIVEN), min_size=4, max_size=12),
    MANY_STATES, ARGUMENTS,
)  # fmt: skip
def test_machine_code_of_one_packed_state_and_of_many_side_by_side_keeps_the_meaning(
    tmp_path_factory, many, states, arguments
):
    terms = [grounded(drawn.term, arguments) for drawn in many]
    texts = []
    for lanes in (1, LANES):
        writer = PackedWriter(PACKING, lanes)
        writer.load_words()
        kind, bits = writer.kind("i64"), []
        for place, term in enumerate(terms):
            wide = writer.emit(f"zext {writer.kind('i1')} {writer.value(term)} to {kind}")
            bits.append(writer.emit(f"shl {kind} {wide}, {writer.literal('i64', place)}"))
        writer.lines.append(f"  store {kind} {writer.fold('or', bits, kind)}, ptr %truths, align 8")
        texts.append("\n".join([
            f"define void @of{lanes}(ptr %s, ptr %truths) nounwind {{", "entry:", *writer.lines,
            "  ret void", "}",
        ]))  # fmt: skip
    folder: Path = tmp_path_factory.getbasetemp()
    machine = build("\n".join(texts), ("of1", f"of{LANES}"), folder)
    packed = [PACKING.pack(codes) for codes in states]
    truths = (WORD * LANES)()

    def called(name: str, words: list[int], count: int) -> list[int]:
        given_words = (WORD * len(words))(*words)
        ctypes.CFUNCTYPE(None, ADDRESS, ADDRESS)(machine.addresses[name])(given_words, truths)
        return list(truths)[:count]

    expected = [
        sum(bool(drawn.means(values_of(codes), arguments)) << n for n, drawn in enumerate(many))
        for codes in states
    ]
    assert [called("of1", list(words), 1)[0] for words in packed] == expected
    assert called(f"of{LANES}", [word for words in packed for word in words], LANES) == expected


def without_sets(scope: Any) -> Any:
    """Parameters that traces have: none of them is a set."""
    return (*scope[:2], ())


@SOME
@given(
    st.lists(conditions(3, without_sets(GIVEN)), min_size=4, max_size=12), MANY_STATES, ARGUMENTS
)
def test_what_replays_traces_without_bounds_keeps_the_meaning(many, states, arguments):
    named = {name: str(value) for name, value in arguments.items()}
    writer = SparseTerms(TWIN, lambda field: f"F{PLACES[field]}")
    compiled = [compile(writer.expression(one.term, named, {}), "drawn", "eval") for one in many]

    for codes in states:
        ledger = {f"F{PLACES[name]}": sparse_of(codes).get(name, {}) for name in PLACES}
        for place, drawn in enumerate(many):
            truth = bool(drawn.means(values_of(codes), arguments))
            assert bool(eval(compiled[place], dict(ledger))) == truth


# -- proofs ------------------------------------------------------------------------------------


def has_an_unbounded_form(term: Term) -> bool:
    """Z3 counts no members, and takes no least number: it refuses such terms."""
    return term.op not in ("count", "least") and all(
        has_an_unbounded_form(arg) for arg in term.args if isinstance(arg, Term)
    )


@st.composite
def about_brokers(draw: Any) -> Drawn:
    """A quantifier over brokers whose variable counts: in a draw of any kind few do."""

    def body(bound: Drawn) -> Drawn:
        size, most = field("size", bound), draw(st.integers(0, 3))
        more = draw(conditions(1, ((), (bound,), ())))
        join, means = draw(st.sampled_from([(t.and_, all), (t.or_, any)]))
        return Drawn(
            join(t.le(size.term, t.const(most)), more.term),
            lambda v, s: means([size.means(v, s) <= most, more.means(v, s)]),
        )

    return quantified(draw(st.sampled_from(["every", "some"])), BROKERS, body)


@st.composite
def about_numbers(draw: Any) -> Drawn:
    """A quantifier over the numbers of a range, some of which no sort has, that counts."""
    place, sort, lowest = draw(st.sampled_from([("flag", NUMBERS, -1), ("warm", LEVELS, -3)]))
    ends = [literal(lowest), literal(draw(st.integers(lowest, 3)))]
    sign = draw(st.booleans())

    def body(bound: Drawn) -> Drawn:
        here = field(place, bound)
        return Drawn(
            here.term if sign else t.not_(here.term),
            lambda v, s: bool(here.means(v, s)) == sign,
        )

    return quantified(draw(st.sampled_from(["every", "some"])), sort, body, *ends)


@SOME
@given(
    st.one_of(about_brokers(), about_numbers(), conditions(3, GIVEN)).filter(
        lambda drawn: has_an_unbounded_form(drawn.term)
    ),
    STATES,
    ARGUMENTS,
)
def test_the_lowering_that_proofs_use_keeps_the_meaning(drawn, codes, arguments):
    truth, values = bool(drawn.means(values_of(codes), arguments)), values_of(codes)

    def function(name: str) -> Callable[..., Any]:
        leaf = RECORDED.fields[name]

        def of(*index: Any) -> Any:
            found = SYMBOLIC.literal(leaf.sort, blank_code(leaf.sort))
            for (other, place), code in values.items():
                if other == name:
                    here = [
                        i == SYMBOLIC.literal(sort, part)
                        for i, sort, part in zip(index, leaf.dims, place, strict=True)
                    ]
                    found = z3.If(z3.And(*here), SYMBOLIC.literal(leaf.sort, code), found)
            return found

        return of

    broker = SYMBOLIC.literal(BROKERS, arguments["$b"])
    members = [SYMBOLIC.literal(BROKERS, one) for one in sorted(arguments["$some"])]
    given_to_it = {
        "$n": z3.IntVal(arguments["$n"]), "$b": broker,
        "$some": lambda one: z3.Or(*(one == member for member in members)),
    }  # fmt: skip
    state = {name: function(name) for name in RECORDED.fields}
    formula = SYMBOLIC.term(drawn.term, state, given_to_it)
    solver = z3.Solver()
    solver.add(*SYMBOLIC.axioms, z3.Not(formula) if truth else formula)

    assert solver.check() == z3.unsat


@SOME
@given(numbers(3, NOTHING), STATES)
def test_a_number_stays_within_the_interval_that_is_known_of_it(drawn, codes):
    value = drawn.means(values_of(codes), {})
    low, high = Intervals([cell.domain for cell in GROUNDED.cells]).of(
        GROUNDED.ground(drawn.term, {})
    )

    assert low <= value <= high


@FEW
@given(conditions(4))
def test_a_term_is_made_once(drawn):
    again = t.not_(t.not_(drawn.term))

    assert again is drawn.term


# -- TLA+ --------------------------------------------------------------------------------------


NOBODY = "None"


def in_tla(codes: tuple[int, ...]) -> Scope:
    """A state as values of TLA+: names as texts, sets as sets, maps as functions."""
    state: dict[str, Any] = {}
    for cell in GROUNDED.cells:
        leaf, code = cell.field, codes[cell.number]
        index = cell.index[0] if len(cell.index) == 1 else cell.index
        if leaf.set_from is not None:
            state[leaf.name] = state.get(leaf.name, frozenset()) | ({index} if code else set())
            continue
        shown: Any = bool(code) if leaf.sort is BOOL else code
        if leaf.name == "mood":
            shown = leaf.sort.show(code)
        elif leaf.sort.family == "broker":
            shown = code or NOBODY
        if not leaf.dims:
            state[leaf.name] = shown
        else:
            state.setdefault(leaf.name, {})[index] = shown
    return state


@pytest.mark.filterwarnings("ignore:int argument support is deprecated:DeprecationWarning")
@SOME
@given(conditions(3, GIVEN), numbers(2, GIVEN), MANY_STATES, ARGUMENTS)
def test_what_is_exported_to_tla_keeps_its_meaning(drawn, number, states, arguments):
    made = exported(steps_with(drawn.term, number.term), BOUNDS)
    sizes = {"Brokers": frozenset((1, 2)), "MaxTop": BOUNDS["top"], "None": NOBODY}
    module = TlaModule(made.module, sizes)
    named = {name.removeprefix("$"): value for name, value in arguments.items()}

    for codes in states:
        now, values = in_tla(codes), values_of(codes)
        truth, drawn_number = (bool(drawn.means(values, arguments)),
                               number.means(values, arguments))  # fmt: skip
        with suppress(NoValue):  # read at what there is not, where the notation says blank
            assert module.step("requires", now, named) == ({**now, "yes": True} if truth else None)
        with suppress(NoValue):
            assert module.step("writes", now, named) == after_writing(
                now, truth, drawn_number, named
            )


def after_writing(now: Scope, drawn: bool, number: int, named: Scope) -> Scope:
    """The state after the step that writes."""
    n, b = named["n"], named["b"]
    return {
        **now, "no": drawn, "few": number if 0 <= number <= n else now["few"],
        "flag": {**now["flag"], n: drawn, 0: now["yes"]},
        "chosen": now["chosen"] | {b} if drawn else now["chosen"] & named["some"],
        "heir": {one: one if drawn and one != b else heir for one, heir in now["heir"].items()},
        "seen": now["seen"] - {(b, n)},
    }  # fmt: skip

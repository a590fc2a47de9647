"""Python's own words on expressions are refused, and the line that it says to write instead."""

from __future__ import annotations

from tests.language.refusing import refusal, refused, require, says


@refused("write require(condition, reason), or when(condition, then, otherwise)")
def test_an_if_on_an_expression_is_refused(now, new):
    if now.fine:
        new.epoch = 1


@refused("write require(condition, reason)")
def test_a_while_on_an_expression_is_refused(now, new):
    while now.epoch < 1:
        new.epoch = 1


@refused("write when(condition, then, otherwise)")
def test_a_conditional_expression_is_refused(now, new):
    new.epoch = 1 if now.fine else 0


@refused("write all_of(a, b) instead of `a and b`")
def test_an_and_is_refused(now, new):
    require(now.fine and now.epoch > 0, "both")


@refused("write any_of(a, b) instead of `a or b`")
def test_an_or_is_refused(now, new):
    require(now.fine or now.epoch > 0, "either this and not that, or that")


@refused("write not_(a) instead of `not a`")
def test_a_not_is_refused(now, new):
    require(not now.fine, "it is not fine")


@refused("write members.has(x) instead of `x in members`")
def test_an_in_is_refused(now, new):
    require(now.owner in now.isr, "the owner is in the ISR")


@refused("write not_(members.has(x)) instead of `x not in members`")
def test_a_not_in_is_refused(now, new):
    require(now.owner not in now.isr, "the owner is not in the ISR")


@refused("write all_of(a < b, b < c) instead of `a < b < c`")
def test_a_chained_comparison_is_refused(now, new):
    require(0 < now.epoch < 2, "it is one")


@refused("smaller / larger")
def test_min_of_python_is_refused(now, new):
    new.epoch = min(now.epoch, now.seen[1])


@refused("smaller / larger")
def test_max_of_python_is_refused(now, new):
    new.epoch = max(now.epoch, now.seen[1])


@refused("write some / every")
def test_any_and_all_of_python_are_refused(now, new):
    require(any([now.fine, now.epoch > 0]), "either")


@refused("write every(sort, rule), some(sort, rule) or lam(sort, rule)")
def test_looping_over_a_set_is_refused(now, new):
    for _ in now.isr:
        pass


def test_bit_operators_are_refused():
    def with_and(now, new):
        require(now.fine & now.fine, "both")

    def with_or(now, new):
        require(now.fine | now.fine, "either")

    def with_invert(now, new):
        require(~now.fine, "it is not fine")

    says(refusal(with_and), "write all_of(a, b) instead of `a & b`")
    says(refusal(with_or), "write any_of(a, b) instead of `a | b`")
    says(refusal(with_invert), "write not_(a) instead of `~a`")


@refused("plain Python value True", "compare fields or parameters")
def test_a_plain_bool_is_no_requirement(now, new):
    require(1 < 2, "it is so")


@refused("write is_none(x) instead of `x is None`")
def test_is_none_of_python_is_refused(now, new):
    require(now.owner is None, "nobody owns it")

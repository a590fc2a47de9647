"""Python's own words on expressions are refused, and the line that it says to write instead."""

from __future__ import annotations

import pytest

from tests.language.refusing import refusal, require, says


def test_an_if_on_an_expression_is_refused():
    def body(now, new):
        if now.fine:
            new.epoch = 1

    says(refusal(body), "write require(condition, reason), or when(condition, then, otherwise)")


def test_a_while_on_an_expression_is_refused():
    def body(now, new):
        while now.epoch < 1:
            new.epoch = 1

    says(refusal(body), "write require(condition, reason)")


def test_a_conditional_expression_is_refused():
    def body(now, new):
        new.epoch = 1 if now.fine else 0

    says(refusal(body), "write when(condition, then, otherwise)")


def test_an_and_is_refused():
    def body(now, new):
        require(now.fine and now.epoch > 0, "both")

    says(refusal(body), "write all_of(a, b) instead of `a and b`")


def test_an_or_is_refused():
    def body(now, new):
        require(now.fine or now.epoch > 0, "either this and not that, or that")

    says(refusal(body), "write any_of(a, b) instead of `a or b`")


def test_a_not_is_refused():
    def body(now, new):
        require(not now.fine, "it is not fine")

    says(refusal(body), "write not_(a) instead of `not a`")


def test_an_in_is_refused():
    def body(now, new):
        require(now.owner in now.isr, "the owner is in the ISR")

    says(refusal(body), "write members.has(x) instead of `x in members`")


def test_a_not_in_is_refused():
    def body(now, new):
        require(now.owner not in now.isr, "the owner is not in the ISR")

    says(refusal(body), "write not_(members.has(x)) instead of `x not in members`")


def test_a_chained_comparison_is_refused():
    def body(now, new):
        require(0 < now.epoch < 2, "it is one")

    says(refusal(body), "write all_of(a < b, b < c) instead of `a < b < c`")


@pytest.mark.parametrize("word", ["min", "max"])
def test_min_and_max_of_python_are_refused(word):
    def with_min(now, new):
        new.epoch = min(now.epoch, now.seen[1])

    def with_max(now, new):
        new.epoch = max(now.epoch, now.seen[1])

    message = refusal({"min": with_min, "max": with_max}[word])

    says(message, "smaller / larger")


def test_any_and_all_of_python_are_refused():
    def body(now, new):
        require(any([now.fine, now.epoch > 0]), "either")

    says(refusal(body), "write some / every")


def test_looping_over_a_set_is_refused():
    def body(now, new):
        for _ in now.isr:
            pass

    says(refusal(body), "write every(sort, rule), some(sort, rule) or lam(sort, rule)")


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


def test_a_plain_bool_is_no_requirement():
    def body(now, new):
        require(1 < 2, "it is so")

    says(refusal(body), "plain Python value True", "compare fields or parameters")


def test_is_none_of_python_is_refused():
    def body(now, new):
        require(now.owner is None, "nobody owns it")

    says(refusal(body), "write is_none(x) instead of `x is None`")

"""The lens: one text for a partition serves a system of several."""

from __future__ import annotations

import pytest

from model.language import (
    BOOL,
    Bounded,
    Numbers,
    ProtocolError,
    Record,
    focus,
    focused,
    per,
    require,
    transition,
)
from model.language.recording import record, record_condition

SHELVES = Numbers("shelf", 0, Bounded("shelves", -1))
COUNTS = Numbers("count", 0, 9)
STATE = Record(open=BOOL, shelf=per(SHELVES, Record(books=COUNTS, dusty=BOOL)))


@transition()
def a_book_is_added(now, new):
    """A book is put on the shelf, if the library is open."""
    require(now.open, "the library is open")
    require(now.books == 0, "the shelf is empty")

    new.books = now.books + 1
    new.open = False


def test_own_parts_are_read_and_written_at_the_member_and_the_rest_where_it_was():
    step = focused(a_book_is_added, shelf=SHELVES, on="shelf")

    recorded = record(step, STATE, {})

    assert list(recorded.parameters) == ["shelf"]
    assert [repr(one.condition) for one in recorded.requires] == [
        "open", "shelf.books[$shelf] = 0",
    ]  # fmt: skip
    assert [(w.field, len(w.keys)) for w in recorded.writes] == [("shelf.books", 1), ("open", 0)]


def test_the_step_keeps_its_name_and_what_is_said_of_it():
    step = focused(a_book_is_added, shelf=SHELVES, on="shelf")

    assert step.name == "a_book_is_added"
    assert step.summary == a_book_is_added.summary


def test_a_step_that_has_to_know_its_member_declares_it():
    @transition(shelf=SHELVES)
    def a_book_is_moved(now, new, shelf):
        """A book goes to the first shelf."""
        require(shelf != 0, "it is not the first shelf")

        new.books = 0

    recorded = record(focused(a_book_is_moved, shelf=SHELVES, on="shelf"), STATE, {})

    assert list(recorded.parameters) == ["shelf"]
    assert "shelf" in repr(recorded.requires[0].condition)


def test_a_claim_reads_the_state_as_one_member_sees_it():
    term = record_condition(lambda now: focus(now, "shelf", 2).dusty, STATE, {})

    assert repr(term) == "shelf.dusty[2]"


def test_a_map_that_is_not_there_is_refused():
    with pytest.raises(ProtocolError, match="no map 'row' to focus on"):
        record(focused(a_book_is_added, shelf=SHELVES, on="row"), STATE, {})


def test_a_map_of_single_values_is_refused():
    state = Record(open=BOOL, shelf=per(SHELVES, COUNTS))

    with pytest.raises(ProtocolError, match="not a map of records"):
        record(focused(a_book_is_added, shelf=SHELVES, on="shelf"), state, {})


def test_a_name_that_means_two_things_is_refused():
    state = Record(books=COUNTS, open=BOOL, shelf=per(SHELVES, Record(books=COUNTS)))

    with pytest.raises(ProtocolError, match="'books' is a part of the state and of each member"):
        record(focused(a_book_is_added, shelf=SHELVES, on="shelf"), state, {})


def test_more_than_one_parameter_is_refused():
    with pytest.raises(ProtocolError, match="with one parameter"):
        focused(a_book_is_added, shelf=SHELVES, row=SHELVES, on="shelf")

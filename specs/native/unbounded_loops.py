"""The compiled loop that replays lines on a state without bounds.

Each line has a step, its arguments and the places that changed. A move is taken if it is possible
and changes those places, to those codes, and no others that can be observed. Where nothing fits the
state is as it was before the line, and who called finds out why.

All arrays are flat, and a change is six words at a position that is a multiple of six: what numba
compiles of views and tables takes three times as long.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc"
# mypy: disable-error-code="call-arg,var-annotated"

from __future__ import annotations

from typing import Any

from numba import njit

from specs.native.calls import call_attempt
from specs.native.compiled_loops import keep_loops
from specs.native.unbounded_layout import (
    BASE,
    CAPACITY,
    CHANGE,
    CODE,
    COUNT,
    ENTRY,
    FIELD,
    INDEX,
    KIND,
    LIST,
    LOG_FIELDS,
    LOW,
    META,
    MOST_INDICES,
    SHAPE,
    SIZE,
    STRIDE,
)

keep_loops()

INSIDE: dict[str, Any] = {"nogil": True, "cache": True, "no_cpython_wrapper": True}
"""Of functions that Python never calls: what it would call them by takes as long to compile."""

FITS, NOTHING_FITS, NEEDS_ROOM, NEEDS_WORDS, NO_SUCH_CELL = 0, 1, 2, 3, 4
"""How a batch of lines ended; what needs room is a field, what needs words is `out`."""

ABSENT, BEYOND, NOWHERE = -1, -2, -3
"""A list has no such entry; a dense field has no room for the index now; no field has the index."""


@njit(**INSIDE)
def _where(cells, meta, shape, words, at):
    """Where the code of a change's cell is, or why nowhere."""
    field = words[at + FIELD]
    mine, cell = field * SHAPE, meta[field * META + BASE]
    if shape[mine + KIND] == LIST:
        for _ in range(meta[field * META + COUNT]):
            place = 0
            while place < MOST_INDICES and cells[cell + place] == words[at + INDEX + place]:
                place += 1
            if place == MOST_INDICES:
                return cell + MOST_INDICES
            cell += ENTRY
        return ABSENT
    beyond = False
    for place in range(MOST_INDICES):
        steps = words[at + INDEX + place] - shape[mine + LOW + place]
        size = shape[mine + SIZE + place]
        if steps < 0 or (size > 0 and steps >= size):
            return NOWHERE
        beyond = beyond or (size == 0 and steps >= meta[field * META + CAPACITY])
        cell += steps * shape[mine + STRIDE + place]
    return BEYOND if beyond else cell


@njit(**INSIDE)
def _put(cells, meta, shape, blanks, words, at, where, code):
    """Writes a code where `_where` found its cell; says why not, else FITS."""
    field = words[at + FIELD]
    is_blank = code == blanks[field]
    if shape[field * SHAPE + KIND] != LIST:
        if where < 0:
            return NO_SUCH_CELL if where == NOWHERE else (FITS if is_blank else NEEDS_ROOM)
        cells[where] = code
        return FITS
    base, count = meta[field * META + BASE], meta[field * META + COUNT]
    if is_blank:
        if where >= 0:  # the last entry takes its place: their order means nothing
            meta[field * META + COUNT] = count - 1
            for place in range(ENTRY):
                cells[where - MOST_INDICES + place] = cells[base + ENTRY * (count - 1) + place]
        return FITS
    if where < 0:
        if count >= meta[field * META + CAPACITY]:
            return NEEDS_ROOM
        for place in range(MOST_INDICES):
            cells[base + ENTRY * count + place] = words[at + INDEX + place]
        meta[field * META + COUNT] = count + 1
        where = base + ENTRY * count + MOST_INDICES
    cells[where] = code
    return FITS


@njit(**INSIDE)
def _undo(cells, meta, shape, blanks, journal, noted):
    at = (noted - 1) * CHANGE
    while at >= 0:
        where = _where(cells, meta, shape, journal, at)
        _put(cells, meta, shape, blanks, journal, at, where, journal[at + CODE])
        at -= CHANGE


@njit(**INSIDE)
def _cut(cells, meta, shape, blanks, logs, out, at, before, journal, noted):
    """A log ends earlier: what it had from there on is blank. How many are in the journal then."""
    for which in range(LOG_FIELDS):
        part = logs[LOG_FIELDS * out[at + FIELD] + which]
        if part < 0:
            continue
        depth = 0  # the offset stands behind the indices that the end has
        while shape[part * SHAPE + SIZE + depth] != 0:
            depth += 1
        for offset in range(out[at + CODE], before):
            to = noted * CHANGE
            journal[to + FIELD] = part
            for place in range(MOST_INDICES):
                journal[to + INDEX + place] = out[at + INDEX + place]
            journal[to + INDEX + depth] = offset
            where = _where(cells, meta, shape, journal, to)
            if where >= 0 and cells[where] != blanks[part]:
                journal[to + CODE] = cells[where]
                cells[where] = blanks[part]
                noted += 1
    return noted


@njit(**INSIDE)
def _apply(cells, meta, shape, blanks, logs, out, count, journal):
    """All changes of a move: how many are in the journal; FITS, or why not, and of what."""
    noted = 0
    for at in range(0, count * CHANGE, CHANGE):
        field, code = out[at + FIELD], out[at + CODE]
        where = _where(cells, meta, shape, out, at)
        before = cells[where] if where >= 0 else blanks[field]
        if before == code:
            continue
        shorter = before - code if logs[LOG_FIELDS * field] >= 0 and code < before else 0
        room = noted + 2 + LOG_FIELDS * shorter
        if room * CHANGE > journal.size:
            return noted, NEEDS_WORDS, room
        why = _put(cells, meta, shape, blanks, out, at, where, code)
        if why != FITS:
            return noted, why, field
        for word in range(CODE):
            journal[noted * CHANGE + word] = out[at + word]
        journal[noted * CHANGE + CODE] = before
        noted += 1
        if shorter:
            noted = _cut(cells, meta, shape, blanks, logs, out, at, before, journal, noted)
    return noted, FITS, 0


@njit(**INSIDE)
def _as_seen(cells, meta, shape, blanks, observable, changed, first, stop, journal, noted):
    """What the line changed and what the move changed is the same, and so everything is."""
    for at in range(first * CHANGE, stop * CHANGE, CHANGE):
        where = _where(cells, meta, shape, changed, at)
        code = cells[where] if where >= 0 else blanks[changed[at + FIELD]]
        if code != changed[at + CODE]:
            return False
    for mine in range(0, noted * CHANGE, CHANGE):
        if not observable[journal[mine + FIELD]]:
            continue
        where = _where(cells, meta, shape, journal, mine)
        code = cells[where] if where >= 0 else blanks[journal[mine + FIELD]]
        shown = code == journal[mine + CODE]
        at = first * CHANGE
        while not shown and at < stop * CHANGE:
            word = 0
            while word < CODE and changed[at + word] == journal[mine + word]:
                word += 1
            shown = word == CODE
            at += CHANGE
        if not shown:
            return False
    return True


@njit(nogil=True, cache=True)
def follow_lines(attempt, state, about, ways, lines, first, scratch, fired):
    """Takes lines from `first` on. (the line that it stopped at, why, of what).

    `fired` counts by move, and last the lines that changed nothing.
    """
    cells, meta = state
    shape, blanks, logs, observable = about
    starts, moves, sources, silent, leader, parameters = ways
    steps, args, arguments, changed_from, changed = lines
    out, journal, given, most, sweeps = scratch
    probe = given.copy()
    addresses = (given.ctypes.data, cells.ctypes.data, meta.ctypes.data, out.ctypes.data)
    for line in range(first, steps.size):
        longest = 0
        for field in range(0, meta.size, META):
            longest = max(longest, meta[field + COUNT])
        needed = most + sweeps * longest
        if needed * CHANGE > out.size:
            return line, NEEDS_WORDS, needed
        step, seen, stop = steps[line], changed_from[line], changed_from[line + 1]
        if step < 0:
            return line, NOTHING_FITS, 0
        candidate = starts[step]
        last = starts[step + 1]
        noted, why, of = 0, FITS, 0
        if silent[step]:  # changing nothing is tried first, as a move that changes nothing
            candidate -= 1
        while candidate < last:
            is_move = candidate >= starts[step]
            possible = True
            noted = 0
            if is_move:
                for place in range(parameters):
                    source = sources[candidate * parameters + place]
                    if source >= 0:
                        given[place] = args[line * arguments + source]
                    else:  # whom a broker takes for the leader
                        probe[:] = 0
                        probe[FIELD] = leader
                        probe[INDEX] = args[line * arguments - source - 1]
                        where = _where(cells, meta, shape, probe, 0)
                        given[place] = cells[where] if where >= 0 else blanks[leader]
                count = call_attempt(attempt, (moves[candidate], *addresses))
                possible = count >= 0
                if possible:
                    noted, why, of = _apply(cells, meta, shape, blanks, logs, out, count, journal)
                    possible = why == FITS
            if possible and _as_seen(
                cells, meta, shape, blanks, observable, changed, seen, stop, journal, noted
            ):
                fired[moves[candidate] if is_move else fired.size - 1] += 1
                break
            _undo(cells, meta, shape, blanks, journal, noted)
            if why in (NEEDS_ROOM, NEEDS_WORDS):
                return line, why, of
            candidate += 1
        if candidate == last:
            return line, NOTHING_FITS, 0
    return steps.size, FITS, 0

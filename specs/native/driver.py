"""Inner loops of exploration: expand, look up, insert. Numba compiles them once for all systems.

States are expanded until there is a block of successors; then the whole block is hashed, looked up
and inserted. Each of these is a short loop whose iterations need not wait for the previous one.

`code` are the addresses and sizes of a system's own code (`Kernel.addresses`), `tallies` its
(fired, refused, pruned), `out` the planes of successors, all as in `specs.lowering.native_code`;
`asked` is (open, open about steps, wanted): the claims still to be settled, a bit each, and the
truth that settles each. A claim about steps is settled by a step that breaks it.
"""

# numba types these functions by what they are given.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc"

from __future__ import annotations

import numpy as np
from numba import njit

from specs.native.calls import call_canonical, call_expand, call_judge, call_judge_step
from specs.native.table import (
    AHEAD,
    HALF,
    LOWER,
    ask_for_entry,
    ask_for_state,
    hash_all,
    hash_of,
    lookup,
    owner_of,
)

# What `code` has, by position.
EXPAND, JUDGE, JUDGE_STEP, CANONICAL, LANES, BLOCK = 0, 1, 2, 3, 4, 5

# What the loops keep in `counters`, by position. Successors that found no room wait in `out`.
COUNT, GENERATED, SETTLED, ERROR, WAITING, WAITING_END = 0, 1, 2, 3, 4, 5


@njit(nogil=True, cache=True, inline="always")
def expand_some(words, code, states, index, number, begin, tallies, out):
    """One call of `expand`: states index..index+number, successors from position `begin` on."""
    return call_expand(
        code[EXPAND],
        (
            states.ctypes.data + index * words * 8, number, index, out.ctypes.data, begin,
            tallies[0].ctypes.data, tallies[1].ctypes.data, tallies[2].ctypes.data,
        ),
    )  # fmt: skip


@njit(nogil=True, cache=True)
def expand_block(words, code, states, index, end, tallies, out):
    """A block of successors of the states from `index` on.

    Returns where it stopped and how many there are; or, negative, the check that the first state
    with an impossible successor does not pass.
    """
    found = 0
    while index < end and found < code[BLOCK]:
        number = min(end - index, code[LANES])
        after = expand_some(words, code, states, index, number, found, tallies, out)
        if after < 0:
            for lane in range(number):
                one = expand_some(words, code, states, index + lane, 1, 0, tallies, out)
                if one < 0:
                    return index + lane, one
        found = after
        index += number
    return index, found


@njit(nogil=True, cache=True)
def broken_steps(words, code, states, out, found):
    """The claims about steps, a bit each, that some of these steps break."""
    after, broken = np.empty(words, np.uint64), np.uint64(0)
    for number in range(found):
        for word in range(words):
            after[word] = out[word, number]
        state = states.ctypes.data + np.int64(out[words, number]) * words * 8
        broken |= ~np.uint64(call_judge_step(code[JUDGE_STEP], (state, after.ctypes.data)))
    return broken


@njit(nogil=True, cache=True)
def settled_by(words, code, states, begin, end, asked):
    """The claims about states, a bit each, that some of the states begin..end settles."""
    truths, settled = np.empty(code[LANES], np.uint64), np.uint64(0)
    if asked[0] == 0:
        return settled
    for index in range(begin, end, code[LANES]):
        call_judge(code[JUDGE], (states.ctypes.data + index * words * 8, truths.ctypes.data))
        for lane in range(min(code[LANES], end - index)):
            settled |= ~(truths[lane] ^ asked[2])
    return settled & asked[0]


@njit(nogil=True, cache=True)
def make_canonical(code, out, found):
    """Replaces successors by the least of their orbits, where symmetry is on."""
    if code[CANONICAL] != 0:
        for first in range(0, found, code[LANES]):
            call_canonical(code[CANONICAL], (out.ctypes.data + first * 8, out.shape[1]))


@njit(nogil=True, cache=True)
def make_one_canonical(code, state):
    """Replaces one state by the least of its orbit, where symmetry is on."""
    out = np.zeros((state.size, code[LANES]), np.uint64)
    out[:, 0] = state
    make_canonical(code, out, 1)
    state[:] = out[:, 0]


@njit(nogil=True, cache=True)
def insert_block(words, states, count, room, table, mask, out, hashes, begin, found):
    """Inserts the new states among the successors begin..found; returns where it stopped, and the
    count.

    It stops before the end where there is no room for one that is new.
    """
    flat, step = out.ravel(), out.shape[1]
    for number in range(begin, min(found, begin + 2 * AHEAD)):
        ask_for_entry(hashes[number], table, 0, mask)
    for number in range(begin, found):
        if number + 2 * AHEAD < found:
            ask_for_entry(hashes[number + 2 * AHEAD], table, 0, mask)
        if number + AHEAD < found:
            ask_for_state(words, hashes[number + AHEAD], states, table, 0, mask)
        h = hashes[number]
        slot, entry = lookup(words, flat, number, step, h, states, table, 0, mask)
        if entry != 0:
            continue
        if count >= room:  # not ==: what is allowed may be less than what is there
            return number, count
        for word in range(words):
            states[count * words + word] = flat[number + word * step]
        count += 1
        table[slot] = ((h >> HALF) << HALF) | np.uint64(count)
    return found, count


@njit(nogil=True, cache=True)
def run(
    words, code, states, begin, end, table, room, tallies, out, hashes, counters, asked
):  # fmt: skip
    """One worker: expands the states begin..end and inserts new ones; returns where it stopped.

    It stops early when more than `room` states would be there. Successors that wait then are
    inserted first by the next call, whatever it is to expand.
    """
    mask = np.uint64(table.size - 1)
    count, index = counters[COUNT], begin
    at, found = counters[WAITING], counters[WAITING_END]
    settled = np.uint64(counters[SETTLED])
    while True:
        if at == found:
            if index == end:
                break
            index, found = expand_block(words, code, states, index, end, tallies, out)
            at = 0
            if found < 0:
                counters[ERROR] = found
                break
            counters[GENERATED] += found
            if asked[1] != 0:  # before the names change: the step is between these two states
                settled |= broken_steps(words, code, states, out, found) & asked[1]
            make_canonical(code, out, found)
            hash_all(words, out, found, hashes)
        before = count
        at, count = insert_block(
            words, states, count, room, table, mask, out, hashes, at, found
        )  # fmt: skip
        settled |= settled_by(words, code, states, before, count, asked)
        if at < found:
            break
    counters[COUNT], counters[WAITING], counters[WAITING_END] = count, at, found
    counters[SETTLED] = np.int64(settled)
    return index


@njit(nogil=True, cache=True)
def expand_out(
    words, code, states, begin, end, shards, tallies, out, hashes, counters, outbox, room, sent,
    asked,
):  # fmt: skip
    """First half of a round: expands states begin..end and sorts successors by owner.

    `outbox` has a part of `room` successors (hash and words) for each owner; `sent` counts them.
    Returns where it stopped: when a part might not take another block.
    """
    row, index, full = words + 1, begin, False
    settled = np.uint64(counters[SETTLED])
    while index < end and not full:
        index, found = expand_block(words, code, states, index, end, tallies, out)
        if found < 0:
            counters[ERROR] = found
            break
        counters[GENERATED] += found
        if asked[1] != 0:
            settled |= broken_steps(words, code, states, out, found) & asked[1]
        make_canonical(code, out, found)
        hash_all(words, out, found, hashes)
        for number in range(found):
            owner = owner_of(hashes[number], shards)
            to = (owner * room + sent[owner]) * row
            outbox[to] = hashes[number]
            for word in range(words):
                outbox[to + 1 + word] = out[word, number]
            sent[owner] += 1
        for owner in range(shards):
            full = full or sent[owner] + out.shape[1] > room
    counters[SETTLED] = np.int64(settled)
    return index


@njit(nogil=True, cache=True)
def insert_in(words, code, states, count, table, first, size, outbox, begin, number, asked):
    """Second half: an owner inserts one sender's successors; returns its count and what settled."""
    mask, row, before = np.uint64(size - 1), words + 1, count
    for sent_at in range(begin, begin + number):
        if sent_at + 2 * AHEAD < begin + number:
            ask_for_entry(outbox[(sent_at + 2 * AHEAD) * row], table, first, mask)
            ask_for_state(words, outbox[(sent_at + AHEAD) * row], states, table, first, mask)
        at = sent_at * row
        h = outbox[at]
        slot, entry = lookup(words, outbox, at + 1, 1, h, states, table, first, mask)
        if entry != 0:
            continue
        for word in range(words):
            states[count * words + word] = outbox[at + 1 + word]
        count += 1
        table[slot] = ((h >> HALF) << HALF) | np.uint64(count)
    return count, settled_by(words, code, states, before, count, asked)


@njit(nogil=True, cache=True)
def index_of(words, code, state, states, table, shards, size):
    """The index of one state, made canonical in place; -1 if it was never reached."""
    make_one_canonical(code, state)
    h = hash_of(words, state, 0)
    first = owner_of(h, shards) * size
    _, entry = lookup(words, state, 0, 1, h, states, table, first, np.uint64(size - 1))
    return np.int64(entry & LOWER) - 1

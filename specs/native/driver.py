"""The inner loops of exploration: expand, look up, insert. Compiled once by numba for all systems.

A system's own code (`expand`, `judge`, `judge_step`, `canonical`) is called by address, so that
this file knows nothing of any system and its compiled form is kept on disk until it changes.

Visited states lie in `states`, `words` 64-bit words each, one region of the array for each shard,
in the order in which they were found. `table` is open addressing over them, one part of equal size
for each shard: an entry is 0 (empty) or `tag << 32 | index + 1`, the tag being the upper half of
the state's hash. A state counts as seen only when all of its words are equal: the table is exact,
whatever the hash does.
"""

# numba types these functions by what they are given.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc"

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from specs.native.compiled_loops import keep_loops

keep_loops()

ONE = np.uint64(1)
HALF = np.uint64(32)
LOWER = np.uint64(0xFFFFFFFF)
MIX_1 = np.uint64(0x9E3779B97F4A7C15)
MIX_2 = np.uint64(0xD6E8FEB86659FD93)
MIX_3 = np.uint64(0xC2B2AE3D27D4EB4F)

MOST_STATES = 2**32 - 2
"""An index has 32 bits, and 0 is *empty*."""


def _caller(arguments):
    """A call of a function by its address, with integer (pointer) arguments."""

    @intrinsic
    def call(typingctx, address, pointers):
        signature = types.int64(types.int64, types.UniTuple(types.int64, arguments))

        def generate(context, builder, signature, given):
            i64 = ir.IntType(64)
            pointer = ir.PointerType(ir.FunctionType(i64, [ir.PointerType(i64)] * arguments))
            function = builder.inttoptr(given[0], pointer)
            parts = [
                builder.inttoptr(builder.extract_value(given[1], n), ir.PointerType(i64))
                for n in range(arguments)
            ]
            return builder.call(function, parts)

        return signature, generate

    return call


_call_5 = _caller(5)
_call_2 = _caller(2)
_call_1 = _caller(1)


@njit(nogil=True, cache=True, inline="always")
def hash_of(words, source, at):
    """64 bits from the words of the state at `source[at:]`."""
    h = source[at] * MIX_1
    for word in range(1, words):
        h ^= h >> np.uint64(29)
        h = (h + source[at + word]) * MIX_2
    h ^= h >> HALF
    h *= MIX_3
    return h ^ (h >> np.uint64(29))


@njit(nogil=True, cache=True, inline="always")
def owner_of(h, shards):
    """The shard that a state belongs to, from the upper half of its hash."""
    return np.int64(((h >> HALF) * np.uint64(shards)) >> HALF)


@njit(nogil=True, cache=True, inline="always")
def same(words, one, i, other, j):
    """Are two states equal, word by word?"""
    for word in range(words):  # noqa: SIM110  (numba compiles loops, not generators)
        if one[i + word] != other[j + word]:
            return False
    return True


@njit(nogil=True, cache=True, inline="always")
def lookup(words, source, at, h, states, table, first, mask):
    """(slot, entry) of a state in the part of the table at `first`; entry 0: not there, put it."""
    tag = h >> HALF
    slot = h & mask
    entry = table[first + np.int64(slot)]
    while entry != 0:
        index = (entry & LOWER) - ONE
        if entry >> HALF == tag and same(words, source, at, states, index * np.uint64(words)):
            break
        slot = (slot + ONE) & mask
        entry = table[first + np.int64(slot)]
    return first + np.int64(slot), entry


@njit(nogil=True, cache=True)
def insert_all(words, states, begin, end, table, first, size):
    """Fills a part of a table with states begin..end, known to differ: after growth or a load."""
    mask = np.uint64(size - 1)
    for index in range(begin, end):
        h = hash_of(words, states, index * words)
        slot = h & mask
        while table[first + np.int64(slot)] != 0:
            slot = (slot + ONE) & mask
        table[first + np.int64(slot)] = ((h >> HALF) << HALF) | np.uint64(index + 1)


@njit(nogil=True, cache=True)
def deal_out(words, states, begin, end, shards, into, ends):
    """Copies states begin..end behind `ends` of the regions of the shards that own them."""
    for index in range(begin, end):
        owner = owner_of(hash_of(words, states, index * words), shards)
        to = ends[owner]
        for word in range(words):
            into[to * words + word] = states[index * words + word]
        ends[owner] = to + 1


# What the loops keep in `counters`, by position.
COUNT, GENERATED, DEAD_ENDS, SETTLED, ERROR = 0, 1, 2, 3, 4


@njit(nogil=True, cache=True)
def run(
    words, expand, judge, judge_step, canonical, states, begin, end, table, most, room,
    fired, refused, pruned, out, counters, opened, opened_steps, wanted,
):  # fmt: skip
    """One worker: expands states begin..end and inserts what is new; returns where it stopped.

    It stops early when fewer than `most` states have `room` left, so that one state's successors
    always fit. `opened` are the claims still to be settled, `wanted` the truth that settles each;
    `opened_steps` the claims about steps, which a step settles that breaks them.
    """
    mask = np.uint64(table.size - 1)
    count, generated = counters[COUNT], counters[GENERATED]
    settled = np.uint64(counters[SETTLED])
    base, target = states.ctypes.data, out.ctypes.data
    tallies = (fired.ctypes.data, refused.ctypes.data, pruned.ctypes.data)
    last = pruned.size - 1
    index = begin
    while index < end and count + most <= room:
        cut = pruned[last]
        state = base + index * words * 8
        found = _call_5(expand, (state, target, tallies[0], tallies[1], tallies[2]))
        if found < 0:
            counters[ERROR] = found
            break
        if found == 0 and pruned[last] == cut:
            counters[DEAD_ENDS] += 1
        generated += found
        for number in range(found):
            at = number * words
            if opened_steps != 0:  # before the names change: the step is between these two states
                truth = np.uint64(_call_2(judge_step, (state, target + at * 8)))
                settled |= ~truth & opened_steps
            if canonical != 0:
                _call_1(canonical, (target + at * 8,))
            h = hash_of(words, out, at)
            slot, entry = lookup(words, out, at, h, states, table, 0, mask)
            if entry != 0:
                continue
            for word in range(words):
                states[count * words + word] = out[at + word]
            count += 1
            table[slot] = ((h >> HALF) << HALF) | np.uint64(count)
            if opened != 0:
                truth = np.uint64(_call_1(judge, (target + at * 8,)))
                settled |= ~(truth ^ wanted) & opened
        index += 1
    counters[COUNT], counters[GENERATED] = count, generated
    counters[SETTLED] = np.int64(settled)
    return index


@njit(nogil=True, cache=True)
def expand_out(
    words, expand, judge_step, canonical, states, begin, end, most, shards,
    fired, refused, pruned, out, counters, letters, room, sent, opened_steps,
):  # fmt: skip
    """First half of a round: expands states begin..end and sorts successors by owner.

    `letters` has a part of `room` successors (hash and words) for each owner; `sent` counts them.
    Returns where it stopped: when a part might not take another state's successors.
    """
    base, target = states.ctypes.data, out.ctypes.data
    tallies = (fired.ctypes.data, refused.ctypes.data, pruned.ctypes.data)
    last = pruned.size - 1
    row = words + 1
    index = begin
    full = False
    settled = np.uint64(counters[SETTLED])
    while index < end and not full:
        cut = pruned[last]
        state = base + index * words * 8
        found = _call_5(expand, (state, target, tallies[0], tallies[1], tallies[2]))
        if found < 0:
            counters[ERROR] = found
            break
        if found == 0 and pruned[last] == cut:
            counters[DEAD_ENDS] += 1
        counters[GENERATED] += found
        for number in range(found):
            at = number * words
            if opened_steps != 0:
                truth = np.uint64(_call_2(judge_step, (state, target + at * 8)))
                settled |= ~truth & opened_steps
            if canonical != 0:
                _call_1(canonical, (target + at * 8,))
            h = hash_of(words, out, at)
            owner = owner_of(h, shards)
            to = (owner * room + sent[owner]) * row
            letters[to] = h
            for word in range(words):
                letters[to + 1 + word] = out[at + word]
            sent[owner] += 1
            full = full or sent[owner] + most > room
        index += 1
    counters[SETTLED] = np.int64(settled)
    return index


@njit(nogil=True, cache=True)
def insert_in(
    words, judge, states, count, table, first, size, letters, begin, number, opened, wanted
):
    """Second half: an owner inserts one sender's letters; returns its count and what settled."""
    mask = np.uint64(size - 1)
    row = words + 1
    settled = np.uint64(0)
    base = states.ctypes.data
    for letter in range(number):
        at = (begin + letter) * row
        h = letters[at]
        slot, entry = lookup(words, letters, at + 1, h, states, table, first, mask)
        if entry != 0:
            continue
        for word in range(words):
            states[count * words + word] = letters[at + 1 + word]
        if opened != 0:
            truth = np.uint64(_call_1(judge, (base + count * words * 8,)))
            settled |= ~(truth ^ wanted) & opened
        count += 1
        table[slot] = ((h >> HALF) << HALF) | np.uint64(count)
    return count, settled


# -- looking back: which states lie on a shortest way to what settled a claim ---------------------


@njit(nogil=True, cache=True)
def judge_all(words, judge, states, begin, end, marks, asked, wanted):
    """Marks, in the states begin..end, the claims of `asked` that each settles."""
    base = states.ctypes.data
    for index in range(begin, end):
        truth = np.uint64(_call_1(judge, (base + index * words * 8,)))
        marks[index] |= ~(truth ^ wanted) & asked


@njit(nogil=True, cache=True)
def judge_steps(
    words, expand, judge_step, states, begin, end, marks, asked, fired, refused, pruned, out
):
    """Marks, in the states begin..end, the claims of `asked` that a step from each breaks."""
    base, target = states.ctypes.data, out.ctypes.data
    tallies = (fired.ctypes.data, refused.ctypes.data, pruned.ctypes.data)
    for index in range(begin, end):
        state = base + index * words * 8
        found = _call_5(expand, (state, target, tallies[0], tallies[1], tallies[2]))
        for number in range(found):
            truth = np.uint64(_call_2(judge_step, (state, target + number * words * 8)))
            marks[index] |= ~truth & asked


@njit(nogil=True, cache=True)
def mark_dead_ends(
    words, expand, states, begin, end, marks, mark, fired, refused, pruned, out
):  # fmt: skip
    """Marks the states of begin..end from which nothing is possible, within bounds or beyond."""
    last = pruned.size - 1
    tallies = (fired.ctypes.data, refused.ctypes.data, pruned.ctypes.data)
    for index in range(begin, end):
        cut = pruned[last]
        state = states.ctypes.data + index * words * 8
        found = _call_5(expand, (state, out.ctypes.data, tallies[0], tallies[1], tallies[2]))
        if found == 0 and pruned[last] == cut:
            marks[index] |= mark


@njit(nogil=True, cache=True)
def look_back(
    words, expand, canonical, states, begin, end, table, shards, size, marks, below,
    fired, refused, pruned, out,
):  # fmt: skip
    """Marks states begin..end with the marks of their successors in the next level.

    `below` has the begin and the end of the next level in every shard.
    """
    mask = np.uint64(size - 1)
    base, target = states.ctypes.data, out.ctypes.data
    tallies = (fired.ctypes.data, refused.ctypes.data, pruned.ctypes.data)
    for index in range(begin, end):
        state = base + index * words * 8
        found = _call_5(expand, (state, target, tallies[0], tallies[1], tallies[2]))
        for number in range(found):
            at = number * words
            if canonical != 0:
                _call_1(canonical, (target + at * 8,))
            h = hash_of(words, out, at)
            owner = owner_of(h, shards)
            _, entry = lookup(words, out, at, h, states, table, owner * size, mask)
            if entry == 0:
                continue
            successor = np.int64(entry & LOWER) - 1
            if below[owner, 0] <= successor < below[owner, 1]:
                marks[index] |= marks[successor]


@njit(nogil=True, cache=True)
def index_of(words, canonical, state, states, table, shards, size):
    """The index of one state, made canonical in place; -1 if it was never reached."""
    if canonical != 0:
        _call_1(canonical, (state.ctypes.data,))
    h = hash_of(words, state, 0)
    first = owner_of(h, shards) * size
    _, entry = lookup(words, state, 0, h, states, table, first, np.uint64(size - 1))
    return np.int64(entry & LOWER) - 1


@njit(nogil=True, cache=True)
def make_canonical(words, canonical, states, begin, end):
    """Replaces states begin..end by the least of their orbits."""
    base = states.ctypes.data
    for index in range(begin, end):
        _call_1(canonical, (base + index * words * 8,))


@njit(nogil=True, cache=True)
def count_values(words, states, begin, end, word, shift, mask, into):
    """Adds to `into[v]` how many of the states begin..end hold v in the given bits."""
    for index in range(begin, end):
        value = (states[index * words + word] >> shift) & mask
        into[np.int64(value)] += 1

"""Inner loops of the backward search for states on a shortest path.

The arguments are those of the loops in `driver`; `marks` has a word of bits for every state.
"""

# numba types these functions by what they are given.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc"

from __future__ import annotations

import numpy as np
from numba import njit

from specs.native.calls import call_judge, call_judge_step
from specs.native.driver import (
    JUDGE,
    JUDGE_STEP,
    LANES,
    expand_block,
    expand_some,
    make_canonical,
)
from specs.native.table import LOWER, hash_all, lookup, owner_of


@njit(nogil=True, cache=True)
def judge_all(words, code, states, begin, end, marks, asked, wanted):
    """Marks, in the states begin..end, the claims of `asked` that each settles."""
    truths = np.empty(code[LANES], np.uint64)
    for index in range(begin, end, code[LANES]):
        call_judge(code[JUDGE], (states.ctypes.data + index * words * 8, truths.ctypes.data))
        for lane in range(min(code[LANES], end - index)):
            marks[index + lane] |= ~(truths[lane] ^ wanted) & asked


@njit(nogil=True, cache=True)
def judge_steps(words, code, states, begin, end, marks, asked, tallies, out):
    """Marks, in the states begin..end, the claims of `asked` that a step from each breaks."""
    after, index, found = np.empty(words, np.uint64), begin, 0
    while index < end and found >= 0:
        index, found = expand_block(words, code, states, index, end, tallies, out)
        for number in range(found):
            for word in range(words):
                after[word] = out[word, number]
            origin = np.int64(out[words, number])
            state = states.ctypes.data + origin * words * 8
            truth = np.uint64(call_judge_step(code[JUDGE_STEP], (state, after.ctypes.data)))
            marks[origin] |= ~truth & asked


@njit(nogil=True, cache=True)
def mark_dead_ends(words, code, states, begin, end, marks, mark, tallies, out):
    """Marks the states of begin..end from which nothing is possible, within bounds or beyond."""
    dead = tallies[2]
    for index in range(begin, end):
        before = dead[dead.size - 1]
        expand_some(words, code, states, index, 1, 0, tallies, out)
        if dead[dead.size - 1] != before:
            marks[index] |= mark


@njit(nogil=True, cache=True)
def look_back(
    words, code, states, begin, end, table, shards, size, marks, below, tallies, out, hashes
):  # fmt: skip
    """Marks states begin..end with the marks of their successors in the next level.

    `below` has the begin and the end of the next level in every shard.
    """
    mask, flat, step = np.uint64(size - 1), out.ravel(), out.shape[1]
    index, found = begin, 0
    while index < end and found >= 0:
        index, found = expand_block(words, code, states, index, end, tallies, out)
        make_canonical(code, out, found)
        hash_all(words, out, found, hashes)
        for number in range(found):
            h = hashes[number]
            owner = owner_of(h, shards)
            _, entry = lookup(words, flat, number, step, h, states, table, owner * size, mask)
            if entry == 0:
                continue
            successor = np.int64(entry & LOWER) - 1
            if below[owner, 0] <= successor < below[owner, 1]:
                marks[np.int64(out[words, number])] |= marks[successor]

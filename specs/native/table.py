"""One shard of the visited states, and the exact hash table over it.

States lie in `states`, `words` 64-bit words each, one region of the array for each shard, in the
order in which they were found. `table` is open addressing over them, one part of equal size for
each shard: an entry is 0 (empty) or `tag << 32 | index + 1`, the tag being the upper half of the
state's hash. A state counts as seen only when all of its words are equal: the table is exact,
whatever the hash does.

Nearly every look-up misses the CPU cache twice, in the table and in the states. Both are therefore
prefetched; a wrong prefetch does not change any answer.
"""

# numba types these functions by what they are given.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc,call-arg"

from __future__ import annotations

import numpy as np
from numba import njit

from specs.native.calls import prefetch
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

AHEAD = 12
"""Look-ups between asking for a state and comparing it, and as many before for the entry."""


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


@njit(nogil=True, cache=True)
def hash_all(words, out, number, hashes):
    """The same of the first states in the planes of `out`, plane by plane."""
    for n in range(number):
        hashes[n] = out[0, n] * MIX_1
    for word in range(1, words):
        for n in range(number):
            h = hashes[n]
            hashes[n] = ((h ^ (h >> np.uint64(29))) + out[word, n]) * MIX_2
    for n in range(number):
        h = hashes[n]
        h = (h ^ (h >> HALF)) * MIX_3
        hashes[n] = h ^ (h >> np.uint64(29))


@njit(nogil=True, cache=True, inline="always")
def owner_of(h, shards):
    """The shard that a state belongs to, from the upper half of its hash."""
    return np.int64(((h >> HALF) * np.uint64(shards)) >> HALF)


@njit(nogil=True, cache=True, inline="always")
def same(words, one, i, step, other, j):
    """Are two states equal, word by word? The words of `one` are `step` places apart."""
    for word in range(words):  # noqa: SIM110  (numba compiles loops, not generators)
        if one[i + word * step] != other[j + word]:
            return False
    return True


@njit(nogil=True, cache=True, inline="always")
def lookup(words, source, at, step, h, states, table, first, mask):
    """(slot, entry) of a state in the part of the table at `first`; entry 0: not there, put it."""
    tag = h >> HALF
    slot = h & mask
    entry = table[first + np.int64(slot)]
    while entry != 0:
        index = np.int64(entry & LOWER) - 1
        if entry >> HALF == tag and same(words, source, at, step, states, index * words):
            break
        slot = (slot + ONE) & mask
        entry = table[first + np.int64(slot)]
    return first + np.int64(slot), entry


@njit(nogil=True, cache=True, inline="always")
def ask_for_entry(h, table, first, mask):
    """The line of the table where the look-up of a hash begins."""
    prefetch(table.ctypes.data + (first + np.int64(h & mask)) * 8)


@njit(nogil=True, cache=True, inline="always")
def ask_for_state(words, h, states, table, first, mask):
    """The line of the state that this look-up is likely to compare with."""
    entry = table[first + np.int64(h & mask)]
    if entry != 0:
        prefetch(states.ctypes.data + (np.int64(entry & LOWER) - 1) * words * 8)


@njit(nogil=True, cache=True)
def insert_all(words, states, begin, end, table, first, size):
    """Fills a part of a table with states begin..end, known to differ: after growth or a load."""
    mask = np.uint64(size - 1)
    for index in range(begin, end):
        ahead = index + AHEAD
        if ahead < end:
            ask_for_entry(hash_of(words, states, ahead * words), table, first, mask)
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


@njit(nogil=True, cache=True)
def count_values(words, states, begin, end, word, shift, mask, into):
    """Adds to `into[v]` how many of the states begin..end hold v in the given bits."""
    for index in range(begin, end):
        value = (states[index * words + word] >> shift) & mask
        into[np.int64(value)] += 1

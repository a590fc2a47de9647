"""Inner loops on graphs: the states where a condition is false, and their components.

States are numbered without gaps, shard after shard (`offsets`), whatever space the shards reserved.
The exploration stores no steps, so states are expanded again and their successors looked up.
"""

# numba types these functions by what they are given.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc"

from __future__ import annotations

import numpy as np
from numba import njit

from specs.native.calls import call_judge, call_possible
from specs.native.driver import JUDGE, LANES, expand_some
from specs.native.table import LOWER, ask_for_entry, hash_all, lookup, owner_of

NOT_FAIR = np.uint16(0xFFFF)
"""The label of a step that nothing says about."""

NOWHERE = np.int32(-1)
"""The component of a state where the condition is true."""


@njit(nogil=True, cache=True)
def true_states(words, code, states, begin, end, bit, into, first):
    """Writes to `into[first:]` whether the condition of a bit is true in the states begin..end."""
    truths = np.empty(code[LANES], np.uint64)
    for index in range(begin, end, code[LANES]):
        call_judge(code[JUDGE], (states.ctypes.data + index * words * 8, truths.ctypes.data))
        for lane in range(min(code[LANES], end - index)):
            into[first + index + lane - begin] = truths[lane] & bit != 0


@njit(nogil=True, cache=True)
def steps_between(
    words, code, states, begin, end, first, table, shards, size, region, offsets,
    true, order, label_of, starts, targets, labels, taken, step, tallies, out,
):  # fmt: skip
    """Adds the steps between states in which the condition is false, from the states begin..end.

    `order` has the instances in the order in which `expand` tries them, all states of a call at
    each; together with how often each fired it says which made which successor. `taken` gets, by
    state, a bit for each fair instance that has a step, wherever it leads. Returns how many steps
    there are now, or -1 if a successor was never visited.
    """
    fired, mask, flat, row = tallies[0], np.uint64(size - 1), out.ravel(), out.shape[1]
    hashes = np.empty(row, np.uint64)
    label, owner = np.empty(row, np.uint16), np.empty(row, np.int64)
    for index in range(begin, end, code[LANES]):
        v = first + index - begin
        number = min(end - index, code[LANES])
        if true[v : v + number].all():
            starts[v : v + number] = step
            continue
        found = expand_some(words, code, states, index, number, 0, tallies, out)
        hash_all(words, out, found, hashes)
        position = 0
        for one in range(found):
            while fired[order[position]] == 0:
                position += 1
            label[one] = label_of[order[position]]
            fired[order[position]] -= 1
            owner[one] = owner_of(hashes[one], shards)
            ask_for_entry(hashes[one], table, owner[one] * size, mask)
        for lane in range(number):
            starts[v + lane] = step
            if true[v + lane]:
                continue
            for one in range(found):
                if np.int64(out[words, one]) != index + lane:
                    continue
                h, who = hashes[one], owner[one]
                _, entry = lookup(words, flat, one, row, h, states, table, who * size, mask)
                if entry == 0:
                    return -1
                if label[one] != NOT_FAIR:
                    taken[v + lane, label[one] // 64] |= np.uint64(1) << np.uint64(label[one] % 64)
                w = np.int64(entry & LOWER) - 1 - who * region + offsets[who]
                if not true[w]:
                    targets[step] = w
                    labels[step] = label[one]
                    step += 1
    return step


@njit(nogil=True, cache=True)
def components(true, starts, targets, component):
    """Tarjan's algorithm without recursion; fills `component` and returns how many there are."""
    count = true.size
    number = np.zeros(count, np.int32)  # 0: not seen yet
    low = np.zeros(count, np.int32)
    waiting = np.empty(count, np.int32)  # seen, and in no finished component
    path = np.empty(count, np.int32)
    next_step = np.empty(count, np.int64)  # of the states on the path
    seen, waits, made = 0, 0, 0
    for root in range(count):
        component[root] = NOWHERE
    for root in range(count):
        if true[root] or number[root]:
            continue
        depth = 0
        path[0] = root
        while depth >= 0:
            v = path[depth]
            if number[v] == 0:
                seen += 1
                number[v], low[v] = seen, seen
                waiting[waits] = v
                waits += 1
                next_step[depth] = starts[v]
            if next_step[depth] < starts[v + 1]:
                w = targets[next_step[depth]]
                next_step[depth] += 1
                if number[w] == 0:
                    depth += 1
                    path[depth] = w
                elif component[w] == NOWHERE:
                    low[v] = min(low[v], number[w])
                continue
            if low[v] == number[v]:
                member = np.int32(-1)
                while member != v:
                    waits -= 1
                    member = waiting[waits]
                    component[member] = made
                made += 1
            depth -= 1
            if depth >= 0:
                low[path[depth]] = min(low[path[depth]], low[v])
    return made


@njit(nogil=True, cache=True)
def evidence(
    words, possible, states, begin, end, first, true, component, starts, targets, labels, taken,
    impossible_or_taken, without_a_step, bits,
):  # fmt: skip
    """By component, the fair instances (a bit each) that are impossible somewhere, or taken.

    `without_a_step` also has those that are possible somewhere and lead beyond a bound.
    """
    for index in range(begin, end):
        v = first + index - begin
        if true[v]:
            continue
        c = component[v]
        call_possible(possible, (states.ctypes.data + index * words * 8, bits.ctypes.data))
        for word in range(bits.size):
            impossible_or_taken[c, word] |= ~bits[word]
            without_a_step[c, word] |= ~bits[word] | ~taken[v, word]
        for step in range(starts[v], starts[v + 1]):
            if labels[step] != NOT_FAIR and component[targets[step]] == c:
                word, bit = labels[step] // 64, np.uint64(1) << np.uint64(labels[step] % 64)
                impossible_or_taken[c, word] |= bit
                without_a_step[c, word] |= bit

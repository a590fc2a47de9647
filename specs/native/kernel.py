"""The machine code of one system: lowered, packed and compiled."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from model.language import ProtocolError
from model.language.symmetry import why_not_symmetric
from specs.exploration import settling_truths
from specs.lowering.constant_cells import ConstantCells
from specs.lowering.grounding import Grounded
from specs.lowering.llvm_terms import LANES
from specs.lowering.native_code import BLOCK, NativeCode
from specs.lowering.packing import Packing
from specs.lowering.symmetry import (
    MOST_BROKERS,
    canonical_text,
    permutations,
    renamed_codes,
)
from specs.native.jit import LEVEL, MachineCode, build
from specs.native.store import Words

MOST_CLAIMS = 63
"""A bit each; the last is for dead ends."""

DEAD_END = np.uint64(1 << 63)

Tallies = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.int64]]
"""Fired by instance, refused by reason, pruned by bound and, last, states that have no step."""


@dataclass
class Kernel:
    """The code of one grounded system. `canonical` is 0 where symmetry is off."""

    grounded: Grounded
    packing: Packing
    code: NativeCode
    machine: MachineCode
    symmetry: bool
    text: str = field(repr=False)
    cache: Path | None = None

    @property
    def words(self) -> int:
        """64-bit words a state."""
        return self.packing.words

    @property
    def most(self) -> int:
        """The most successors that one state can have."""
        return max(self.code.most_successors, 1)

    @property
    def addresses(self) -> tuple[int, int, int, int, int, int]:
        """The arguments of the loops for a system, in order: its code addresses and sizes."""
        at = self.machine.addresses
        return (at["expand"], at["judge"], at["judge_step"], self.canonical, LANES, BLOCK)

    @property
    def possible(self) -> int:
        """Address of `possible`."""
        return self.machine.addresses["possible"]

    @property
    def canonical(self) -> int:
        """Address of `canonical`, or 0."""
        return self.machine.addresses.get("canonical", 0)

    def has_best_code(self) -> bool:
        """False if the code was made at once, which runs slower."""
        return self.machine.level == LEVEL

    def compile_best(self) -> None:
        """Replaces code that was made at once. No loop may be running in it."""
        self.machine = build(self.text, tuple(self.machine.addresses), self.cache)

    def planes(self) -> Words:
        """Room for a block of successors, and for the numbers of the states they come from."""
        return np.zeros((self.words + 1, self.code.row), np.uint64)

    def tallies(self) -> Tallies:
        """Empty counts of fired, refused and pruned."""
        return (
            np.zeros(len(self.grounded.instances), np.int64),
            np.zeros(len(self.grounded.reasons), np.uint8),
            np.zeros(len(self.code.bounds) + 1, np.int64),
        )

    @property
    def wanted(self) -> np.uint64:
        """By bit of `judge`: the truth that settles the claim."""
        truths = settling_truths(self.grounded)
        return np.uint64(sum(1 << bit for bit, name in enumerate(self.code.claims)
                             if truths.get(name)))  # fmt: skip

    def bits(self, names: set[str]) -> np.uint64:
        """The bits of some claims."""
        return np.uint64(
            sum(1 << bit for bit, name in enumerate(self.code.claims) if name in names)
        )

    def packed(self, codes: tuple[int, ...]) -> Words:
        """A state as an array of words."""
        return np.array(self.packing.pack(codes), np.uint64)


def kernel_of(
    grounded: Grounded, symmetry: bool = False, cache: Path | None = None, at_once: bool = True
) -> Kernel:
    """Lowers and compiles a system; `at_once` as in `build`.

    Raises TooWide, or ProtocolError where symmetry is unsound.
    """
    if len(grounded.claims) > MOST_CLAIMS:
        raise ProtocolError(
            f"{len(grounded.claims)} claims at once, and {MOST_CLAIMS} are the most: "
            "choose some with --claim"
        )
    if symmetry:
        _require_symmetry(grounded)
    frozen = ConstantCells(grounded)
    packing = Packing(grounded, frozen.values)
    code = NativeCode(grounded, frozen, packing)
    text = code.text
    functions: tuple[str, ...] = ("expand", "judge", "judge_step", "possible")
    if symmetry:
        text = f"{text}\n{canonical_text(packing)}"
        functions = (*functions, "canonical")
    machine = build(text, functions, cache, at_once)
    return Kernel(grounded, packing, code, machine, symmetry, text, cache)


def _require_symmetry(grounded: Grounded) -> None:
    recorded = grounded.recorded
    why = why_not_symmetric(recorded, list(grounded.claims))
    brokers = grounded.bounds.get("brokers", 0)
    if why is None and brokers > MOST_BROKERS:
        why = f"{brokers} brokers have too many orders; {MOST_BROKERS} are the most"
    if why is None and any(
        renamed_codes(grounded, grounded.initial, names) != grounded.initial
        for names in permutations(grounded)
    ):
        why = "the initial state tells brokers apart"
    if why is not None:
        raise ProtocolError(
            f"{recorded.system.name} {recorded.version} is not symmetric over brokers: {why}; "
            "leave --symmetry out"
        )

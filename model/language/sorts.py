"""Sorts: the values of fields, and the ranges of indices.

A sort is declared once and instantiated three ways:

* *enumerated*, with concrete bounds, for exploration (`Sort.domain(bounds)` gives the range);
* *unbounded*, for Z3 (brokers uninterpreted, numbers are mathematical integers);
* *64-bit*, for traces of real clusters (`model.language.evaluate` on sparse states).

Bounds are given separately from the system: a `Bounded` end names its bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from model.language.errors import ProtocolError


@dataclass(frozen=True)
class Bounded:
    """The value of a named bound plus an offset, e.g. `Bounded("log", -1)`."""

    bound: str
    plus: int = 0

    def value(self, bounds: Mapping[str, int]) -> int:
        """The number under the given bounds."""
        return bounds[self.bound] + self.plus


@dataclass(frozen=True)
class Sort:
    """The common part: a name and a family; only values of one family can be compared."""

    name: str

    @property
    def family(self) -> str:
        """Values of different families are never equal and are refused in a comparison."""
        return self.name

    @property
    def unbounded(self) -> bool:
        """True if no bound limits the sort (`how_many` and `least` are refused over it)."""
        return False

    def domain(self, bounds: Mapping[str, int]) -> range:
        """The codes of the enumerated instance, as a range."""
        raise ProtocolError(f"sort {self.name} has no enumerated domain")

    def show(self, code: int) -> str:
        """The value as text, as it is shown to users."""
        return str(code)


@dataclass(frozen=True)
class Truth(Sort):
    """Bool: codes 0 and 1."""

    def domain(self, bounds: Mapping[str, int]) -> range:
        return range(2)

    def show(self, code: int) -> str:
        return "true" if code else "false"


@dataclass(frozen=True)
class Enumeration(Sort):
    """A finite scalarset such as brokers: values 1..n, and 0 is *none* where it is allowed.

    The number of values is the bound of the same name as the plural, e.g. `brokers`.
    """

    bound: str
    none_allowed: bool = False

    @property
    def or_none(self) -> Enumeration:
        """The same values, or none."""
        return replace(self, none_allowed=True)

    def domain(self, bounds: Mapping[str, int]) -> range:
        return range(0 if self.none_allowed else 1, bounds[self.bound] + 1)

    def show(self, code: int) -> str:
        return str(code) if code else "none"


@dataclass(frozen=True)
class Names(Sort):
    """A fixed list of named values, e.g. the roles of a replica; the first is the initial one."""

    values: tuple[str, ...]

    def domain(self, bounds: Mapping[str, int]) -> range:
        return range(len(self.values))

    def show(self, code: int) -> str:
        return self.values[code]

    def code(self, value: str) -> int:
        """The code of a named value; an unknown one is refused with the right names."""
        if value not in self.values:
            raise ProtocolError(
                f"{value!r} is not one of the {self.name} values: "
                f"write one of {', '.join(self.values)}"
            )
        return self.values.index(value)


@dataclass(frozen=True)
class Numbers(Sort):
    """Integers from `low` to `high`; `high` is a number, a bound, or nothing at all.

    `beyond` says what a value above `high` means: `"prune"`: the instance ends here, the
    successor is left out and counted; `"raise"`: such a value is structurally impossible.
    A value below `low` is always impossible. With `none_allowed`, none is the code `low - 1`.
    """

    low: int = 0
    high: int | Bounded | None = None
    none_allowed: bool = False
    beyond: str = "prune"

    @property
    def family(self) -> str:
        return "number"

    @property
    def unbounded(self) -> bool:
        return self.high is None

    @property
    def or_none(self) -> Numbers:
        """The same numbers, or none (which is below all of them)."""
        return replace(self, none_allowed=True)

    @property
    def none_code(self) -> int:
        """The integer that stands for none."""
        return self.low - 1

    @property
    def bottom(self) -> int:
        """The least code."""
        return self.low - 1 if self.none_allowed else self.low

    def top(self, bounds: Mapping[str, int]) -> int:
        """The greatest code under the given bounds."""
        if self.high is None:
            raise ProtocolError(
                f"sort {self.name} has no upper bound: give it one (Bounded) to enumerate it"
            )
        return self.high if isinstance(self.high, int) else self.high.value(bounds)

    def domain(self, bounds: Mapping[str, int]) -> range:
        return range(self.bottom, self.top(bounds) + 1)

    def show(self, code: int) -> str:
        return "none" if self.none_allowed and code == self.none_code else str(code)


BOOL = Truth("bool")
INTEGER = Numbers("integer", low=0, high=None)
"""The sort of arithmetic results; never stored in a field."""

"""The notation: one protocol text, recorded over hash-consed terms; `specs/lowering` runs it.

A protocol author needs only what this package exports; see `model/classic` for a first example.
"""

from model.language.errors import ImpossibleValue, ProtocolError
from model.language.focus import focus, focused
from model.language.functions import (
    all_of,
    any_of,
    below,
    every,
    how_many,
    implies,
    is_none,
    larger,
    least,
    limit,
    literal,
    not_,
    smaller,
    some,
    those,
    when,
)
from model.language.properties import (
    Claim,
    always,
    always_eventually,
    always_step,
    eventually,
    sometimes,
)
from model.language.recording import (
    CLIENTS,
    CONTROLLER,
    NOBODY,
    Transition,
    require,
    transition,
    version,
)
from model.language.scalars import BLANK
from model.language.schema import LogOf, Record, Relation, SetOf, budget, ghost, per
from model.language.sets import ALL
from model.language.sorts import BOOL, Bounded, Enumeration, Names, Numbers, Sort
from model.language.system import Bound, IncompatibleSwitches, RecordedSystem, System, Version
from model.language.values import lam

__all__ = [
    "ALL",
    "BLANK",
    "BOOL",
    "CLIENTS",
    "CONTROLLER",
    "NOBODY",
    "Bound",
    "Bounded",
    "Claim",
    "IncompatibleSwitches",
    "Enumeration",
    "ImpossibleValue",
    "LogOf",
    "Names",
    "Numbers",
    "ProtocolError",
    "Record",
    "RecordedSystem",
    "Relation",
    "SetOf",
    "Sort",
    "System",
    "Transition",
    "Version",
    "all_of",
    "always",
    "always_eventually",
    "always_step",
    "any_of",
    "below",
    "budget",
    "eventually",
    "every",
    "focus",
    "focused",
    "ghost",
    "how_many",
    "implies",
    "is_none",
    "lam",
    "larger",
    "least",
    "limit",
    "literal",
    "not_",
    "per",
    "require",
    "smaller",
    "some",
    "sometimes",
    "those",
    "transition",
    "version",
    "when",
]

"""Maps from the implementation to the model, as data, one file per system.

One step of the implementation is one step of the model. Every exception is a row with its reason.
"""

from importlib import import_module

from conformance.mapping.replication import (
    AS_RELEASED,
    MAP,
    ROWS,
    STEPS_OF,
    UNOBSERVED,
    abstract,
    section_facts,
)
from conformance.mapping.rows import (
    Facts,
    FactTable,
    StepRow,
    SystemMap,
    implementation_arguments,
    model_arguments,
)

MAPPED = ("cluster", "election", "reassignment", "replication", "topics")
"""The systems of the model that the implementation is mapped to, each in a file of its name."""


def map_of(system: str) -> SystemMap:
    """The map of a system. KeyError for a system that has none."""
    if system not in MAPPED:
        raise KeyError(f"no map of {system}; there are {', '.join(MAPPED)}")
    found: SystemMap = import_module(f"conformance.mapping.{system}").MAP
    return found


__all__ = [
    "AS_RELEASED",
    "MAP",
    "MAPPED",
    "ROWS",
    "STEPS_OF",
    "UNOBSERVED",
    "FactTable",
    "Facts",
    "StepRow",
    "SystemMap",
    "abstract",
    "implementation_arguments",
    "map_of",
    "model_arguments",
    "section_facts",
]

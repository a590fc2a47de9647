"""The zoo: 48 historic bugs and limits of Kafka's ZooKeeper era, as data.

An entry is either shown by a system (a preset with switches thrown back, bounds, and the claim
that breaks) or says what it lacks. Nothing here is a stored run: `insync zoo` finds each anew.
"""

from model.language import ProtocolError
from model.language.errors import unknown_name
from model.zoo import fencing, isr, moves, topics, truncation
from model.zoo.entry import Entry, Expression

ZOO: tuple[Entry, ...] = tuple(
    sorted(
        (one for part in (truncation, fencing, isr, moves, topics) for one in part.ENTRIES),
        key=lambda one: one.number,
    )
)


def entry(name: str) -> Entry:
    """An entry by number, id, or a JIRA or KIP behind it; else refused with the nearest."""
    for one in ZOO:
        if name.lower() in one.names:
            return one
    known = [one.id for one in ZOO] + [source for one in ZOO for source in one.sources]
    raise ProtocolError(unknown_name("entry of the zoo", name, known))


__all__ = ["ZOO", "Entry", "Expression", "entry"]

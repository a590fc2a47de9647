"""51 historic bugs and limits of Kafka's ZooKeeper era, as data.

A system shows an entry (a preset with reverted switches, bounds, and the claim that breaks), or the
entry says what is missing. No runs are stored: `insync bugs` finds each run again.
"""

from difflib import get_close_matches

from model.bugs import fencing, further, isr, moves, topics, truncation
from model.bugs.entry import HistoricBug, Reproduction
from model.language import ProtocolError

PARTS = (truncation, fencing, isr, moves, topics, further)

HISTORIC_BUGS: tuple[HistoricBug, ...] = tuple(
    sorted((one for part in PARTS for one in part.ENTRIES), key=lambda one: one.number)
)


def entry(name: str) -> HistoricBug:
    """An entry by number, id, or a JIRA or KIP behind it; else refused with the nearest."""
    for one in HISTORIC_BUGS:
        if name.lower() in one.names:
            return one
    known = {known.lower(): known for one in HISTORIC_BUGS for known in (one.id, *one.sources)}
    near = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    hint = f"did you mean {known[near[0]]!r}? " if near else ""
    raise ProtocolError(
        f"unknown historic bug {name!r}: {hint}`insync bugs` lists them, 1 to {len(HISTORIC_BUGS)}"
    )


__all__ = ["HISTORIC_BUGS", "HistoricBug", "Reproduction", "entry"]

"""Flags of the published list of bugs, each with its switch and the switch's value here.

A flag names the guard that a bug lacks; a switch names a decision of the protocol, so that several
flags may be one switch. A flag's switches are those that its historic bug reverts. `BESIDE` has
flags that the published list has outside its table, and flags that share a line with another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from model.bugs import HISTORIC_BUGS
from model.bugs.entry import HistoricBug


@dataclass(frozen=True)
class PublishedFlag:
    """A flag of the list of bugs: its switches here with their values, or why it has none.

    `system` is where the switches are shown to matter; `entries` are the bugs that the flag is of.
    """

    name: str
    entries: tuple[str, ...]
    system: str | None
    settings: Mapping[str, object]
    excuse: str = ""


BESIDE: tuple[PublishedFlag, ...] = (
    PublishedFlag("unfenced_ofle", ("KIP-320",), "replication", {"fetch_fencing": False}),
    PublishedFlag(
        "hw_uses_optimistic_isr", ("KIP-497",), "replication",
        {"isr_adopted_when_written": False},
    ),
    # Its entry has no bounds within which a system shows it quickly; the switch is there.
    PublishedFlag(
        "skip_truncate_same_leader", ("KAFKA-7164",), "replication",
        {"truncates_again": "new_leader"},
    ),
    PublishedFlag("disk_swap", ("KIP-966",), "replication", {"disk_lost": "by_any"}),
    PublishedFlag(
        "lai_may_drop", ("KAFKA-2729",), None, {},
        "no switch: a request may always be lost, as often as the bound `losses` lets it",
    ),
    PublishedFlag(
        "preferred_ignores_isr", ("unclean-election",), None, {},
        "the preferred leader is chosen by a pure function; `replication` lets any live member of "
        "the ISR win, and who is outside it is unclean_leader_election",
    ),
    PublishedFlag(
        "no_isr_notification", (), None, {},
        "KAFKA-1367, about what clients are answered: needs UpdateMetadata to be claimed about",
    ),
)  # fmt: skip
"""Flags of the sheet's text, of a line that names two bugs, of an entry that is not shown."""


def bug_flags_of(entry: HistoricBug) -> tuple[str, ...]:
    """The flags of one entry: a line may name two that are reverted together, or two bugs.

    Entries that were added after the list have none.
    """
    if not entry.flag:
        return ()
    return tuple(re.split(r" [+/] ", entry.flag))


def _derived() -> dict[str, PublishedFlag]:
    found = {one.name: one for one in BESIDE}
    for name in dict.fromkeys(name for entry in HISTORIC_BUGS for name in bug_flags_of(entry)):
        if name in found:
            continue
        entries = [entry for entry in HISTORIC_BUGS if name in bug_flags_of(entry)]
        ids = tuple(entry.id for entry in entries)
        alone_first = sorted(entries, key=lambda entry: len(bug_flags_of(entry)))
        shown = next((entry.shown for entry in alone_first if entry.shown), None)
        if shown is None:
            found[name] = PublishedFlag(name, ids, None, {}, entries[0].excuse)
        else:
            # A design of `classic` is a version by itself, with nothing reverted.
            found[name] = PublishedFlag(
                name, ids, shown.system, shown.reverted or {"design": shown.base}
            )
    return found


FLAGS: dict[str, PublishedFlag] = _derived()
"""PublishedFlag of the sheet -> what it is here."""

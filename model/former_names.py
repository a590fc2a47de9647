"""Former names of steps, switches and fields: stories and command lines may still use them.

A story keeps the names of steps, switches and parts of the state; so does a command that was noted
down. Whoever renames one of these writes the old name here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

SWITCHES: Mapping[str, str] = {"leaving_leader_is_told": "leaving_leader_is_notified"}

STEPS: Mapping[str, str] = {
    "controller_is_still_in_office": "controller_is_still_active",
    "controller_welcomes_brokers": "controller_announces_new_brokers",
}

CLAIMS: Mapping[str, str] = {
    "controller_is_in_office": "registered_controller_is_active",
    "nobody_takes_the_office_over": "nobody_takes_over_the_controllership",
    "what_is_told_is_committed": "visible_records_are_committed",
    "told_high_watermark_never_falls": "sent_high_watermark_never_falls",
}

VALUES: Mapping[str, Mapping[str, str]] = {
    "cluster": {"burying": "offlining", "welcoming": "announcing_new"},
}
"""By system: what a part of the state may hold, as stories show it."""

FIELDS: Mapping[str, Mapping[str, str]] = {
    "cluster": {"untold": "failure_unreported"},
    "reassignment": {"told": "metadata_epoch"},
    "replication_history": {"office": "leader", "told_hw": "sent_hw", "told_from": "sent_from"},
    "topics": {"cache.told": "cache.fired"},
}
"""By system: a part of the state, without indices."""

FAMILIES: Mapping[str, Mapping[str, str]] = {"reassignment": {"office": "deposed"}}
"""By system: a part of its graph that `insync edges --family` walks."""


def switch_now(name: str) -> str:
    """The name of a switch, where it may be given by the one that it had."""
    return SWITCHES.get(name, name)


def step_now(name: str) -> str:
    """The name of a step likewise."""
    return STEPS.get(name, name)


def claim_now(name: str) -> str:
    """The name of a claim or a theorem likewise."""
    return CLAIMS.get(name, name)


def family_now(system: str, name: str) -> str:
    """The name of a part of a system's graph likewise."""
    return FAMILIES.get(system, {}).get(name, name)


def field_now(system: str, path: str) -> str:
    """The path of a field without indices likewise: `cache.told.topics` is `cache.fired.topics`."""
    for old, new in FIELDS.get(system, {}).items():
        if path == old or path.startswith(f"{old}."):
            return new + path[len(old) :]
    return path


def line_now(system: str, line: str) -> str:
    """A line of a story's output with the names of now: steps, claims, parts of the state."""
    for old, new in {**STEPS, **CLAIMS, **VALUES.get(system, {})}.items():
        line = re.sub(rf"\b{old}\b", new, line)
    for old, new in FIELDS.get(system, {}).items():
        *above, last = old.split(".")
        path = "".join(rf"{part}(?:\[[^\]]*\])*\." for part in above)
        # A field stands at the beginning of its line, or in what a refusal shows of the state.
        field = rf"((?:^\s*|\(|, ){path}){last}(?=[.:\[]| (?:\d|none|true|false|\{{))"
        line = re.sub(field, rf"\g<1>{new.rpartition('.')[2]}", line)
    return line

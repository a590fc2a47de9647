"""Kafka releases as presets of named switches; a historic bug is a preset with one thrown back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model.language import Version


@dataclass(frozen=True)
class Switch:
    """One decision that releases differ in.

    `values` are what it may be, the value before the fix first; `source` is the KIP or JIRA.
    """

    name: str
    values: tuple[object, ...]
    about: str
    source: str


SWITCHES: dict[str, Switch] = {
    switch.name: switch
    for switch in (
        Switch(
            "requests_fenced", (False, True),
            "a broker refuses requests of an older controller epoch", "since 0.8",
        ),
        Switch(
            "zk_writes_fenced", (False, True),
            "controller writes check the version of /controller_epoch", "KAFKA-6082 (2.1)",
        ),
        Switch(
            "broker_epoch", (False, True),
            "requests made for an earlier incarnation of a broker are refused", "KIP-380 (2.2)",
        ),
        Switch(
            "truncation", ("hw", "kip_101", "kip_279"),
            "where a new follower cuts its log", "KIP-101 (0.11), KIP-279 (2.0)",
        ),
        Switch(
            "fetch_fencing", (False, True),
            "requests between replicas carry the leader epoch and are fenced by it",
            "KIP-320 (2.1)",
        ),
        Switch(
            "isr_join_needs_epoch_start", (False, True),
            "a follower rejoins the ISR only beyond the start of the leader's epoch",
            "KAFKA-7128 (2.0)",
        ),
        Switch(
            "unclean_leader_election", (True, False),
            "a live replica outside the ISR may be elected when no ISR member lives",
            "default false since 0.11 (KIP-106)",
        ),
    )
}  # fmt: skip

RELEASES: dict[str, tuple[str, dict[str, object]]] = {
    "0.10": ("followers truncate to the high watermark", {
        "requests_fenced": True, "zk_writes_fenced": False, "broker_epoch": False,
        "truncation": "hw", "fetch_fencing": False, "isr_join_needs_epoch_start": False,
        "unclean_leader_election": True}),
    "0.11": ("leader epochs in the log (KIP-101)", {
        "requests_fenced": True, "zk_writes_fenced": False, "broker_epoch": False,
        "truncation": "kip_101", "fetch_fencing": False, "isr_join_needs_epoch_start": False,
        "unclean_leader_election": False}),
    "1.1": ("asynchronous controller", {
        "requests_fenced": True, "zk_writes_fenced": False, "broker_epoch": False,
        "truncation": "kip_101", "fetch_fencing": False, "isr_join_needs_epoch_start": False,
        "unclean_leader_election": False}),
    "2.0": ("truncation that survives fast elections (KIP-279)", {
        "requests_fenced": True, "zk_writes_fenced": False, "broker_epoch": False,
        "truncation": "kip_279", "fetch_fencing": False, "isr_join_needs_epoch_start": True,
        "unclean_leader_election": False}),
    "2.1": ("fenced fetches (KIP-320) and fenced controller writes", {
        "requests_fenced": True, "zk_writes_fenced": True, "broker_epoch": False,
        "truncation": "kip_279", "fetch_fencing": True, "isr_join_needs_epoch_start": True,
        "unclean_leader_election": False}),
    "2.3": ("the default: the last release with the twelve-step reassignment", {
        "requests_fenced": True, "zk_writes_fenced": True, "broker_epoch": True,
        "truncation": "kip_279", "fetch_fencing": True, "isr_join_needs_epoch_start": True,
        "unclean_leader_election": False}),
}  # fmt: skip


def presets(switches: Sequence[str]) -> dict[str, Version]:
    """The releases, reduced to the switches that a system has."""
    return {
        name: Version(name, {switch: values[switch] for switch in switches}, about)
        for name, (about, values) in RELEASES.items()
    }

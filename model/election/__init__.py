"""Controller election: sessions, the ephemeral /controller, the fenced epoch, and zombies.

Abstractions: one partition's state znode stands for all writes of a controller; the two reads of
checkControllerAndEpoch are one step; KIP-380 broker epochs appear as their effect (a request for an
earlier incarnation of a broker is never obeyed by a later one).
"""

from model.election.claims import CLAIMS
from model.election.controller import (
    broker_crashes,
    broker_learns_it_won,
    broker_loses_controller_election,
    broker_reads_epoch,
    broker_wins_election,
    controller_resigns_and_deletes_znode,
    controller_starts_write,
    write_is_applied,
    write_is_refused,
)
from model.election.requests import broker_handles_request, controller_sends_request
from model.election.state import STATE
from model.election.zookeeper import broker_connects, session_expires
from model.language import Bound, System
from model.versions import SWITCHES, presets, published


def initial(new):
    """No session, no controller; /controller_epoch is 0 at version 0."""


_SWITCHES = ("zk_writes_fenced", "requests_fenced", "broker_epoch")

SYSTEM = System(
    name="election",
    about="who is the controller, by epochs: ZooKeeper sessions, fenced writes, zombies",
    state=STATE,
    initial=initial,
    transitions=(
        broker_connects, session_expires,
        broker_reads_epoch, broker_wins_election, broker_learns_it_won,
        broker_loses_controller_election, controller_resigns_and_deletes_znode,
        broker_crashes, controller_starts_write, write_is_applied, write_is_refused,
        controller_sends_request, broker_handles_request),
    claims=CLAIMS,
    versions=presets(_SWITCHES),
    also=published(_SWITCHES),
    default_version="2.3",
    bounds={
        "brokers": Bound(2, 1, "brokers that may become controller"),
        "epoch": Bound(2, 1, "greatest controller epoch; the first controller has 1"),
        "writes": Bound(1, 1, "controller writes to the partition's state"),
    },
    switches={name: SWITCHES[name].about for name in _SWITCHES},
)

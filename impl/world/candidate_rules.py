"""When each step of a candidate may be taken: the first condition that does not hold, or None."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impl.znodes import paths
from impl.zookeeper import ConnectionLoss

if TYPE_CHECKING:
    from impl.world.candidates import Electorate

_SESSION = "the broker has a session"
ARRIVALS = {
    "request_arrives": "the broker knows no newer controller",
    "request_is_refused": "the broker knows a newer controller",
}
_IN_OFFICE = "the broker is in office"
_EXECUTED = "its registration was executed"


def connects(world: Electorate, broker: int) -> str | None:
    """A session is opened where there is none."""
    return "the broker has no session" if world.session_alive(broker) else None


def expires(world: Electorate, broker: int) -> str | None:
    """A session that is alive expires."""
    return None if world.session_alive(broker) else _SESSION


def crashes(world: Electorate, broker: int) -> str | None:
    """There is something to forget."""
    one = world.candidates[broker]
    knows = one.office or one.told or world.replicas[broker].controller_epoch
    return None if knows else "the broker has something to forget"


def stands(world: Electorate, broker: int) -> str | None:
    """It has a session, is not in office, and waits for nothing."""
    one = world.candidates[broker]
    if not world.session_alive(broker):
        return _SESSION
    if one.office is not None:
        return "the broker is not in office"
    return None if one.write is None else "it does not wait for a write"


def registration(world: Electorate, broker: int) -> str | None:
    """The registration was sent, over a session that is alive."""
    if len(world.candidates[broker].told) != 1:
        return "its registration is on its way"
    return None if world.session_alive(broker) else _SESSION


def _is_own(world: Electorate, broker: int) -> bool:
    node = world.zookeeper.nodes.get(paths.CONTROLLER)
    return node is not None and node.owner == world.candidates[broker].session


def loses(world: Electorate, broker: int) -> str | None:
    """The answer is on its way."""
    told = world.candidates[broker].told
    executed = len(told) == 2 and not isinstance(told[1], ConnectionLoss)
    return None if executed else _EXECUTED


def hears(world: Electorate, broker: int) -> str | None:
    """There is something to hear, and a win that is heard is one still."""
    if len(world.candidates[broker].told) != 2:
        return _EXECUTED
    if not world.session_alive(broker):
        return _SESSION
    return "what it hears is so still" if _is_late(world, broker) else None


def hears_late(world: Electorate, broker: int) -> str | None:
    """A win that is over is heard all the same."""
    if len(world.candidates[broker].told) != 2:
        return _EXECUTED
    return None if _is_late(world, broker) else "it won, and is not registered any more"


def _is_late(world: Electorate, broker: int) -> bool:
    outcome = world.candidates[broker].told[1]
    won = isinstance(outcome, tuple) and isinstance(outcome[1], int)
    return won and not _is_own(world, broker)


def resigns(world: Electorate, broker: int) -> str | None:
    """It is in office, and waits for nothing."""
    one = world.candidates[broker]
    if one.office is None:
        return _IN_OFFICE
    return None if one.write is None else "it does not wait for a write"


def executes(world: Electorate, broker: int) -> str | None:
    """A write is under way."""
    return None if world.candidates[broker].write else "a write of the broker is under way"


def sends(world: Electorate, broker: int) -> str | None:
    """It is in office and has not sent this."""
    office = world.candidates[broker].office
    if office is None:
        return _IN_OFFICE
    return "it has not sent this before" if (broker, office.epoch) in world.sent else None

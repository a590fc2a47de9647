"""Faults that tests plant in the code that serves, and Kafka's old bugs by name."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.mutants.planted import PLANTED
from impl.core.partition import Partition
from impl.znodes.client import ZnodeClient


def plant(monkeypatch: pytest.MonkeyPatch, entry: str) -> None:
    """An old bug, for one test: ``plant(monkeypatch, "KIP-101")``."""
    (one,) = [each for each in PLANTED if each.id == entry]
    for owner, name, replacement in one.parts:
        monkeypatch.setattr(owner, name, replacement)


def commits_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A leader's high watermark waits for nobody."""

    def reached(self: Partition[Any], now_ms: int) -> int:
        return self.log_end

    monkeypatch.setattr(Partition, "next_high_watermark", reached)


def takes_anybody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A leader takes a follower into the ISR however far it is."""

    def may_join(self: Partition[Any], replica: int, offset: int) -> bool:
        return replica not in self.maximal_isr and self.pending is None

    monkeypatch.setattr(Partition, "may_join", may_join)


def never_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that is instructed to lead does nothing."""

    def become_leader(self: Partition[Any], *_: Any) -> None:
        pass

    monkeypatch.setattr(Partition, "become_leader", become_leader)


def deletes_any_controller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who gives the controllership up deletes `/controller`, though it is another's by now."""

    async def deletes(self: ZnodeClient, version: int) -> None:
        if await self.port.exists("/controller") is not None:
            await self.port.delete("/controller")

    monkeypatch.setattr(ZnodeClient, "delete_controller", deletes)

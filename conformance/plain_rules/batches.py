"""What a controller gathers for brokers before it sends, and what becomes of that, as plain data.

`cluster` keeps each request apart and knows none that stop replicas; here is the whole of a round,
with what each release puts together. Where a release differs, `Habits` says so.

Source: ControllerBrokerRequestBatch (0.10 to 2.8).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

GOES, NO_EPOCH, EPOCH_OF_GOING = -2, -1, -2
"""The leader of a partition whose topic is to be deleted; leader epochs of StopReplica."""


class Leads(NamedTuple):
    """Who leads, in sync with whom, in which leader epoch and version of the znode."""

    leader: int
    isr: tuple[int, ...]
    epoch: int = 0
    version: int = 0
    new: bool = False


class ControllerSwitches(NamedTuple):
    """How a release sends.

    `empty_means_all`: UpdateMetadata for no partitions is about all of them (to 2.1).
    `one_stop`: one StopReplica a broker, with leader epochs (2.6).
    `two_stops`: those that delete, then those that do not (2.3). Before, one each; up to 1.0
    (`stops_together`) those that do not delete come in one, which is sent even if it is empty.
    """

    empty_means_all: bool
    one_stop: bool
    two_stops: bool
    stops_together: bool


class NotSent(Exception):
    """`IllegalStateException`: a round is begun while one is still to be sent."""


class Stop(NamedTuple):
    """One partition of a StopReplica."""

    deletes: bool
    epoch: int


class BatchRequest(NamedTuple):
    """A request to a broker: by partition, who leads, or how it stops."""

    kind: str
    broker: int
    leads: Mapping[str, Leads] = {}
    stops: Mapping[str, Stop] = {}


@dataclass
class Known:
    """What the controller knows: who is registered, who leads, which topics are to go."""

    registered: Collection[int]
    leadership: dict[str, Leads] = field(default_factory=dict)
    going: Collection[str] = ()


@dataclass
class PlainBatch:
    """A round that is being gathered."""

    known: Known
    switches: ControllerSwitches
    leads: dict[int, dict[str, Leads]] = field(default_factory=dict)
    metadata: dict[int, dict[str, Leads]] = field(default_factory=dict)
    stops: dict[int, dict[str, bool]] = field(default_factory=dict)

    def begin(self) -> None:
        """A new round, where nothing is left of another."""
        if self.leads or self.metadata or self.stops:
            raise NotSent

    def add_leads(self, brokers: Iterable[int], partition: str, leads: Leads) -> None:
        """Lead or follow; what is new stays new. Everybody's metadata tells of it."""
        self.known.leadership[partition] = leads
        for broker in _real(brokers):
            before = self.leads.setdefault(broker, {}).get(partition)
            new = leads.new or (before is not None and before.new)
            self.leads[broker][partition] = leads._replace(new=new)
        self.add_metadata(self.known.registered, [partition])

    def add_metadata(self, brokers: Iterable[int], partitions: Collection[str]) -> None:
        """Who leads these partitions, of those of which it is known."""
        known = self.known.leadership
        wanted = partitions or (list(known) if self.switches.empty_means_all else [])
        shown = {one: self._metadata_entry(one) for one in wanted if one in known}
        for broker in _real(brokers):
            self.metadata.setdefault(broker, {})
        for entry in self.metadata.values():
            entry.update(shown)  # every broker of a round is sent the same

    def _metadata_entry(self, partition: str) -> Leads:
        leads = self.known.leadership[partition]
        if _topic(partition) in self.known.going:
            return leads._replace(leader=GOES, epoch=0)
        return leads

    def add_stop(self, brokers: Iterable[int], partition: str, deletes: bool) -> None:
        """Follow no more; what is to be deleted once is deleted."""
        for broker in _real(brokers):
            stops = self.stops.setdefault(broker, {})
            stops[partition] = stops.get(partition, False) or deletes

    def sent(self) -> Iterator[BatchRequest]:
        """First who leads, then the metadata, then who stops; to those that are registered."""
        alive = self.known.registered
        for broker in sorted(one for one in self.leads if one in alive):
            yield BatchRequest("LeaderAndIsr", broker, self.leads[broker])
        for broker in sorted(one for one in self.metadata if one in alive):
            yield BatchRequest("UpdateMetadata", broker, self.metadata[broker])
        for broker in sorted(one for one in self.stops if one in alive):
            yield from self._stopped(broker, self.stops[broker])

    def _stopped(self, broker: int, stops: Mapping[str, bool]) -> Iterator[BatchRequest]:
        whole = {one: Stop(deletes, self._epoch(one)) for one, deletes in stops.items()}
        groups: list[dict[str, Stop]]
        if self.switches.one_stop:
            groups = [whole]
        elif self.switches.two_stops:
            groups = [{o: s for o, s in whole.items() if s.deletes is way} for way in (True, False)]
            groups = [one for one in groups if one]
        elif self.switches.stops_together:
            kept = {one: stop for one, stop in whole.items() if not stop.deletes}
            groups = [kept, *({one: stop} for one, stop in whole.items() if stop.deletes)]
        else:
            groups = [{}, *({one: stop} for one, stop in whole.items())]
        for group in groups:
            yield BatchRequest("StopReplica", broker, stops=group)

    def _epoch(self, partition: str) -> int:
        if _topic(partition) in self.known.going:
            return EPOCH_OF_GOING
        leads = self.known.leadership.get(partition)
        return NO_EPOCH if leads is None else leads.epoch


def _real(brokers: Iterable[int]) -> Iterator[int]:
    """Nobody (-1) is sent nothing."""
    return (broker for broker in brokers if broker >= 0)


def _topic(partition: str) -> str:
    return partition.rpartition("-")[0]

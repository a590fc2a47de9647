"""How a controller carries topics through their deletion, as plain data with plain rules.

`topics` takes the same in steps, for topics of few replicas; here a whole manager is asked.

Source: TopicDeletionManager (1.1 to 2.8).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

ONLINE, OFFLINE, STARTED = "OnlineReplica", "OfflineReplica", "ReplicaDeletionStarted"
DONE, INELIGIBLE = "ReplicaDeletionSuccessful", "ReplicaDeletionIneligible"
LED, OFFLINE_PARTITION, GONE = "OnlinePartition", "OfflinePartition", "NonExistentPartition"

Replica = tuple[str, int, int]
"""Topic, partition, broker."""


def resumption(states: Collection[str], ineligible: bool) -> str:
    """What is to be done for a topic that is queued, by the states of its replicas.

    Replicas that failed are taken up again, to go offline, of an ineligible topic too.
    """
    if all(state == DONE for state in states):
        return "completeDeletion"
    if STARTED in states:
        return "wait"
    if INELIGIBLE in states:
        return "retry"
    return "wait" if ineligible else "start"


@dataclass
class Deletions:
    """Topics with their replicas' states, and those that are to go.

    `dead_are_ineligible`: a replica on a dead broker is so at once (2.3). `leave_first`: partitions
    cease to exist when the deletion starts (2.1), not when it is complete. `rounds` counts what is
    asked of the state machines, `notified` has the partitions of which all brokers are notified.
    """

    live: set[int]
    dead_are_ineligible: bool
    leave_first: bool
    replicas: dict[Replica, str] = field(default_factory=dict)
    partitions: dict[tuple[str, int], str] = field(default_factory=dict)
    queued: set[str] = field(default_factory=set)
    started: set[str] = field(default_factory=set)
    ineligible: set[str] = field(default_factory=set)
    notified: set[tuple[str, int]] = field(default_factory=set)
    rounds: dict[str, int] = field(default_factory=dict)

    def of(self, topic: str) -> list[Replica]:
        """A topic's replicas."""
        return [one for one in self.replicas if one[0] == topic]

    def init(self, queued: Iterable[str], ineligible: Iterable[str]) -> None:
        """A new controller reads what is queued; of other topics nothing is ineligible."""
        self.queued |= set(queued)
        self.ineligible |= set(ineligible) & self.queued

    def enqueue(self, topics: Iterable[str]) -> None:
        """Topics are to go."""
        self.queued |= set(topics)
        self.resume()

    def resume_for(self, topics: Iterable[str]) -> None:
        """What halted these topics is over."""
        found = set(topics) & self.queued
        self.ineligible -= found
        if found:
            self.resume()

    def halt(self, topics: Iterable[str]) -> None:
        """Something halts these topics."""
        self.ineligible |= set(topics) & self.queued

    def ended(self, replicas: Iterable[Replica]) -> None:
        """Brokers have deleted these."""
        self._move([one for one in replicas if self.replicas[one] == STARTED], DONE)
        self.resume()

    def failed(self, replicas: Collection[Replica]) -> None:
        """Brokers could not delete these, or are dead."""
        going = [one for one in replicas if one[0] in self.queued]
        allowed = (STARTED, OFFLINE) if self.dead_are_ineligible else (STARTED,)
        self._move([one for one in going if self.replicas[one] in allowed], INELIGIBLE)
        self.halt({one[0] for one in going})
        if going:
            self.resume()

    def resume(self) -> None:
        """Every queued topic goes on as far as it can."""
        begin: list[str] = []
        for topic in sorted(self.queued):
            states = [self.replicas[one] for one in self.of(topic)]
            if resumption(states, False) == "completeDeletion":
                self._complete(topic)
                continue
            if STARTED not in states and INELIGIBLE in states:
                again = [one for one in self.of(topic) if self.replicas[one] == INELIGIBLE]
                self._move(again, OFFLINE)
            if STARTED not in states and topic not in self.ineligible:
                begin.append(topic)
        if begin:
            self._begin(begin)

    def _begin(self, topics: list[str]) -> None:
        fresh = [one for one in topics if one not in self.started]
        if self.leave_first and fresh:
            self._leave(fresh)
        self.started |= set(fresh)
        self.notified |= {place for place in self.partitions if place[0] in topics}
        left = [one for one in self.replicas if one[0] in topics and self.replicas[one] != DONE]
        dead = [one for one in left if one[2] not in self.live]
        living = [one for one in left if one not in dead]
        self._move(dead, INELIGIBLE if self.dead_are_ineligible else None)
        self._move(living, OFFLINE)
        self._move(living, STARTED)
        self.halt({one[0] for one in dead})

    def _leave(self, topics: Iterable[str]) -> None:
        for state in (OFFLINE_PARTITION, GONE):
            self._count("partition", state.removesuffix("Partition"))
            for place in self.partitions:
                if place[0] in topics:
                    self.partitions[place] = state

    def _complete(self, topic: str) -> None:
        for one in self.of(topic):
            del self.replicas[one]
        for place in [one for one in self.partitions if one[0] == topic]:
            del self.partitions[place]
        for names in (self.queued, self.started, self.ineligible):
            names.discard(topic)

    def _move(self, replicas: Iterable[Replica], state: str | None) -> None:
        """A batch of the replicas' machine, which skips all of it where the state is None."""
        target = state or INELIGIBLE
        self._count("replica", target.removesuffix("Replica").removeprefix("Replica"))
        for one in replicas:
            self.replicas[one] = state or self.replicas[one]

    def _count(self, machine: str, target: str) -> None:
        name = f"{machine}.{target}"
        self.rounds[name] = self.rounds.get(name, 0) + 1

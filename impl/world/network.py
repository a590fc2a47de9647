"""The network: requests in flight that may arrive in any order or not at all, as plain data."""

from __future__ import annotations

from impl.requests import AskedEpoch, AskedRecords, Fetch, LeaderAndIsrRequest

SavedNetwork = tuple[
    tuple[LeaderAndIsrRequest, ...], tuple[tuple[tuple[int, int], Fetch | None], ...]
]


class Network:
    """LeaderAndIsr requests by key, and one fetch slot for each (follower, leader).

    A slot holds what is on the connection: a question, its answer, or nothing (None).
    """

    def __init__(self, brokers: tuple[int, ...]) -> None:
        self.leader_and_isr: dict[tuple[int, int, int], LeaderAndIsrRequest] = {}
        self.fetch: dict[tuple[int, int], Fetch | None] = {
            (follower, leader): None
            for follower in brokers
            for leader in brokers
            if follower != leader
        }

    def send(self, request: LeaderAndIsrRequest) -> None:
        """Put a LeaderAndIsr request in flight; its key must be free."""
        assert request.key not in self.leader_and_isr, f"in flight already: {request}"
        self.leader_and_isr[request.key] = request

    def take(self, key: tuple[int, int, int]) -> LeaderAndIsrRequest:
        """Take a LeaderAndIsr request out of the network."""
        return self.leader_and_isr.pop(key)

    def discard_dead(self, target: int) -> None:
        """Drop the requests for a registration of the target that is over (KIP-380)."""
        for key in [key for key in self.leader_and_isr if key[0] == target]:
            del self.leader_and_isr[key]

    def disconnect(self, broker: int) -> None:
        """A process is gone: what it asked is moot, what it was asked gets no answer.

        An answer that it had sent before is still on its way.
        """
        for (follower, leader), slot in self.fetch.items():
            asked = isinstance(slot, AskedEpoch | AskedRecords)
            if follower == broker or (leader == broker and asked):
                self.fetch[follower, leader] = None

    def save(self) -> SavedNetwork:
        """Everything, as an immutable value."""
        requests = tuple(self.leader_and_isr[key] for key in sorted(self.leader_and_isr))
        return requests, tuple(self.fetch.items())

    def load(self, saved: SavedNetwork) -> None:
        """Become what was saved."""
        self.leader_and_isr = {request.key: request for request in saved[0]}
        self.fetch = dict(saved[1])

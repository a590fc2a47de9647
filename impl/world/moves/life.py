"""One partition that moves from its replicas to others, under controllers stepped write by write.

The controllers are those of a running broker (`steps`), the replicas a leader's partition and
a follower's fetcher over a log in memory (`replica`). UpdateMetadata arrives when it is sent;
LeaderAndIsr and StopReplica wait on their connection, one from each controller to each broker.
Source: fact sheet b.5, e, f.2, g, j.
"""

from __future__ import annotations

from collections.abc import Iterable

from impl.core.requests import LeaderAndIsr
from impl.world.moves.faults import MovesWithFaults
from impl.world.moves.held import KINDS
from impl.world.steps import Step, StepNotPossible


class MoveLife(MovesWithFaults):
    """Brokers 1..N, registered, and no topic; ``most`` replicas in a list.

    ``version`` is a release from 2.3 on; ValueError for an older one.
    """

    # Steps

    def enabled(self) -> list[Step]:
        """Every step that may be taken now, sorted by name and arguments."""
        return [step for step in self._candidates() if self.why_not(step) is None]

    def _candidates(self) -> Iterable[Step]:
        lists = [(*ids, *[0] * (3 - len(ids))) for ids in self.lists]
        for name in ("admin_asks_for_move", "topic_is_created"):
            yield from (Step(name, ids) for ids in lists)
        yield Step("admin_asks_for_unknown", ())
        yield Step("controller_node_is_deleted", ())
        for broker in self.brokers:
            if self.release.since("2.4"):
                yield from (Step("admin_asks_controller", (broker, *ids)) for ids in lists)
                yield Step("admin_cancels_move", (broker,))
            yield Step("broker_stands", (broker,))
            yield Step("controller_goes_on", (broker,))
            yield Step("controller_hears_of_isr", (broker,))
            yield Step("controller_hears_of_moves", (broker,))
            yield Step("controller_looks", (broker,))
            yield Step("controller_raise_is_unheard", (broker,))
            yield Step("controller_resigns", (broker,))
            yield Step("leader_reads_back", (broker,))
            for other in self.brokers:
                yield Step("controller_move_is_unheard", (broker, other))
                yield Step("controller_removal_is_unheard", (broker, other))
                yield Step("leader_expand_is_unheard", (broker, other))
                yield Step("leader_shrink_is_unheard", (broker, other))
                yield Step("controller_elects", (broker, other))
                yield Step("controller_takes_offline", (broker, other))
                yield Step("follower_catches_up", (broker, other))
                yield Step("leader_expands_isr", (broker, other))
                yield Step("leader_shrinks_isr", (broker, other))
            yield Step("leader_appends", (broker,))
        for (controller, broker), queue in sorted(self.connections.items()):
            if isinstance(queue[0].request, LeaderAndIsr):
                yield Step("order_arrives", (broker, queue[0].epoch, controller))
            yield Step("stop_arrives", (broker, controller))

    def why_not(self, step: Step) -> str | None:
        """The first condition of the step that does not hold, None if it may be taken."""
        refusal = getattr(self, f"_{step.name}_refusal", None)
        if refusal is None:
            return f"{step.name} is the name of a step"
        reason: str | None = refusal(*step.args)
        return reason

    def do(self, step: Step) -> None:
        """Take a step; StepNotPossible with the reason if it is not enabled."""
        reason = self.why_not(step)
        if reason is not None:
            raise StepNotPossible(step, reason)
        getattr(self, step.name)(*step.args)
        for broker, one in self.controllers.items():
            heard = {KINDS[event.path] for event in one.port.events() if event.path in KINDS}
            office = one.controller.active or one.unfinished is not None
            self.inbox[broker] = self.inbox[broker] | heard if office else frozenset()

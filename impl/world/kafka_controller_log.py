"""The lines of a controller (release 2.3): controller.log, and its part of state-change.log."""

from __future__ import annotations

from collections import Counter

from impl.releases import DEFAULT, Release
from impl.server.state_texts import order_sent
from impl.world.log4j import CONTROLLER, STATE_CHANGE, TOPIC_PARTITION, SampleLogFiles, join
from impl.world.network import PARTITION, OrderInFlight
from impl.znodes import LeaderIsrAndControllerEpoch
from impl.znodes.states import NO_LEADER


class SampleControllerLines(SampleLogFiles):
    """Turns what controllers do into lines; ``correlation`` numbers each one's requests."""

    def __init__(self, brokers: int, now_ms: int) -> None:
        super().__init__(brokers, now_ms)
        self._epoch: dict[int, int] = {}
        self._live: dict[int, dict[int, int]] = {}
        self._sent: Counter[int] = Counter()
        self.correlation: dict[OrderInFlight, int] = {}

    def controller_elected(self, broker: int, epoch: int, epoch_version: int) -> None:
        self._epoch[broker] = epoch
        self._live.pop(broker, None)
        self.controller(
            broker,
            f"{broker} successfully elected as the controller. Epoch incremented to {epoch} "
            f"and epoch zk version is now {epoch_version}",
        )
        for what in (
            "Registering handlers",
            "Deleting log dir event notifications",
            "Deleting isr change notifications",
            "Initializing controller context",
        ):
            self.controller(broker, what)

    def controller_lost_the_race(self, broker: int, winner: int) -> None:
        if winner == NO_LEADER:
            text = (
                "A controller has been elected but just resigned, this will result in another "
                "round of election"
            )
            self.controller(broker, text, "WARN")
            return
        text = f"Broker {winner} was elected as controller instead of broker {broker}"
        self.controller(broker, text, "DEBUG")

    def controller_resigned(self, broker: int, moved: bool) -> None:
        if moved:
            self.controller(
                broker, "Controller moved to another broker when processing BrokerChange."
            )
            self.lines[broker, CONTROLLER].append(
                "org.apache.kafka.common.errors.ControllerMovedException: "
                "Controller epoch zkVersion check fails."
            )
        self.controller(broker, "Resigning", "DEBUG")
        self.controller(broker, "Resigned")

    def controller_read_brokers(self, broker: int, live: dict[int, int]) -> None:
        before = self._live.get(broker)
        self._live[broker] = dict(live)
        if before is None:
            epoch = self._epoch[broker]
            self.controller(
                broker, f"Currently active brokers in the cluster: Set({join(live, ', ')})"
            )
            self.controller(broker, f"Ready to serve as the new controller with epoch {epoch}")
        elif before != live:
            added = [other for other in live if other not in before]
            gone = [other for other in before if other not in live]
            bounced = [other for other in live if before.get(other, live[other]) != live[other]]
            self.controller(
                broker,
                f"Newly added brokers: {join(added)}, deleted brokers: {join(gone)}, "
                f"bounced brokers: {join(bounced)}, all live brokers: {join(live)}",
            )

    def controller_wrote_state(
        self,
        broker: int,
        epoch: int,
        before: LeaderIsrAndControllerEpoch,
        now: LeaderIsrAndControllerEpoch,
        removed: int | None,
    ) -> None:
        if removed is None:
            live = self._live[broker]
            source = "OnlinePartition" if before.leader in live else "OfflinePartition"
            isr = join(now.isr, ", ")
            self._controller_change(
                broker,
                f"Changed partition {TOPIC_PARTITION} from {source} to OnlinePartition with state "
                f"LeaderAndIsr(leader={now.leader}, leaderEpoch={now.leader_epoch}, "
                f"isr=List({isr}), zkVersion={now.zk_version})",
            )
            return
        if now.leader == NO_LEADER and before.leader == removed:
            self._controller_change(
                broker,
                f"Changed partition {TOPIC_PARTITION} state from OnlinePartition "
                "to OfflinePartition",
            )
        self.controller(
            broker,
            f"New leader and ISR for partition {TOPIC_PARTITION} is "
            f'{{"leader":{now.leader},"leader_epoch":{now.leader_epoch},"isr":[{join(now.isr)}]}}',
            "DEBUG",
        )
        self._controller_change(
            broker,
            f"Changed state of replica {removed} for partition {TOPIC_PARTITION} "
            "from OnlineReplica to OfflineReplica",
        )

    def controller_sends(self, broker: int, request: OrderInFlight) -> None:
        self._sent[broker] += 1
        self.correlation[request] = self._sent[broker]
        role = "leader" if request.state.leader == request.target else "follower"
        shown = order_sent(PARTITION, request.order, Release.of(DEFAULT))
        self._controller_change(
            broker,
            f"Sending become-{role} LeaderAndIsr request {shown} to broker {request.target} for "
            f"partition {TOPIC_PARTITION}",
        )

    def _controller_change(self, broker: int, message: str) -> None:
        text = f"[Controller id={broker} epoch={self._epoch[broker]}] {message}"
        self.line(broker, STATE_CHANGE, "TRACE", text, "state.change.logger")

"""Forces each step of the model on real brokers, and collects evidence that it happened.

Every step of `replication` is one of: a write or a request of the controller, which the lab makes
itself; a message between replicas, which the proxy holds until its step comes; a process that is
ended or started; or something that a broker does by itself, which the lab waits for. The clock
alone ends no wait: each action ends with a message at the gate, an answer, a znode or the disk.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from conformance.kafka import disk, requests
from conformance.kafka.controller import LabController
from conformance.kafka.lab import Lab
from conformance.kafka.messages import ANSWER, REQUEST, Message, fetch_partition
from conformance.kafka.proxy import HeldMessage, Proxies
from conformance.kafka.replay_loop import KafkaDiffers, StepNotForced
from conformance.kafka.run import ANSWERED_FETCHES, ModelRun, ReplayStep
from conformance.kafka.schedule import MessageFilter, MessageRule
from impl.log.record_batch import batches_in
from impl.server.connection import Disconnected
from impl.wire import error_name
from impl.znodes import LeaderIsrAndControllerEpoch

FETCH, EPOCH = "Fetch", "OffsetForLeaderEpoch"
PATIENCE_S = 15.0
NOBODY = -1
MOST_LOST = 3
EXPANDS_S = 2.0
LAG = "replica.lag.time.max.ms"


class StepForcer:
    """The actions that force steps on one lab; `do` takes a step of the model on it."""

    def __init__(
        self, run: ModelRun, lab: Lab, proxies: Proxies, controller: LabController, topic: str
    ) -> None:
        self.lab, self.proxies, self.controller, self.topic = lab, proxies, controller, topic
        self.gate = proxies.gate
        self.slots: dict[tuple[int, int], HeldMessage] = {}
        self.sessions: dict[int, tuple[int, bytes]] = {}
        self.due: set[int] = set()
        self.led_since: dict[int, float] = {}
        self.lag_s = int(lab.state.settings.get(LAG, "0")) / 1000
        self.shrinks = [one for one in run.steps if one.name == "leader_shrinks_isr"]
        self.writers: dict[int, tuple[threading.Thread, list[Any]]] = {}
        for api in (FETCH, EPOCH):
            for kind in (REQUEST, ANSWER):
                for one in lab.brokers:
                    self.gate.add(MessageRule("hold", MessageFilter(api, kind, sender=str(one))))

    def do(self, step: ReplayStep) -> str:
        """Takes a step; returns the evidence. Raises KafkaDiffers or StepNotForced otherwise."""
        return STEP_ACTIONS[step.name](self, step)

    # The controller, whom the lab plays

    def claims(self, step: ReplayStep) -> str:
        """A broker becomes controller: the lab claims the next controller epoch."""
        return f"the lab is controller in epoch {self.controller.become_controller()}"

    def nothing_to_force(self, _step: ReplayStep) -> str:
        """A step in the controller's memory only: the lab's controller is driven by the model."""
        return "the lab's own"

    def writes(self, step: ReplayStep) -> str:
        """Writes the state conditionally, as the model's controller does it."""
        after = step.after
        leader = after.at("zk.leader")
        state = LeaderIsrAndControllerEpoch(
            NOBODY if leader is None else leader, after.at("zk.leader_epoch"),
            after.broker_set("zk.isr"), after.at("zk.state_epoch"),
        )  # fmt: skip
        expected = step.before.at("cache.version", step.argument("broker"))
        if not self.controller.write(state, expected):
            raise KafkaDiffers(
                f"the state has version {self.controller.read().zk_version}, not {expected}"
            )
        return f"version {expected} -> {self.controller.read().zk_version}"

    def conflicts(self, step: ReplayStep) -> str:
        """The write is refused, because the version is another by now."""
        expected = step.before.at("cache.version", step.argument("broker"))
        registered = self.controller.read()
        if registered.zk_version == expected:
            raise KafkaDiffers(f"the state still has version {expected}")
        return f"the state has version {registered.zk_version}, not {expected}"

    def delivers(self, step: ReplayStep) -> str:
        """LeaderAndIsr arrives at a broker that takes it."""
        code = self._send(step)
        if code:
            raise KafkaDiffers(f"the broker answered {error_name(code)}")
        if step.name == "broker_becomes_leader":
            self.led_since[step.argument("broker")] = time.monotonic()
            self._leads(step.argument("broker"))
        return "answered NONE"

    def delivers_refused_request(self, step: ReplayStep) -> str:
        """LeaderAndIsr arrives at a broker that refuses it."""
        code = self._send(step)
        if not code:
            raise KafkaDiffers("the broker accepted the request")
        return f"answered {error_name(code)}"

    def _send(self, step: ReplayStep) -> int:
        broker, epoch = step.argument("broker"), step.argument("epoch")
        sender, before = step.argument("controller"), step.before
        leader = before.at("elected", epoch)
        state = LeaderIsrAndControllerEpoch(
            NOBODY if leader is None else leader, epoch,
            before.broker_set("request.isr", epoch, sender, broker), sender,
            before.at("request.version", epoch, sender, broker),
        )  # fmt: skip
        earlier = self._requests_of_older_epoch(broker)
        try:
            self.controller.announce(broker, state)
            code = self.controller.inform(broker, sender, state)
        except Disconnected as error:
            raise StepNotForced(f"broker {broker} did not answer {error}") from error
        for one in earlier:
            self.gate.settle(one, "drop")
        return code

    def _requests_of_older_epoch(self, broker: int) -> list[HeldMessage]:
        """What a broker has asked, and the run has not: lost when it receives a new epoch, so
        that what it asks next it asks as what it is then."""
        return [
            one
            for api in (FETCH, EPOCH)
            for kind in (REQUEST, ANSWER)
            for one in self._waiting(MessageFilter(api, kind, sender=str(broker)))
        ]

    def _leads(self, broker: int) -> None:
        port, codes = self.lab.own_port(broker), [0]

        def serves() -> bool:
            try:
                codes[0] = requests.high_watermark(port, self.topic)[0]
            except Disconnected:
                return False
            return codes[0] in (0, 5)  # 5: it leads, below the start of its epoch (KIP-207)

        if not self.gate.wait_for(serves, PATIENCE_S):
            raise KafkaDiffers(f"broker {broker} does not lead: it answers {error_name(codes[0])}")

    # Messages between replicas

    def asks(self, step: ReplayStep) -> str:
        """Waits until a follower's request is held at the proxy of its leader."""
        api = EPOCH if step.name == "follower_sends_epoch_request" else FETCH
        follower, leader = step.argument("broker"), step.argument("leader")
        which = MessageFilter(api, REQUEST, sender=str(follower), to=str(leader))
        asked: list[str] = []
        lost: list[str] = []

        def arrived() -> bool:
            if api == FETCH:
                asked.extend(self._asks_besides(follower, leader))
            if any(self._is_asked(one, step) for one in self._waiting(which)):
                return True
            for one in self._waiting(
                MessageFilter(FETCH, ANSWER, sender=which.sender, to=which.to)
            ):
                self.gate.settle(one, "drop")  # to a fetch that kept the follower in the ISR
            if len(lost) < MOST_LOST:
                lost.extend(self._lose_others(step, follower, leader))
            return False

        self.gate.wait_for(arrived, PATIENCE_S)
        waiting = self._waiting(which)
        found = next((one for one in reversed(waiting) if self._is_asked(one, step)), None)
        if found is None:
            if waiting:
                raise KafkaDiffers(
                    f"broker {follower} asks otherwise: {waiting[-1].message.in_words()}"
                )
            if lost:
                raise KafkaDiffers(f"broker {follower} asked otherwise, each time: {lost[-1]}")
            raise self._no_message(f"no {api} of broker {follower} arrived at broker {leader}")
        self.proxies.claim(found)
        self.slots[follower, leader] = found
        besides = [*(f"besides, {one}; " for one in asked), *(f"lost, {one}; " for one in lost)]
        return "".join(besides) + found.message.in_words()

    def _lose_others(self, step: ReplayStep, follower: int, leader: int) -> list[str]:
        """Lose what the follower asks otherwise than the step: it asks anew, as what it is by now.

        A fetcher that asked in an earlier epoch waits for that answer first; in the model it had
        not asked. A request that never arrives changes nothing at the leader.
        """
        words = []
        for api in (FETCH, EPOCH):
            if api == EPOCH and step.name == "follower_sends_fetch":
                continue  # let through besides
            which = MessageFilter(api, REQUEST, sender=str(follower), to=str(leader))
            for one in self._waiting(which):
                words.append(one.message.in_words())
                self.gate.settle(one, "drop")
        return words

    def _waiting(self, which: MessageFilter) -> list[HeldMessage]:
        """Requests of that kind that wait, but those that earlier steps were about."""
        return [one for one in self.gate.held(which) if not one.claimed]

    def _is_asked(self, held: HeldMessage, step: ReplayStep) -> bool:
        """Does a fetch ask for the step's offset? An incremental one (KIP-227) may not name it."""
        if step.name != "follower_sends_fetch":
            return True
        part = fetch_partition(held.message.body, self.topic)
        expected = step.after.at("fetch.offset", step.argument("broker"), step.argument("leader"))
        return part is None or int(part.fetch_offset) == expected

    def _asks_besides(self, follower: int, leader: int) -> list[str]:
        """A question of epochs where the model fetches at once: let through, with its answer.

        From 0.11 on a follower asks even with an empty log (epoch -1); the model says so only of
        versions that truncate by epochs, and leaves it out for empty logs.
        """
        words = []
        for kind in (REQUEST, ANSWER):
            for one in self.gate.held(
                MessageFilter(EPOCH, kind, sender=str(follower), to=str(leader))
            ):
                self.gate.settle(one, "pass")
                words.append(one.message.in_words())
        return words

    def _no_message(self, what: str) -> Exception:
        kind = KafkaDiffers if self.gate.all_held() else StepNotForced
        return kind(f"{what}; {self.gate.waiting()}")

    def answers(self, step: ReplayStep) -> str:
        """The request is passed to the leader, and the response is held at the proxy."""
        follower, leader = step.argument("follower"), step.argument("leader")
        answer = self._answer(follower, leader)
        words = answer.message.in_words()
        part = fetch_partition(answer.message.body, self.topic)
        if part is not None and int(part.error_code):
            raise KafkaDiffers(f"broker {leader} refused: {words}")
        if step.name in ANSWERED_FETCHES and part is not None:
            values = [f"r{step.after.at('fetch.id', follower, leader)}"]
            if not step.after.at("fetch.has_record", follower, leader):
                values = []
            got = _values(part)
            if got != values:
                raise KafkaDiffers(
                    f"the answer brings {got or 'nothing'}, not {values or 'nothing'}"
                )
            hw = step.after.at("fetch.hw", follower, leader)
            if int(part.high_watermark) != hw:
                raise KafkaDiffers(
                    f"the answer's high watermark is {part.high_watermark}, not {hw}"
                )
        if step.name == "leader_answers_epoch":
            words += self._epoch_answer(step, answer.message)
        self.proxies.claim(answer)
        self.slots[follower, leader] = answer
        return words

    def _epoch_answer(self, step: ReplayStep, message: Message) -> str:
        """What the model's leader answers, where it is another answer: the cut will tell."""
        follower, leader = step.argument("follower"), step.argument("leader")
        part = message.body.topics[0].partitions[0]
        if int(part.error_code):
            raise KafkaDiffers(f"broker {leader} refused: {message.in_words()}")
        end = step.after.at("fetch.answer_end", follower, leader)
        expected = NOBODY if end is None else end
        return "" if int(part.end_offset) == expected else f"; in the model: end {expected}"

    def _answer(self, follower: int, leader: int) -> HeldMessage:
        slot = self.slots.get((follower, leader))
        if slot is None:
            raise StepNotForced(f"no request of broker {follower} to broker {leader} is held")
        message = slot.message
        self.gate.settle(slot, "pass")
        found = self.gate.await_held(
            MessageFilter(message.api, ANSWER, sender=str(follower), to=str(leader)),
            PATIENCE_S, lambda one: (one.connection, one.correlation)
            == (message.connection, message.correlation),
        )  # fmt: skip
        if found is None:
            raise self._no_message(f"broker {leader} did not answer {message.in_words()}")
        return found

    def refuses(self, step: ReplayStep) -> str:
        """The leader answers with an error, and the follower receives it."""
        follower, leader = step.argument("follower"), step.argument("leader")
        answer = self._answer(follower, leader)
        body = answer.message.body
        topics = getattr(body, "topics", ()) or getattr(body, "responses", ()) or ()
        codes = [int(part.error_code) for one in topics for part in one.partitions]
        if not any(codes):
            raise KafkaDiffers(f"broker {leader} served it: {answer.message.in_words()}")
        self._pass(follower, leader, answer)
        return answer.message.in_words()

    def hears(self, step: ReplayStep) -> str:
        """The response is passed to the follower, which handles it."""
        follower, leader = step.argument("follower"), step.argument("leader")
        slot = self.slots.get((follower, leader))
        if slot is None or slot.message.kind != ANSWER:
            raise StepNotForced(f"no answer of broker {leader} to broker {follower} is held")
        self._pass(follower, leader, slot)
        return slot.message.in_words()

    def _pass(self, follower: int, leader: int, answer: HeldMessage) -> None:
        self.gate.settle(answer, "pass")
        self.slots.pop((follower, leader), None)

    def loses(self, step: ReplayStep) -> str:
        """A request or its answer is lost with its connection."""
        follower, leader = step.argument("follower"), step.argument("leader")
        slot = self.slots.pop((follower, leader), None)
        if slot is None:
            raise StepNotForced(f"nothing between brokers {follower} and {leader} is held")
        self.gate.settle(slot, "drop")
        return f"lost: {slot.message.in_words()}"

    # What brokers do of themselves

    def advances(self, step: ReplayStep) -> str:
        """The leader's high watermark, as consumers see it."""
        broker = step.argument("broker")
        expected = step.after.at("replica.hw", broker)
        seen = [NOBODY, 0]

        def reached() -> bool:
            try:
                seen[1], seen[0] = requests.high_watermark(self.lab.own_port(broker), self.topic)
            except Disconnected:
                return False
            return bool(seen[0] >= expected)

        if not self.gate.wait_for(reached, PATIENCE_S):
            why = f" ({error_name(seen[1])})" if seen[1] else ""
            raise KafkaDiffers(f"the high watermark of broker {broker} is {seen[0]}{why}")
        if seen[0] > expected:
            raise KafkaDiffers(
                f"the high watermark of broker {broker} is {seen[0]} already, not {expected}"
            )
        return f"broker {broker} shows consumers {seen[0]} as the end"

    def state_is_written(self, step: ReplayStep) -> str:
        """A leader writes the ISR to ZooKeeper."""
        wanted = set(step.after.broker_set("zk.isr"))
        # A leader expands while it handles the fetch, and shrinks when its own clock says so.
        expands = step.name == "leader_expands_isr"
        patience_s = EXPANDS_S if expands else PATIENCE_S
        if not self.gate.wait_for(lambda: set(self.controller.read().isr) == wanted, patience_s):
            what = f"the registered ISR is {list(self.controller.read().isr)}"
            raise KafkaDiffers(what) if expands else StepNotForced(what)
        return f"version {self.controller.read().zk_version}"

    def appends(self, step: ReplayStep) -> str:
        """A producer writes one record, with acks=1."""
        broker = step.argument("broker")
        self._keep_up(step, broker)
        record = step.before.at("next_record")
        try:
            code, offset = requests.produce(
                self.lab.release, self.lab.own_port(broker), self.topic, f"r{record}".encode(), 1
            )
        except Disconnected as error:
            raise StepNotForced(f"broker {broker} did not answer {error}") from error
        if code:
            raise KafkaDiffers(f"broker {broker} answered the producer {error_name(code)}")
        return f"r{record} at offset {offset}"

    def _keep_up(self, step: ReplayStep, leader: int) -> None:
        """Let followers that stay in the ISR fetch from an empty log until a lagging one is due.

        A leader drops all that have not caught up for replica.lag.time.max.ms; the model says which
        one. While nothing is written such fetches change nothing. Kafka's own clock decides here.
        """
        later = [one for one in self.shrinks if one.number > step.number]
        if not later or later[0].argument("leader") != leader or step.before.log(leader):
            return
        laggard = later[0].argument("replica")
        stay = [one for one in step.before.broker_set("zk.isr") if one not in (leader, laggard)]

        def is_due() -> bool:
            for follower in stay:
                for api in (EPOCH, FETCH):
                    for kind in (REQUEST, ANSWER):
                        which = MessageFilter(api, kind, sender=str(follower), to=str(leader))
                        for one in self._waiting(which):
                            self.gate.settle(one, "pass")
            return time.monotonic() - self.led_since.get(leader, 0.0) > self.lag_s - 1.0

        self.gate.wait_for(is_due, self.lag_s + PATIENCE_S)

    def appends_for_all(self, step: ReplayStep) -> str:
        """A producer writes one record with acks=all, and waits for its answer meanwhile."""
        broker, record = step.argument("broker"), step.before.at("next_record")
        answer: list[Any] = []

        def write() -> None:
            try:
                answer.append(requests.produce(
                    self.lab.release, self.lab.own_port(broker), self.topic,
                    f"r{record}".encode(), -1, 60_000,
                ))  # fmt: skip
            except Disconnected as error:
                answer.append(error)

        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        self.writers[record] = thread, answer
        return f"r{record} sent with acks=all"

    def acknowledges(self, step: ReplayStep) -> str:
        """The producer with acks=all gets its answer."""
        record = step.before.at("log.at.id", step.argument("broker"), step.argument("offset"))
        thread, answer = self.writers.get(record, (None, []))
        if thread is None:
            return "acks=1: answered when it was appended"
        if not self.gate.wait_for(lambda: bool(answer), PATIENCE_S):
            raise KafkaDiffers(f"the producer of r{record} has no answer")
        if not isinstance(answer[0], tuple) or answer[0][0]:
            raise KafkaDiffers(f"the producer of r{record} was answered {answer[0]}")
        return f"r{record} is acknowledged"

    def acknowledged(self) -> list[str]:
        """The records that were acknowledged to a producer with acks=all."""
        return [
            f"r{record}"
            for record, (_, answer) in sorted(self.writers.items())
            if answer and isinstance(answer[0], tuple) and answer[0][0] == 0
        ]

    def checkpoints(self, step: ReplayStep) -> str:
        """The high watermark is in replication-offset-checkpoint."""
        broker = step.argument("broker")
        data, wanted = self.lab.data(broker), step.after.at("replica.checkpoint", broker)
        if not self.gate.wait_for(
            lambda: disk.checkpoint_of(data, self.topic) == wanted, PATIENCE_S
        ):
            raise KafkaDiffers(f"the checkpoint says {disk.checkpoint_of(data, self.topic)}")
        return f"the checkpoint says {wanted}"

    # Processes, sessions, disks

    def crashes(self, step: ReplayStep) -> str:
        """SIGKILL; requests of the process are lost, its answers may still arrive."""
        broker = step.argument("broker")
        self._remember(broker)
        self.lab.kill(broker)
        for (follower, leader), slot in list(self.slots.items()):
            if follower == broker or (leader == broker and slot.message.kind == REQUEST):
                self.gate.settle(slot, "drop")
                del self.slots[follower, leader]
        for message in self.gate.all_held():
            if str(broker) == message.sender or (
                message.to == str(broker) and message.kind == REQUEST
            ):
                for held in self.gate.held(
                    MessageFilter(message.api, message.kind, message.sender)
                ):
                    if held.message is message:
                        self.gate.settle(held, "drop")
        wanted = step.after.at("replica.checkpoint", broker)
        data = self.lab.data(broker)
        has = disk.checkpoint_of(data, self.topic)
        if (has or 0) != wanted:
            disk.write_checkpoint(data, self.topic, wanted)
            return f"SIGKILL; the checkpoint of {has} is put back to {wanted}"
        return "SIGKILL"

    def crash_losing_unflushed_records(self, step: ReplayStep) -> str:
        """SIGKILL, and the end of the log was never flushed."""
        words = self.crashes(step)
        broker, end = step.argument("broker"), step.argument("end")
        disk.cut_log(self.lab.data(broker), self.topic, end)
        return f"{words}; the log on the disk ends at {end}"

    def expires(self, step: ReplayStep) -> str:
        """The session expires in ZooKeeper; at once if the process is dead.

        A live process's session ends when a later step needs it: only the controller sees its end,
        and the lab plays the controller; and a broker without a session creates no log, because it
        reads the topic's configuration first (`LogManager.getOrCreateLog`), which the model omits.
        """
        broker = step.argument("broker")
        if step.before.at("up", broker):
            self.due.add(broker)
            return (
                "the lab's controller sees it; in ZooKeeper it ends with the process or its return"
            )
        self._end_session(broker)
        return f"/brokers/ids/{broker} is gone"

    def _remember(self, broker: int) -> None:
        session = self.proxies.session(broker)
        if session is not None:
            self.sessions[broker] = session

    def _end_session(self, broker: int) -> None:
        if broker not in self.controller.zk.registered():
            return
        if broker in self.sessions:
            self.controller.zk.expire(self.sessions[broker])
        if not self.gate.wait_for(
            lambda: broker not in self.controller.zk.registered(), PATIENCE_S
        ):
            raise StepNotForced(f"/brokers/ids/{broker} is still there")

    def reconnects(self, step: ReplayStep) -> str:
        """A live broker's session has ended; it opens a new one and registers again."""
        broker = step.argument("broker")
        self.due.discard(broker)
        self._remember(broker)
        before = self.controller.zk.registered().get(broker)
        if before is not None and broker in self.sessions:
            self.controller.zk.expire(self.sessions[broker])
        if not self.gate.wait_for(
            lambda: self.controller.zk.registered().get(broker) not in (None, before),
            2 * PATIENCE_S,
        ):
            raise StepNotForced(f"broker {broker} does not register again")
        return f"/brokers/ids/{broker} is there, of another session"

    def starts(self, step: ReplayStep) -> str:
        """A broker starts."""
        broker = step.argument("broker")
        self._end_session(broker)
        self.due.discard(broker)
        self.lab.start_process(f"broker{broker}")
        self.lab.await_broker(broker)
        return f"/brokers/ids/{broker} is there"


def _values(part: Any) -> list[str]:
    """The values of the records in an answer."""
    from impl.log.record_batch import records_of

    content = bytes(part.records or b"")
    return [
        (one.value or b"").decode(errors="replace")
        for at, _ in batches_in(content)
        for one in records_of(content, at)
    ]


StepAction = Callable[[StepForcer, ReplayStep], str]

STEP_ACTIONS: dict[str, StepAction] = {
    "broker_becomes_controller": StepForcer.claims,
    **dict.fromkeys(
        ("broker_learns_it_won", "reply_to_registration_is_lost",
         "broker_loses_controller_election",
         "controller_resigns", "controller_node_is_deleted", "controller_reads_partition",
         "controller_issues_leader_and_isr", "controller_election_is_fenced",
         "controller_removal_is_fenced",
         "leader_and_isr_is_lost", "leader_learns_isr_is_written"),
        StepForcer.nothing_to_force,
    ),
    "controller_elects_leader": StepForcer.writes,
    "controller_removes_replica": StepForcer.writes,
    "controller_election_conflicts": StepForcer.conflicts,
    "controller_removal_conflicts": StepForcer.conflicts,
    "broker_becomes_leader": StepForcer.delivers,
    "broker_becomes_follower": StepForcer.delivers,
    "older_controller_is_refused": StepForcer.delivers_refused_request,
    "older_epoch_is_refused": StepForcer.delivers_refused_request,
    "follower_sends_fetch": StepForcer.asks,
    "follower_sends_epoch_request": StepForcer.asks,
    "leader_answers_fetch": StepForcer.answers,
    "leader_answers_fetch_in_session": StepForcer.answers,
    "leader_answers_epoch": StepForcer.answers,
    "leader_refuses_fetch": StepForcer.refuses,
    "leader_refuses_epoch": StepForcer.refuses,
    "follower_appends": StepForcer.hears,
    "follower_truncates": StepForcer.hears,
    "fetch_answer_is_ignored": StepForcer.hears,
    "epoch_answer_is_ignored": StepForcer.hears,
    "fetch_is_lost": StepForcer.loses,
    "leader_advances_hw": StepForcer.advances,
    "leader_shrinks_isr": StepForcer.state_is_written,
    "leader_expands_isr": StepForcer.state_is_written,
    "leader_appends": StepForcer.appends,
    "leader_appends_acks_all": StepForcer.appends_for_all,
    "leader_acknowledges": StepForcer.acknowledges,
    "leader_acknowledges_acks_all": StepForcer.acknowledges,
    "broker_checkpoints_hw": StepForcer.checkpoints,
    "broker_crashes": StepForcer.crashes,
    "broker_crashes_losing_unflushed_records": StepForcer.crash_losing_unflushed_records,
    "session_expires": StepForcer.expires,
    "broker_reconnects": StepForcer.reconnects,
    "broker_starts": StepForcer.starts,
}  # fmt: skip
"""Transition of `replication` -> its action. What is missing here cannot be forced."""

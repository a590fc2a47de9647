"""Faults planted in the data plane that serves clients: the simulator's claims notice each.

So no claim is vacuous, and none of these lines can be lost without a run that breaks.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from typing import NamedTuple

import pytest

from impl.core import answers, imbalance, leader_election
from impl.core.api import ControllerApi
from impl.core.broker_changes import BrokerChanges
from impl.core.channels import Channel, Channels
from impl.core.event_controller import EventController
from impl.core.event_manager import ControllerEventManager
from impl.core.fetcher_thread import FetcherThread
from impl.core.metadata_cache import MetadataCache
from impl.core.partition import Partition, RemoteReplica, out_of_sync
from impl.core.partition_machine import PartitionMachine
from impl.core.reassigner import Reassigner
from impl.core.replica_machine import ReplicaMachine
from impl.core.replica_manager import DelayedProduce, ReplicaManager
from impl.core.request_batch import RequestBatch
from impl.core.truncation import follower_truncation
from impl.world.whole_cluster import claims
from impl.world.whole_cluster.runs import run_whole_cluster
from impl.znodes.client import ZnodeClient
from tests.impl.planted import plant

SEEDS = 12
STEPS = 1_000


class Fault(NamedTuple):
    """A line, what stands there instead, and what a run says of it; ``faults`` is the profile.

    ``first`` is the seed that is tried first, where those from 0 on take long to notice.
    """

    function: Callable[..., object]
    line: str
    otherwise: str
    broken: str
    faults: str = "everything"
    release: str = "2.3"
    first: int = 0


STALE_AND_NOT_COMPARED = """\
if state is None or not self._is_of(asked[key], state):
            continue  # removed, or added again, while the request was in flight
        if state.offset == asked[key].offset and state.phase is Phase.FETCHING:"""
"""Up to 2.6 a partition that is added again truncates first, so that either check is enough."""

PLANTED = {
    "consumers read above the high watermark": Fault(
        ReplicaManager._read, "up_to = hw if reader == CONSUMER else None", "up_to = None",
        "was read at offset|consumers read records", "everything",
    ),
    "a deposed leader adopts a foreign zkVersion": Fault(
        Partition.written, "if there is not None and there.with_zk_version(wanted.zk_version) == "
        "wanted:", "if there is not None:", "knows version .* is registered",
    ),
    "a write that ZooKeeper does not carry out is taken for one that came too late": Fault(
        Partition.written, "failure is not None and not isinstance(failure, NoNode)", "False",
        "takes version .* for outdated", "denials", first=29,
    ),
    "a move goes on when another broker starts than one of its targets": Fault(
        EventController.reassignments_may_go_on, "if came & set(self._target(partition))",
        "if True", "another leader epoch of .* for a broker that started", "moves",
    ),
    "a move that ends takes a newer request for the partition along": Fault(
        Reassigner.drop, "wanted = None if target is None else tuple(target)", "wanted = None",
        "need not move, whose replicas", "requests", "2.4", first=3,
    ),
    "states are watched where leaders ask for other ISRs (KIP-497)": Fault(
        Reassigner.reassign_recorded, "if not self.core.leaders_ask", "if True",
        "somebody watches", "requests", "2.7",
    ),
    "replicas that stay are sent as new ones": Fault(
        ReplicaMachine._go_online, "known, replicas, False)", "known, replicas, True)",
        "the replica is new", "crashes",
    ),
    "a partition whose append has failed is fetched on": Fault(
        FetcherThread._append, "self._fail(key)\n        return", "self._fail(key)",
        "goes on following broker .*, which has failed", "directories", "2.7",
    ),
    "a log that was made is said to be there already": Fault(
        ReplicaManager.host, "if is_new:", "if False:",
        "has found the log of .*, which it never made",
    ),
    "a leader that is refused for the moment asks for no ISR again (KIP-497)": Fault(
        Partition._refused, "if not gives_up:", "if False:",
        "which its controller answers, has another ISR of", "denials", "2.7", first=206,
    ),
    "an unclean election elects nobody but a member of the ISR": Fault(
        leader_election.offline, "may_lose = unclean and alive", "may_lose = False",
        "to whoever wants a leader \\(UNCLEAN\\) of .*, though its replicas", "deposed", "2.4",
        first=308,
    ),
    "a replica is made anew whose log may be in a directory that has failed (KIP-112)": Fault(
        ReplicaManager.host, "if is_new and not may_be_made and self.logs.some_offline:",
        "if False:", "answers LeaderAndIsr of controller epoch . of", "clients", "2.7",
    ),
    "a channel to a broker that has gone stays open": Fault(
        ControllerEventManager.close_channels,
        "self.channels.forget_the_gone(self.controller.core.context.channel_epochs)", "pass",
        "has a channel to broker", "crashes",
    ),
    "an answer counts for whoever has sent the request, and is the controller no more": Fault(
        EventController.leader_and_isr_answered, "not self._is_of_now(request)", "False",
        "is no controller, and has offline_directories in mind", "directories", "2.7", first=1,
    ),
    "a controller that resigns keeps the moves that it works on in memory": Fault(
        EventController.resign, "self.reassigner.forget()", "pass",
        "is no controller, and has .* in mind", "operators",
    ),
    "a broker that is not the controller lists moves": Fault(
        ControllerApi.list_reassignments, "if not self.controller.active:", "if False:",
        "answers NONE to whoever lists moves, and not NOT_CONTROLLER", "requests", "2.4",
    ),
    "the controller epoch is never noted": Fault(
        ReplicaManager.handle, "self.controller_epoch = request.controller_epoch", "pass",
        "answers UpdateMetadata of controller epoch", "operators",
    ),
    "no check of the broker epoch (KIP-380)": Fault(
        answers.broker_epoch_error, 'return "STALE_BROKER_EPOCH"', "return NONE",
        "answers LeaderAndIsr of controller epoch .* as a whole", "operators",
    ),
    "a request is dropped at the first disconnect": Fault(
        Channel.lose, "if self.orphan:", "if True:",
        "never comes to rest|nothing is left to happen", "lossy",
    ),
    "no leader epoch is sent": Fault(
        FetcherThread._sent, 'return leader_epoch if self.release.since("2.1") else None',
        "return None", "which follows broker ., has asked",
    ),
    "a late answer to StopReplica is believed": Fault(
        EventController._is_of_now,
        "return self.active and self.core.context.epoch == request.controller_epoch",
        "return self.active", "takes an answer to a request of controller epoch",
        "operators", first=20,
    ),
    "a producer is acknowledged across a lost leadership": Fault(
        DelayedProduce.outcome,
        "if not here or not replica.leads or replica.generation != self.generation:",
        "if not here or not replica.leads:", "was acknowledged at offset", "sessions",
    ),
    "a stale answer of an older leader epoch is appended": Fault(
        FetcherThread.on_fetched,
        "if state is None or not self._is_of(asked[key], state):",
        "if state is None:", "which follows broker ., has (the high|where it goes on)",
        "sessions", "2.8",
    ),
    "a stale answer is appended though logs are to be compared first": Fault(
        FetcherThread.on_fetched, STALE_AND_NOT_COMPARED,
        "if state is None:\n            continue\n        if state.offset == asked[key].offset:",
        "which follows broker ., has (the high|where it goes on)", "sessions",
    ),
    "a log is cut by a stale answer of an older leader epoch": Fault(
        FetcherThread.on_epoch_ends,
        "if state is None or not self._is_of(asked[key], state):", "if state is None:",
        "which follows broker ., has (the high|where it goes on)", "sessions", first=5,
    ),
    "a log that ends below its leader's start does not begin anew": Fault(
        FetcherThread._out_of_range, "elif start > log.log_end:", "elif False:",
        "which follows broker ., has (the high|where it goes on)", "retention",
    ),
    "nobody asks where the leader's log ends, though what was asked for is out of its range": Fault(
        FetcherThread._apply, "await self._out_of_range(key, state)", "pass",
        "which follows broker ., has asked next None", "retention",
    ),
    "the high watermark does not wait for the ISR": Fault(
        Partition.next_high_watermark, "self.log_end, self.maximal_isr, remotes,",
        "self.log_end, (), {},",
        "below its high watermark|was (acknowledged|read) at offset",
    ),
    "a follower cuts its log to nothing": Fault(
        follower_truncation, "return Truncation(min(end, reply.end, log_end), True)",
        "return Truncation(0, True)", "which follows broker ., has the high watermark",
    ),
    "a follower does not cut what its leader does not have": Fault(
        follower_truncation, "return Truncation(min(end, reply.end, log_end), True)",
        "return Truncation(log_end, True)",
        "which follows broker ., has the high watermark",
    ),
    "a follower of another leader epoch is not fenced": Fault(
        answers.current_leader_epoch_error, "if asked is not None and asked > current:",
        "if False:", "answers broker . (about|for records)",
    ),
    "a replica that is sent an older leader epoch obeys": Fault(
        answers.leader_and_isr_error, "if asked <= current:", "if asked < current - 1:",
        "answers LeaderAndIsr of controller epoch",
    ),
    "a controller forgets that a broker which went was about to go": Fault(
        BrokerChanges.failed, "context.shutting_down.discard(broker)", "pass",
        "nothing is left to happen, and of the brokers that are about to go", "operators", first=2,
    ),
    "a controller does not read the ISRs of which it is notified": Fault(
        EventController.isrs_changed, "await self.core.read_states(partitions)", "pass",
        "nothing is left to happen, and of the state of", "sessions",
    ),
    "a controller does not fence a leader of an older leader epoch (KIP-497)": Fault(
        ControllerApi._altered, "elif state.leader_epoch < known.leader_epoch:", "elif False:",
        "the controller on broker .* answers INVALID_UPDATE_VERSION to a leader", "failures", "2.7",
    ),
    "a replica whose log directory failed is fetched for still": Fault(
        ReplicaManager.log_dir_failed, "self._stop_fetching(gone)", "pass",
        "fetches .* from broker .*, and follows", "directories",
    ),
    "what is under way when a controller resigns is lost": Fault(
        Channels.close, "if channel.under_way is not None", "if False",
        "has forgotten what is under way", "deposed",
    ),
    "a move that begins is said to have failed (KIP-455)": Fault(
        ControllerApi.alter_reassignments, "if not await steps", "if await steps",
        "answers UNKNOWN_SERVER_ERROR to whoever wants .* though ZooKeeper refused nothing",
        "requests", "2.7",
    ),
    "a move whose work has failed is said to have begun (KIP-455)": Fault(
        Reassigner.attempt, "return False", "return True",
        "answers NONE to whoever wants .*, and not UNKNOWN_SERVER_ERROR", "deposed", "2.4",
        first=49,
    ),
    "a move that is cancelled is said to be under way (KIP-455)": Fault(
        ControllerApi.alter_reassignments, "if not await steps.attempt(partition, work):",
        "if False:",
        "the controller on broker .* answers NONE to whoever wants", "requests", "2.7",
    ),
    "a producer is answered nothing when its leader is deposed": Fault(
        DelayedProduce.outcome, "return manager.not_leader", "return None",
        "nothing is left to happen, and of the partitions whose producers", "sessions",
    ),
    "a leader asks for an ISR of an older leader epoch": Fault(
        Partition._take, "self.isr_requests.clear(self.partition)", "pass",
        "asks in leader epoch", "failures", "2.7",
    ),
    "a broker that goes is kept back by what nobody else has": Fault(
        BrokerChanges.shut_down, "len(context.replicas(one.partition)) > 1", "True",
        "keeps back a broker that goes", "one-replica",
    ),
    "a deletion that nobody carries out is forgotten (to 0.10.1)": Fault(
        EventController.deletion_requested, 'not self.release.since("0.10.2")', "False",
        "nobody carries out", "no-deletion", "0.10.1",
    ),
    "brokers are not sent the ISRs that changed": Fault(
        EventController.isrs_changed, "await self.core.update_metadata_for(partitions)", "pass",
        "nothing is left to happen, and of what broker . tells clients", "sessions",
    ),
    "a producer that waits for nobody waits for the ISR": Fault(
        ReplicaManager.append, "awaited if acks == -1 else None", "awaited",
        "to whoever asks for a record", "clients",
    ),
    "a client is not fenced by the leader epoch that it names (KIP-320)": Fault(
        ReplicaManager._leader, 'asked = epoch if self.release.since("2.1") else None',
        "asked = None", "to whoever asks for the end of epoch", "clients",
    ),
    "a new leader says at once how far consumers may read (KIP-207)": Fault(
        Partition.list_offset, "if self.hw_may_be_stale:", "if False:",
        "to whoever asks for the offset of", "clients", first=3,
    ),
    "a fetch gives more bytes than were asked for": Fault(
        ReplicaManager.read, "max(0, left - reply.batch.length)", "left",
        "to whoever asks for .* bytes of all that is led", "clients",
    ),
    "topics are mixed up in answers to clients": Fault(
        MetadataCache.partitions_of, "if one.topic == topic", "if True",
        "to whoever asks for the partitions of", "clients",
    ),
    "a producer whose time is up is answered that all is well": Fault(
        answers.produce_error_after, 'return "REQUEST_TIMED_OUT"', "return NONE",
        "to whoever asks for whether .* is committed", "clients",
    ),
    "clients are not told of replicas that are offline (KIP-112)": Fault(
        RequestBatch._metadata, 'offline if self._version("UpdateMetadata") >= 4 else ()', "()",
        "sends broker . UpdateMetadata: it names the offline replicas", "directories",
    ),
    "a replica on a broker that is about to go counts as offline": Fault(
        RequestBatch._metadata, "shutting_down_too=True", "shutting_down_too=False",
        "sends broker . UpdateMetadata: it names the offline replicas", "operators",
    ),
    "a topic that is deleted is told with its leader": Fault(
        RequestBatch._metadata, "partition.topic in self.context.queued_for_deletion", "False",
        "sends broker . UpdateMetadata: it names the leader", "operators",
    ),
    "a topic that is deleted stays in what clients are told": Fault(
        MetadataCache.update, "metadata.state.leader == LEADER_DURING_DELETE", "False",
        "answers UpdateMetadata .* and knows of", "operators",
    ),
    "a leader is asked for that is there, and the answer is that it was elected": Fault(
        ControllerApi.elect_leaders,
        'errors[one] = ELECTION_NOT_NEEDED if release.since("2.4") else NONE', "pass",
        "answers .* to whoever wants (leaders|a leader) of", "unclean",
        "2.7",
    ),
    "a leader asks for an ISR in an earlier registration (KIP-497)": Fault(
        ControllerApi.alter_isr, 'answer("STALE_BROKER_EPOCH", {})', "answer(NONE, {})",
        "to a leader, and not STALE_BROKER_EPOCH", "deposed", "2.7", first=8,
    ),
    "a preferred election fails as an unclean one does (KIP-460)": Fault(
        ControllerApi.elect_leaders, 'code = "PREFERRED_LEADER"', 'code = "ELIGIBLE_LEADERS"',
        "answers ELIGIBLE_LEADERS_NOT_AVAILABLE to whoever wants a leader .PREFERRED", "unclean",
        "2.7",
    ),
    "a leader is elected in the leader epoch of the last one": Fault(
        PartitionMachine._elect_once, "state.leader_epoch + 1,", "state.leader_epoch,",
        "handles .* it writes the leader epoch of",
    ),
    "a partition for which nobody could be elected is passed over in silence": Fault(
        PartitionMachine._move, "failed |= await self._elect(", "await self._elect(",
        "handles .* does not say whether .* entered OnlinePartition",
    ),
    "somebody who is not in sync is elected": Fault(
        leader_election.offline, "tuple(member for member in isr if member in live)", "alive",
        "handles .* it writes", "crashes", first=4,
    ),
    "a preferred leader is elected though it leads (1.0)": Fault(
        PartitionMachine._leads_as_preferred, "known if leads else None", "None",
        "it writes the version of .* which is led as preferred", "failures", "1.0",
    ),
    "a preferred leader is elected where it leads, and nowhere else (1.0)": Fault(
        leader_election.leads_as_preferred,
        "leader in assignment[:1]", "leader not in assignment[:1]",
        "handles AutoPreferredReplicaLeaderElection: it writes the leader", "failures", "1.0",
    ),
    "changed ISRs are announced once, refused or not": Fault(
        ReplicaManager.maybe_propagate_isr_changes, "self.isr_changes |= changes", "pass",
        "to announce of changed ISRs, and it is", "denials", first=18,
    ),
    "what waits is handled in the next session": Fault(
        ControllerEventManager.expire, "self.waiting.clear()", "pass",
        "events of its last session to handle", "sessions", first=7,
    ),
    "a follower takes a high watermark above its log's end": Fault(
        FetcherThread._append, "min(reply.high_watermark, log.log_end)", "reply.high_watermark",
        "which follows broker ., has the high watermark", "small-fetches",
    ),
    "a follower gives up where records come altered": Fault(
        FetcherThread._append, "if not self._is_fetched_again(error):", "if True:",
        "which follows broker ., has where it goes on in", "races",
    ),
    "a follower fetches from its high watermark on, though the leader compares epochs (2.8)": Fault(
        FetcherThread.follow, "log.log_end if from_end else log.high_watermark",
        "log.high_watermark", "and begins to follow in", "crashes", "2.8",
    ),
    "a follower that reached what it was shown last does not count as caught up": Fault(
        RemoteReplica.fetched, "self.last_caught_up = max(self.last_caught_up, self.last_fetch)",
        "pass",
        "answers broker . and knows of it in",
    ),
    "a leader waits twice as long for a member of the ISR": Fault(
        out_of_sync, "> lag_ms", "> 2 * lag_ms", "drops from its ISRs", "sessions",
    ),
    "a leader announces an ISR that the controller agreed to (2.7)": Fault(
        ReplicaManager._observe, "and not event.by_request", "",
        "to announce of changed ISRs, and it changed", "crashes", "2.7",
    ),
    "brokers that lead all that they should are given more": Fault(
        imbalance.is_imbalanced, "> percentage / 100", "<= percentage / 100",
        "of which no election was due|the leader of", "crashes",
    ),
    "a leader is elected, and its followers do not hear of it": Fault(
        PartitionMachine._now_online, "self.batch.add_leader_and_isr(recipients,",
        "self.batch.add_leader_and_isr([state.leader],", "sends it not to brokers", "crashes",
    ),
    "a partition that nobody knows does not move (KIP-455)": Fault(
        Reassigner.validate, "is_there = current.replicas and", "is_there =",
        "to whoever wants t.* and not UNKNOWN_TOPIC_OR_PARTITION", "requests", "2.7",
    ),
    "no move goes on when a leader is granted its ISR (KIP-497)": Fault(
        ControllerApi.alter_isr, "if came.error == NONE", "if came.error != NONE",
        "never comes to rest", "requests", "2.7", 1,
    ),
    "what an idempotent producer sends again is reported as appended": Fault(
        ReplicaManager.append, "if first >= before:", "if True:", "again, and it is", "clients",
    ),
    "a replica that was deleted is remembered": Fault(
        ReplicaMachine._move, "del self.context.replica_states[Replica(partition, broker)]", "pass",
        "nothing is left to happen, and of the replicas that have a state", "requests", "2.7",
    ),
}  # fmt: skip


def first_broken(fault: Fault) -> str:
    """What the first run that breaks says; a run that never comes to rest says so."""
    for seed in dict.fromkeys((fault.first, *range(SEEDS))):
        run = run_whole_cluster(seed, STEPS, fault.faults, release=fault.release)
        if run.broken:
            return run.broken
        if not run.at_rest:
            return "never comes to rest"
    return ""


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_breaks_a_claim(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = PLANTED[name]
    plant(monkeypatch, fault.function, fault.line, fault.otherwise)

    with pytest.raises(AssertionError, match=fault.broken):
        raise AssertionError(first_broken(fault))


ALONE = {
    "two brokers hold controller epoch": Fault(
        ZnodeClient._register_at_once, "wanted = read.epoch + 1", "wanted = read.epoch",
        "two brokers hold controller epoch", "sessions",
    ),
    "two brokers lead": Fault(
        ReplicaManager._leader_and_isr, "if o.state.leader == self.broker", "if True",
        "two brokers lead", "none",
    ),
    "consumers read records": PLANTED["consumers read above the high watermark"],
    "was read at offset": PLANTED["the high watermark does not wait for the ISR"],
    "was acknowledged at offset": PLANTED["the high watermark does not wait for the ISR"],
    "hold different records": PLANTED["a follower does not cut what its leader does not have"],
    "the controller on broker": PLANTED[
        "a controller does not fence a leader of an older leader epoch (KIP-497)"
    ],
    "to whoever asks for": PLANTED["a producer that waits for nobody waits for the ISR"],
    "obeys a controller of epoch": PLANTED["the controller epoch is never noted"],
    "obeys a request for its registration": PLANTED["no check of the broker epoch (KIP-380)"],
    "names": PLANTED["a replica on a broker that is about to go counts as offline"],
    "which follows broker": PLANTED["a follower takes a high watermark above its log's end"],
    "drops from its ISRs": PLANTED["a leader waits twice as long for a member of the ISR"],
    "answers": PLANTED["a replica that is sent an older leader epoch obeys"],
    "events of its last session": PLANTED["what waits is handled in the next session"],
    "nothing is left to happen": PLANTED[
        "a controller does not read the ISRs of which it is notified"
    ],
}  # fmt: skip
"""Claims by their words, each with a fault that breaks it where nobody looks at the others."""


@pytest.mark.deep
@pytest.mark.parametrize("words", ALONE)
def test_each_claim_notices_a_fault_by_itself(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = ALONE[words]
    plant(monkeypatch, fault.function, fault.line, fault.otherwise)
    before = claims._claim

    def only(holds: bool, otherwise: str) -> None:
        before(holds or words not in otherwise, otherwise)

    monkeypatch.setattr(claims, "_claim", only)

    assert words in first_broken(fault)


def test_every_claim_of_the_simulator_has_a_fault_that_breaks_it() -> None:
    """But for the leader that a partition has at rest: without one nothing is at rest."""
    named = [fault.broken for fault in PLANTED.values()] + [*ALONE]
    calls = [
        one for one in ast.walk(ast.parse(inspect.getsource(claims)))
        if isinstance(one, ast.Call) and ast.unparse(one.func) == "_claim"
    ]  # fmt: skip

    assert len(calls) >= 14
    for call in calls:
        words = ast.unparse(call.args[1]).replace("{what}", "read")
        known = any(re.search(one, words) for one in named)
        assert known or "has no leader" in words, words

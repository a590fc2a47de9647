"""Progress of `replication` itself once faults have ended: explored within bounds, not proved.

The refinement is about steps and not about fair runs: a message that may always arrive in the
proof's form is in `replication` a request that must be sent and answered first. So the same three
claims are checked on every fair run of `replication` within small bounds, after any number of
crashes and lost messages; a session ends only after its process has died.

Once faults have ended, also: a live process keeps its session; a controller elects only if the
registered leader's session has ended, and only a broker with a session; it notifies a broker only
of a state that the broker does not have; no leader tries an ISR write with an old version, because
it handles no LeaderAndIsr while it waits for the answer.
"""

from model.language import (
    all_of,
    always_eventually,
    any_of,
    every,
    implies,
    limit,
    not_,
    some,
)
from model.protocol.state import BROKERS
from model.replication import SYSTEM as REPLICATION
from specs.progress.after_faults import after_faults, always_a_fault
from specs.proofs.progress import isr, leaders, records


def is_the_leader(now, b):
    return all_of(now.zk.leader == b, now.up.has(b))


def leads_now(now, b):
    """The registered leader, alive, leads in the registered epoch."""
    return all_of(is_the_leader(now, b), now.replica[b].role == "leader",
                  now.replica[b].epoch == now.zk.leader_epoch)


def has_the_epoch(now, b):
    return all_of(now.replica[b].role != "none", now.replica[b].epoch == now.zk.leader_epoch)


def follows_now(now, b):
    return all_of(now.replica[b].role == "follower", has_the_epoch(now, b),
                  not_(now.replica[b].truncating))


def is_led_so(now, leader_holds):
    """A leader has that property; or faults have not ended, or no ISR member is alive."""
    return any_of(
        not_(now.faults_ended),
        not_(some(BROKERS, lambda b: all_of(now.up.has(b), now.zk.isr.has(b)))),
        some(BROKERS, lambda b: all_of(leads_now(now, b), leader_holds(b))))


FAULTS = {
    **dict.fromkeys((
        "broker_crashes", "leader_and_isr_is_lost", "fetch_is_lost", "isr_answer_is_lost",
        "reply_to_registration_is_lost", "controller_node_is_deleted", "broker_starts",
        "leader_shrinks_isr",
        "leader_shrink_is_refused", "leader_expand_is_refused"), always_a_fault),
    "session_expires": lambda now, broker: now.up.has(broker),
    "controller_resigns": lambda now, broker: now.zk.controller == broker,
    "controller_elects_leader": lambda now, broker, leader: any_of(
        not_(now.zk.registered.has(leader)), some(BROKERS, lambda b: all_of(
            now.zk.leader == b, now.zk.registered.has(b)))),
    "controller_issues_leader_and_isr": lambda now, broker, replica: has_the_epoch(now, replica),
}

NOT_FAIR = (
    "broker_checkpoints_hw", "leader_appends", "leader_appends_acks_all",
    "leader_answers_not_enough_replicas", "leader_acknowledges", "leader_acknowledges_acks_all",
    "leader_answers_not_enough_replicas_after_append", "consumer_reads",
    *(name for name, rule in FAULTS.items() if rule is always_a_fault))
"""What clients and the checkpointing thread do, and what happens no more."""

FAIR = tuple(
    one.transition.name for one in REPLICATION.recorded().steps
    if one.transition.name not in NOT_FAIR)


@always_eventually(leaders.a_leader_is_followed_by_all.sentence, fair=FAIR)
def a_leader_is_followed_by_all(now):
    return is_led_so(now, lambda b: every(BROKERS, lambda other: any_of(
        other == b, not_(now.up.has(other)), follows_now(now, other))))


@always_eventually(records.produced_records_are_committed.sentence, fair=FAIR)
def produced_records_are_committed(now):
    return is_led_so(now, lambda b: any_of(
        now.replica[b].hw == now.log[b].end,
        some(BROKERS, lambda m: all_of(now.replica[b].isr.has(m), not_(now.up.has(m))))))


@always_eventually(isr.the_isr_recovers.sentence, fair=FAIR)
def the_isr_recovers(now):
    return is_led_so(now, lambda b: any_of(
        every(BROKERS, lambda m: implies(now.up.has(m), now.zk.isr.has(m))),
        all_of(now.isr_write[b].state == "none", now.replica[b].zk_version != now.zk.version)))


CLAIMS = (a_leader_is_followed_by_all, produced_records_are_committed, the_isr_recovers)


def leaves_two_epochs(now, **others):
    """One for the removal of a dead leader, one for the election of the next."""
    return all_of(now.zk.leader_epoch + 2 < limit("epoch"), leaves_versions(now))


def leaves_versions(now, **others):
    return now.zk.version + 3 < limit("versions")


LEFT_OVER = {
    "controller_elects_leader": leaves_two_epochs,
    "controller_removes_replica": leaves_two_epochs,
    "leader_expands_isr": leaves_versions,
    "leader_shrinks_isr": leaves_versions,
    "broker_becomes_controller": lambda now, broker: now.zk.epoch + 1 < limit("controllers"),
    # These two bound nothing: with them there would be too many states.
    "session_expires": lambda now, broker: not_(now.up.has(broker)),
    "controller_node_is_deleted": lambda now: now.faults_ended,
}

SYSTEM = after_faults(REPLICATION, FAULTS, CLAIMS, left_over=LEFT_OVER)

BOUNDS = {"brokers": 2, "log": 1, "records": 1, "epoch": 3, "controllers": 2, "versions": 6}
"""Crashes and lost messages without a bound, as long as faults last."""

"""The controller's event queue: first come, first served, and read when it is handled."""

from __future__ import annotations

from specs.story import parse, play

OPENING = "system cluster version 2.3 brokers {} partitions 1 replicas 2\n"
BECOMES_CONTROLLER = """\
quietly broker_becomes_controller broker=1
quietly broker_learns_it_won broker=1
quietly controller_reads_context broker=1
quietly controller_sends_initial_update_metadata broker=1
quietly controller_starts_replica_state_machine broker=1
quietly controller_sends_election_batch broker=1
quietly controller_finds_no_request broker=1
"""


def played(lines: str, brokers: int = 2) -> str:
    """What the lines tell after broker 1 has become controller."""
    outcome = play(parse(f"{OPENING.format(brokers)}{BECOMES_CONTROLLER}{lines}----\n"))
    assert outcome.failed is None, outcome.failed
    return "\n".join(outcome.lines[0])


def test_an_event_waits_for_those_before_it():
    lines = played("""\
quietly broker_asks_for_controlled_shutdown broker=1
quietly session_expires broker=2
quietly shutdown_request_arrives broker=1 subject=1
refused controller_begins_controlled_shutdown broker=1 subject=1
show cache[1].events
""")

    assert "a ControlledShutdown of the broker is next in its queue — false" in lines
    assert "[kind broker_change subject none, kind controlled_shutdown subject 1]" in lines


def test_two_changes_are_one_event_until_it_is_handled():
    lines = played("""\
quietly session_expires broker=2
quietly broker_reconnects broker=2
show cache[1].events
controller_sees_bounced_brokers broker=1
""")

    assert "cache[1].events: [kind broker_change subject none]\n" in lines
    assert "cache[1].events: [kind broker_change subject none] → []" in lines


def test_an_event_finds_what_is_there_when_it_is_handled_and_that_may_be_nothing():
    lines = played("""\
quietly session_expires broker=2
quietly controller_sees_dead_brokers broker=1
quietly broker_reconnects broker=2
quietly session_expires broker=2
refused controller_finds_brokers_unchanged broker=1
quietly controller_reads_state broker=1 partition=0
quietly controller_removes_replica broker=1 replica=2 partition=0
quietly controller_sends_removal_batch broker=1
quietly controller_sends_update_metadata_for_dead_brokers broker=1
controller_finds_brokers_unchanged broker=1
""")

    assert lines.count("a BrokerChange is next in its queue, or is worked on — false") == 1
    assert lines.endswith("cache[1].events: [kind broker_change subject none] → []")


def test_a_change_after_the_handler_has_read_is_another_event():
    lines = played("""\
quietly session_expires broker=2
quietly controller_sees_dead_brokers broker=1
broker_reconnects broker=2
""")

    assert "cache[1].events: [] → [kind broker_change subject none]" in lines


def test_a_session_that_expires_takes_the_events_of_its_watches_with_it():
    lines = played("""\
quietly session_expires broker=2
quietly session_expires broker=1
refused controller_sees_dead_brokers broker=1
broker_reconnects broker=1
""")

    assert "it has a ZooKeeper session — false" in lines
    assert "cache[1].events: [kind broker_change subject none] → []" in lines


def test_one_event_takes_up_who_is_new_who_bounced_and_who_died_and_nothing_in_between():
    lines = played(
        """\
quietly session_expires broker=2
quietly controller_sees_dead_brokers broker=1
quietly controller_reads_state broker=1 partition=0
quietly controller_removes_replica broker=1 replica=2 partition=0
quietly controller_sends_removal_batch broker=1
quietly controller_sends_update_metadata_for_dead_brokers broker=1
quietly session_expires broker=3
quietly broker_reconnects broker=2
refused controller_sees_dead_brokers broker=1
quietly controller_sees_new_brokers broker=1
quietly controller_sends_update_metadata_for_new_brokers broker=1
quietly admin_asks_for_preferred_leaders
quietly controller_brings_replicas_online broker=1
controller_sends_election_batch broker=1
refused controller_begins_preferred_election broker=1
controller_sees_dead_brokers broker=1
""",
        brokers=3,
    )

    assert "no registered broker is new to it — false" in lines
    assert "cache[1].stage: electing → comparing" in lines
    assert "or its failover is over but for this — false" in lines
    assert "cache[1].stage: comparing → removing_followers" in lines


def test_a_request_that_a_new_controller_finds_is_the_last_part_of_its_failover():
    lines = played("""\
quietly admin_asks_for_preferred_leaders
quietly controller_node_is_deleted
quietly broker_becomes_controller broker=2
quietly broker_learns_it_won broker=2
quietly controller_reads_context broker=2
quietly controller_sends_initial_update_metadata broker=2
quietly controller_starts_replica_state_machine broker=2
controller_sends_election_batch broker=2
quietly rebalance_timer_fires broker=2
refused controller_finds_no_imbalance broker=2
controller_begins_preferred_election broker=2
""")

    assert "cache[2].stage: onlining → looking" in lines
    assert "its event thread is done with the last event — false" in lines
    assert "cache[2].stage: looking → preferring" in lines


def test_a_request_of_the_last_registration_is_refused_by_who_has_read_the_new_one():
    lines = played("""\
quietly broker_asks_for_controlled_shutdown broker=2
quietly session_expires broker=2
quietly controller_sees_dead_brokers broker=1
quietly broker_reconnects broker=2
quietly controller_reads_state broker=1 partition=0
quietly controller_removes_replica broker=1 replica=2 partition=0
quietly controller_sends_removal_batch broker=1
quietly controller_sends_update_metadata_for_dead_brokers broker=1
quietly controller_sees_new_brokers broker=1
quietly shutdown_request_arrives broker=1 subject=2
quietly controller_sends_update_metadata_for_new_brokers broker=1
quietly controller_brings_replicas_online broker=1
quietly controller_sends_election_batch broker=1
refused controller_begins_controlled_shutdown broker=1 subject=2
controller_refuses_controlled_shutdown broker=1 subject=2
""")

    assert "the controller counts the sender as live — false" in lines
    assert "former: {2} → {}" in lines


def test_a_registration_that_was_read_for_another_event_is_watched_from_then_on():
    lines = played("""\
quietly broker_changes_endpoints broker=2
quietly session_expires broker=2
quietly broker_reconnects broker=2
quietly broker_changes_endpoints broker=2
show cache[1].events
quietly controller_reads_endpoints broker=1 subject=2
quietly broker_changes_endpoints broker=2
show cache[1].events
""")

    assert "[kind broker_modification subject 2, kind broker_change subject none]\n" in lines
    assert lines.endswith("[kind broker_change subject none, kind broker_modification subject 2]")

"""Faults planted in `replication` as brokers of 2.7 speak it, and what its refinement makes of each."""

# The text that is changed stands here as it stands there, however long its lines are.
# ruff: noqa: E501

from __future__ import annotations

from tests.proofs.planted import FaultInProof


def of_2_7(
    name: str, what: str, *changes: tuple[str, str], file: str = "alter_isr"
) -> FaultInProof:
    return FaultInProof(name, what, file, changes, since_2_7=True)


FAULTS: tuple[FaultInProof, ...] = (
    # -- whom a leader counts on
    of_2_7("counts_on_the_isr_it_has", "a leader commits without whom it asked for", (
        "return any_of(isr.has(member), write.isr.has(member))", "return isr.has(member)"),
        file="fetching"),
    of_2_7("counts_on_the_isr_it_wants", "a leader commits without whom it asked to drop", (
        "return any_of(isr.has(member), write.isr.has(member))",
        'return when(write.state == "none", isr, write.isr).has(member)'), file="fetching"),
    of_2_7("asks_twice", "a leader asks for another ISR while one is asked for", (
        '''    require(now.isr_write[leader].state == "none",        "no other ISR is asked for")
''', "")),
    of_2_7("asks_when_deposed", "who leads no more asks for an ISR", (
        '''    require(now.replica[leader].role == "leader",         "the broker believes it leads")
''', "")),
    of_2_7("refusal_frees", "who is refused forgets what it asked for", (
        'when(\n        leader_awaits_answer(now, leader), asked.but(state="refused", version=0), BLANK)', "BLANK")),
    of_2_7("refused_isr_is_taken", "who is refused counts on what it asked for", (
        '    require(now.isr_write[leader].state == "applied",      "its write was applied")\n\n    adopt_written_isr(',
        '    require(any_of(now.isr_write[leader].state == "applied", now.isr_write[leader].state == "refused"), "it is answered")\n\n    adopt_written_isr('),
        ("import BLANK, all_of, not_,", "import BLANK, all_of, any_of, not_,"), file="isr"),
    # -- the controller
    of_2_7("writes_by_any_version", "the controller does not look at the version", (
        "    require_cached_version(asked.version, now.zk.version)\n", "")),
    of_2_7("deposed_controller_writes", "the write is not fenced by the controller's epoch", (
        "    require_fence(now, controller)\n", "")),
    of_2_7("writes_its_own_epoch", "the controller writes the registered leader epoch", (
        "    new.zk.leader_epoch   = asked.epoch\n", "    new.zk.leader_epoch   = now.zk.leader_epoch\n")),
    of_2_7("makes_the_asker_lead", "the write makes a new leader epoch", (
        "    new.zk.leader_epoch   = asked.epoch\n", "    new.zk.leader_epoch   = asked.epoch + 1\n")),
    of_2_7("writes_the_isr_without_it", "what is written lacks the leader", (
        "    new.zk.isr            = asked.isr\n", "    new.zk.isr            = asked.isr.without(leader)\n")),
    of_2_7("answers_the_version_before", "the controller answers the version that it wrote over", (
        "state=\"applied\", state_epoch=now.belief[controller], version=now.zk.version + 1)",
        "state=\"applied\", state_epoch=now.belief[controller], version=now.zk.version)")),
    of_2_7("answers_the_dead", "what the dead asked for is answered to who comes after", (
        "when(leader_awaits_answer(now, leader), asked.but(\n        state=\"applied\", state_epoch=now.belief[controller], version=now.zk.version + 1), BLANK)",
        "asked.but(state=\"applied\", state_epoch=now.belief[controller], version=now.zk.version + 1)")),
    of_2_7("finds_it_in_another_epoch", "the state is found as asked in whatever epoch", (
        '    require(zk.leader_epoch == asked.epoch,               "in the epoch in which it asked")\n', "")),
    of_2_7("finds_another_isr", "the state is found as asked whatever ISR it has", (
        '    require(zk.isr == asked.isr,                          "the registered ISR is the requested one")\n', "")),
    of_2_7("finds_another_leader", "the state is found as asked whoever leads", (
        '    require(zk.leader == leader,                          "it is the registered leader")\n', "")),
    # -- what is under way, and what ends it
    of_2_7("asks_again_by_the_new_version", "who asks again names the version that was answered", (
        "state=\"asked\", state_epoch=0, version=now.replica[leader].zk_version)",
        "state=\"asked\", state_epoch=0, version=now.isr_write[leader].version)")),
    of_2_7("asks_nothing_again", "a leader whose answer is lost goes on with its old ISR", (
        '''    new.isr_write[leader] = now.isr_write[leader].but(
        state="asked", state_epoch=0, version=now.replica[leader].zk_version)
''', "    new.isr_write[leader] = BLANK\n")),
    of_2_7("leader_and_isr_voids_nothing", "a request outlives the LeaderAndIsr of a newer epoch", (
        '    new.isr_write[given["broker"]] = BLANK\n', "    pass\n")),
    of_2_7("new_process_has_the_request", "the controller heeds what was asked under an older "
           "registration, though it has notified the next", (
        "    new.isr_write[replica] = when(is_new, BLANK, now.isr_write[replica])\n", "    pass\n")),
    of_2_7("request_dies_with_its_process", "what the dead asked for is never written", (
        'asked=when(asked.state == "asked", asked, BLANK))', "asked=BLANK)")),
    of_2_7("answer_outlives_its_process", "the answer reaches the next process", (
        'asked=when(asked.state == "asked", asked, BLANK))', "asked=asked)")),
    of_2_7("joins_however_far", "a follower is taken in however far it is", (
        "    require_may_rejoin_isr(now, leader, replica)\n", "")),
    of_2_7("restart_drops_no_request", "requests outlive a restart", (
        "    new.replica[broker].hw = smaller(mine.checkpoint, now.log[broker].end)\n    discard_requests(now, new, broker)\n",
        "    new.replica[broker].hw = smaller(mine.checkpoint, now.log[broker].end)\n"), file="lifecycle"),
)  # fmt: skip

NOTICED: dict[str, tuple[str, str]] = {
    "counts_on_the_isr_it_has": ('leader_advances_hw', 'leader_advances_hw: every other member of either ISR is known to have them'),
    "counts_on_the_isr_it_wants": ('leader_advances_hw', 'leader_advances_hw: every other member of either ISR is known to have them'),
    "asks_twice": ('leader_asks_to_expand_isr', 'leader_expands_isr: none of its ISR writes is under way'),
    "asks_when_deposed": ('leader_asks_to_shrink_isr', 'leader_shrinks_isr: the broker believes it leads'),
    "refusal_frees": ('controller_refuses_isr', 'isr_requests_are_in_the_same_phase'),
    "refused_isr_is_taken": ('leader_learns_isr_is_written', 'leaders_know_start_and_version'),
    "writes_by_any_version": ('controller_writes_isr', 'the_registered_state_is_the_same'),
    "makes_the_asker_lead": ('controller_writes_isr', 'the_registered_state_is_the_same'),
    "writes_the_isr_without_it": ('controller_writes_isr', 'the_registered_isr_is_the_same'),
    "answers_the_version_before": ('controller_writes_isr', 'isr_requests_are_in_the_same_phase'),
    "answers_the_dead": ('controller_writes_isr', 'only_leaders_send_alter_isr'),
    "finds_it_in_another_epoch": ('controller_finds_isr_written', 'isr_requests_are_in_the_same_phase'),
    "asks_again_by_the_new_version": ('isr_answer_is_lost', 'isr_requests_are_in_the_same_phase'),
    "asks_nothing_again": ('isr_answer_is_lost', 'isr_requests_are_in_the_same_phase'),
    "leader_and_isr_voids_nothing": ('broker_becomes_leader', 'isr_requests_are_of_their_leaders'),
    "new_process_has_the_request": ('controller_issues_leader_and_isr', 'leader_and_isr_to_a_restarted_process_is_of_a_newer_epoch'),
    "answer_outlives_its_process": ('broker_crashes', 'only_leaders_send_alter_isr'),
    "joins_however_far": ('leader_asks_to_expand_isr', 'leader_expands_isr: the follower has reached the HW'),
    "restart_drops_no_request": ('broker_starts', 'leader_and_isr_to_a_restarted_process_is_of_a_newer_epoch'),
}  # fmt: skip
"""Fault -> a step, and an obligation of it that is open then."""

HARMLESS: dict[str, str] = {
    "deposed_controller_writes": "the version check alone keeps a deposed controller's write out",
    "writes_its_own_epoch": "a current version is of the registered epoch",
    "finds_another_isr": "by an old version, in its own epoch, the registered state is what its "
                         "leader asked for",
    "finds_another_leader": "an epoch has one leader",
    "request_dies_with_its_process": "an AlterIsr may be late for ever",
}  # fmt: skip
"""Fault -> why the refinement is proved all the same."""

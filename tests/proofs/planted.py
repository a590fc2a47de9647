"""Faults planted in the text of `replication`, and what the refinement proof makes of each.

A fault is a change of the source of one file of `model/replication`. The refinement proof notices it where an
obligation of the refinement is open that is proved without it; or it is harmless: all of them are
proved, so that `replication` with the fault in it still refines the proof's form.
"""

# The text that is changed stands here as it stands there, however long its lines are.
# ruff: noqa: E501

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass, replace

from model.language import System
from model.language.recording import Transition
from model.replication import SYSTEM
from model.replication.alter_isr import SYSTEM as SINCE_2_7


@dataclass(frozen=True)
class FaultInProof:
    """What is wrong, in a sentence; in which file; and the text that is changed.

    `by_issue`: one of those that the refinement did not notice when it was checked on graphs of two brokers and
    one record alone. `since_2_7`: in `replication` as brokers of 2.7 speak it.
    """

    name: str
    what: str
    file: str
    changes: tuple[tuple[str, str], ...]
    by_issue: bool = False
    since_2_7: bool = False

    @property
    def system(self) -> System:
        """`replication` with the fault; the text that is changed must stand there once."""
        module = importlib.import_module(f"model.replication.{self.file}")
        source = inspect.getsource(module)
        for old, new in self.changes:
            assert source.count(old) == 1, (self.name, source.count(old), old)
            source = source.replace(old, new)
        names: dict[str, object] = {"__name__": module.__name__}
        exec(compile(source, f"<{self.name}>", "exec"), names)
        changed = {
            value.name: value
            for key, value in names.items()
            if isinstance(value, Transition) and value is not vars(module)[key]
            and value.function.__module__ == module.__name__
        }  # fmt: skip
        if self.file == "alter_isr":  # it makes the system itself
            made = names["SYSTEM"]
            assert isinstance(made, System)
            return made
        own = SINCE_2_7 if self.since_2_7 else SYSTEM
        return replace(own, transitions=tuple(
            changed.get(one.name, one) if one.function.__module__ == module.__name__ else one
            for one in own.transitions
        ))  # fmt: skip


FAULTS: tuple[FaultInProof, ...] = (
    # -- records and high watermarks
    FaultInProof("hw_follows_one", "the high watermark follows one other member", "fetching", ((
        """lambda end: some(BROKERS, lambda member: all_of(
        counts(now, broker, member), known_end(now, broker, member) == end)), otherwise=0)""",
        """lambda end: every(BROKERS, lambda member: implies(
        all_of(counts(now, broker, member), member != broker),
        known_end(now, broker, member) <= end)), otherwise=0)"""),), by_issue=True),
    FaultInProof("hw_ignores_unknown", "members whose end is unknown do not hold the high watermark back",
          "fetching", ((
              """    require(every(BROKERS, lambda member: implies(
        counts(now, broker, member), known_end(now, broker, member) >= 0)),
                                                          "it knows the end of every ISR member")
""", ""),)),
    FaultInProof("hw_falls", "a leader's high watermark moves to the least end, also if that is lower",
          "fetching", (("require(slowest > mine.hw, ", "require(slowest != mine.hw, "),)),
    FaultInProof("hw_during_write", "the high watermark moves while an ISR write is under way",
          "fetching", ((
              """        require(is_unlocked(now, broker), "none of its ISR writes waits for an answer")
    require(every(""", """        pass
    require(every("""),)),
    FaultInProof("hw_by_registered_isr", "the leader counts on the ISR in ZooKeeper, not on its own",
          "fetching", (("    return isr.has(member)\n", "    return now.zk.isr.has(member)\n"),)),
    FaultInProof("hw_beyond_log", "a follower keeps a high watermark beyond its log", "fetching", ((
        "hw=smaller(slot.hw, when(slot.has_record, longer.end, log.end)))",
        "hw=slot.hw)"),), by_issue=True),
    FaultInProof("hw_sent_is_end", "the leader tells the end of its log as its high watermark",
          "fetching", (("        hw=now.replica[leader].hw)\n    new.known_end",
                        "        hw=log.end)\n    new.known_end"),)),
    FaultInProof("end_is_taken_for_known", "a leader takes a fetcher for caught up", "fetching", ((
        "    new.known_end[leader][follower] = slot.offset\n",
        "    new.known_end[leader][follower] = log.end\n"),)),
    FaultInProof("refused_fetch_counts", "a fetch that is refused tells the leader how far the follower is",
          "fetching", ((
              """(now, follower, leader)),       "it cannot serve the request")
""", """(now, follower, leader)),       "it cannot serve the request")

    new.known_end[leader][follower] = now.fetch[follower][leader].offset
"""),)),
    FaultInProof("fetch_of_any_epoch", "a leader answers fetches of any epoch", "fetching", ((
        """    require(leads_as_asked(now, follower, leader),        "it leads in the epoch of the request")
    require(slot.offset""",
        """    require(now.replica[leader].role == "leader",         "it leads in the epoch of the request")
    require(slot.offset"""),)),
    FaultInProof("fetch_beyond_end", "a fetch beyond the leader's end is answered", "fetching", ((
        """"it leads in the epoch of the request")
    require(slot.offset <= now.log[leader].end,           "the offset is not beyond its log")
""", """"it leads in the epoch of the request")
"""),)),
    FaultInProof("late_data_appended", "data of an older epoch is appended", "fetching", ((
        """    require(still_follows(now, follower, leader),         "it still follows that leader and epoch")
    require(not_(mine.truncating),                        "it knows that its log fits the leader's")
    require(slot.offset == log.end""",
        """    require(mine.role == "follower",                      "it still follows that leader and epoch")
    require(not_(mine.truncating),                        "it knows that its log fits the leader's")
    require(slot.offset == log.end"""),)),
    FaultInProof("data_appended_anywhere", "data is appended wherever the log ends", "fetching", ((
        """    require(slot.offset == log.end,                       "the answer is for the end of its log")
""", ""),)),
    FaultInProof("appends_before_cut", "a follower appends before it has cut its log", "fetching", ((
        """    require(not_(mine.truncating),                        "it knows that its log fits the leader's")
    require(slot.offset == log.end""", """    require(slot.offset == log.end"""),)),
    FaultInProof("asks_before_cut", "a follower fetches before it has cut its log", "fetching", ((
        """    require(not_(mine.truncating),                        "it knows that its log fits the leader's")
    require(now.fetch[broker]""", """    require(now.fetch[broker]"""),)),
    FaultInProof("late_fetch_stays", "an answer that comes too late is waited for still", "fetching", ((
        """    require(not_(still_fits(now, follower, leader)),      "it no longer waits for this answer")

    new.fetch[follower][leader] = BLANK
""", """    require(not_(still_fits(now, follower, leader)),      "it no longer waits for this answer")

    new.fetch[follower][leader].epoch = now.replica[follower].epoch
"""),)),
    FaultInProof("epoch_of_data_lost", "a follower writes its own epoch into what it copies", "fetching", ((
        "longer = log.append(id=slot.id, epoch=slot.record_epoch)",
        "longer = log.append(id=slot.id, epoch=mine.epoch)"),)),
    # -- producers
    FaultInProof("appends_newest_epoch", "a leader appends under the registered epoch, not its own",
          "clients", (("append(id=now.next_record, epoch=mine.epoch)",
                        "append(id=now.next_record, epoch=now.zk.leader_epoch)"),)),
    FaultInProof("appends_if_deposed", "a follower takes records of producers", "clients", ((
        """def leader_appends(now, new, broker):
    \"\"\"A record is appended by a broker that believes it leads; its producer asked for acks=0 or 1.

    With acks=0 nobody waits for an answer: such a record is never acknowledged.
    \"\"\"
    require(now.replica[broker].role == "leader", """,
        """def leader_appends(now, new, broker):
    \"\"\"A record is appended by a broker that believes it leads; its producer asked for acks=0 or 1.

    With acks=0 nobody waits for an answer: such a record is never acknowledged.
    \"\"\"
    require(now.replica[broker].role != "none", """),)),
    # -- ISR writes
    FaultInProof("refusal_is_success", "a refused expansion is taken as written", "isr", ((
        """"the registered state is another write")

    continue_without_write(now, new, leader)
""", """"the registered state is another write")

    adopt_written_isr(now, new, leader, now.zk.version)
"""),), by_issue=True),
    FaultInProof("refused_isr_kept", "the ISR of a refused expansion is counted on, without its version",
          "isr", ((
              """"the registered state is another write")

    continue_without_write(now, new, leader)
""", """"the registered state is another write")

    new.replica[leader].isr = now.isr_write[leader].isr
    new.isr_write[leader]   = BLANK
"""),)),
    FaultInProof("joins_below_hw", "a follower joins the ISR below the high watermark", "isr", ((
        """    require(known_end(now, leader, replica) >= mine.hw,   "the replica has reached the HW")
""", """    require(known_end(now, leader, replica) >= 0,         "the replica has reached the HW")
"""),)),
    FaultInProof("shrinks_itself", "a leader may drop itself from its ISR", "isr", ((
        """    require_member(leader, replica, mine.isr)
""", """    require(mine.isr.has(replica), "the replica is in the leader's ISR")
"""),)),
    FaultInProof("shrinks_anybody", "a leader drops members that are caught up", "isr", ((
        """    require(known_end(now, leader, replica) != now.log[leader].end,
                                                     "the replica is not known to be caught up")
""", ""),)),
    FaultInProof("takes_registered_isr", "a leader reads the registered version before each ISR write",
          "isr", ((
              """    if version.isr_write_conditional:
        require_cached_version(now.replica[leader].zk_version, now.zk.version)
""", ""),)),
    FaultInProof("version_not_learned", "a leader keeps its old version after an ISR write", "isr", ((
        "    new.replica[leader].zk_version = state_version\n", ""),)),
    FaultInProof("isr_not_learned", "a leader keeps its old ISR after an ISR write", "isr", ((
        "        new.replica[leader].isr    = isr\n    else:", "        pass\n    else:"),)),
    FaultInProof("reads_back_isr_only", "what is read back is compared by the ISR alone", "isr", ((
        """        zk.leader == leader, zk.leader_epoch == now.replica[leader].epoch, zk.isr == write.isr)
    if version.isr_writes_name_newest:
        return all_of(its, zk.state_epoch == write.state_epoch)
    return its""", """        zk.isr == write.isr)
    return its"""),)),
    FaultInProof("reads_back_no_controller", "what is read back is compared without the controller epoch",
          "isr", (("        return all_of(its, zk.state_epoch == write.state_epoch)\n",
                   "        return its\n"),)),
    FaultInProof("two_writes_at_once", "a leader sends an ISR write before the last one is answered",
          "isr", ((
              """    require(is_unlocked(now, leader), "none of its ISR writes waits for an answer")


def require_laggard""", """

def require_laggard"""),)),
    # -- orders
    FaultInProof("ends_survive_election", "a new leader keeps what it knew of the others' ends", "leader_and_isr",
          (("""    if version.follower_ends_reset_on_election:
        new.known_end[broker] = lam(BROKERS, lambda other: None)
""", """    if version.follower_ends_reset_on_election:
        pass
"""),)),
    FaultInProof("epoch_starts_at_hw", "a new leader takes its high watermark for its epoch's start",
          "leader_and_isr", (("controller_epoch=controller, epoch_start=end, truncating=False",
                      "controller_epoch=controller, epoch_start=mine.hw, truncating=False"),)),
    FaultInProof("anybody_leads", "whoever is sent an epoch leads it", "leader_and_isr", ((
        """    require_to_lead(broker, now.elected[epoch])
""", ""),)),
    FaultInProof("old_isr_taken", "a new leader takes the ISR of ZooKeeper, not of its request", "leader_and_isr",
          (('role="leader", leader=broker, epoch=epoch, isr=request.isr,',
            'role="leader", leader=broker, epoch=epoch, isr=now.zk.isr,'),)),
    FaultInProof("never_cuts", "a new follower fetches at once, and cuts nothing", "leader_and_isr", ((
        "truncating=log.end > 0 if version.empty_logs_fetch else not_(is_none(mine.latest_epoch)))",
        "truncating=False)"),)),
    FaultInProof("follower_keeps_isr", "a follower keeps the ISR that it had as a leader", "leader_and_isr", ((
        'role="follower", leader=now.elected[epoch], epoch=epoch, isr=[], epoch_start=0,',
        'role="follower", leader=now.elected[epoch], epoch=epoch, epoch_start=0,'),)),
    FaultInProof("leaderless_ends_leadership", "a request without a leader takes the role away", "leader_and_isr", ((
        """    new.request[epoch][controller][broker]  = BLANK
    new.replica[broker].controller_epoch    = controller


@transition(ends="refused", broker=BROKERS, epoch=ELECTED, controller=CONTROLLERS)
def older_controller""", """    new.request[epoch][controller][broker]  = BLANK
    new.replica[broker].role                = "none"
    new.replica[broker].controller_epoch    = controller


@transition(ends="refused", broker=BROKERS, epoch=ELECTED, controller=CONTROLLERS)
def older_controller"""),)),
    FaultInProof("older_controller_obeyed", "a request of an older controller is obeyed", "leader_and_isr", ((
        """    require_current_controller(controller, now.replica[broker].controller_epoch)
    if version""", """    if version"""),)),
    FaultInProof("refused_epoch_taken", "a request that is refused moves the leader epoch", "leader_and_isr", ((
        """    require_known_epoch(epoch, now.replica[broker].epoch)

    new.request[epoch][controller][broker]  = BLANK
""", """    require_known_epoch(epoch, now.replica[broker].epoch)

    new.replica[broker].epoch               = epoch
    new.request[epoch][controller][broker]  = BLANK
"""),)),
    # -- where to cut
    FaultInProof("late_answer_cuts", "a late epoch answer cuts everything", "truncation", ((
        """                                                          "it no longer waits for this answer")

    new.fetch[follower][leader] = BLANK""",
        """                                                          "it no longer waits for this answer")

    new.log[follower] = now.log[follower].cut(0)
    new.fetch[follower][leader] = BLANK"""),), by_issue=True),
    FaultInProof("late_answer_taken", "an answer of an older epoch says where to cut", "truncation", ((
        """    require(still_follows(now, follower, leader),         "it still follows that leader and epoch")
""", """    require(now.replica[follower].role == "follower",     "it still follows that leader and epoch")
"""),)),
    FaultInProof("answer_is_the_end", "a leader answers with the end of its log", "truncation", ((
        "answer_end=when(unknown, None, end))",
        "answer_end=when(unknown, None, log.end))"),)),
    FaultInProof("epoch_of_question", "a leader answers with the epoch that it was asked for",
          "truncation", ((
              "else when(unknown, None, epoch),", "else when(unknown, None, asked),"),)),
    FaultInProof("always_done", "a follower never asks twice where to cut", "truncation", ((
        "again   = not_(any_of(is_none(end), not_(foreign), cut == 0))",
        "again   = not_(any_of(is_none(end), cut >= 0))"),)),
    FaultInProof("foreign_cut_to_hw", "a follower cuts to its high watermark if the answer is of an epoch foreign to it",
          "truncation", (("when(foreign, known_end, agreed)))", "when(foreign, mine.hw, agreed)))"),)),
    FaultInProof("cuts_by_own_end", "a follower cuts by its own end of the epoch alone", "truncation", ((
        "agreed  = when(epoch > mine.latest_epoch, end, smaller(known_end, end))",
        "agreed  = when(epoch > mine.latest_epoch, end, known_end)"),)),
    FaultInProof("hw_not_cut", "a cut leaves the high watermark where it was", "truncation", ((
        "hw=smaller(mine.hw, cut), truncating=again", "truncating=again"),)),
    FaultInProof("epoch_cache_not_cut", "a cut leaves the epoch cache as it was", "truncation", ((
        "truncating=again, latest_epoch=epoch_at(log, cut))", "truncating=again)"),)),
    FaultInProof("answer_of_another_epoch", "a leader of another epoch answers where to cut",
          "truncation", ((
              """    require(leads_as_asked(now, follower, leader),        "it leads in the epoch of the request")

    asked""", """    require(now.replica[leader].role == "leader",         "it leads in the epoch of the request")

    asked"""),)),
    # -- lifecycle
    FaultInProof("requests_outlive_restart", "requests outlive a restart", "lifecycle", ((
        """    if not version.broker_epoch:
        return
    new.request""", """    return
    new.request"""),), by_issue=True),
    FaultInProof("answers_outlive_crash", "what a process had asked and was answered outlives it",
          "lifecycle", ((
              "any_of(follower == broker, all_of(\n            leader == broker, is_unanswered(now.fetch[follower][leader])))",
              "all_of(leader == broker, is_unanswered(now.fetch[follower][leader]))"),)),
    FaultInProof("questions_outlive_leader", "what a leader was asked before it crashed is answered after",
          "lifecycle", ((
              "any_of(follower == broker, all_of(\n            leader == broker, is_unanswered(now.fetch[follower][leader])))",
              "follower == broker"),)),
    FaultInProof("write_outlives_crash", "the answer to an ISR write reaches the next process",
          "lifecycle", (("    new.isr_write[broker] = asked\n    new.gave_up", "    new.gave_up"),)),
    FaultInProof("ends_outlive_crash", "what a leader knew of the others' ends outlives its process",
          "lifecycle", (("    new.known_end[broker] = lam(BROKERS, lambda other: None)\n", ""),)),
    FaultInProof("epoch_outlives_crash", "a process that starts knows the epoch that it had",
          "lifecycle", (("role=\"none\", leader=None, epoch=None, isr=[]",
                         "role=\"none\", leader=None, isr=[]"),)),
    FaultInProof("starts_at_log_end", "a process starts with its log's end as high watermark", "lifecycle",
          (("hw = smaller(mine.checkpoint, now.log[broker].end)", "hw = now.log[broker].end"),)),
    FaultInProof("starts_at_checkpoint", "a process starts with its checkpoint, however short its log is",
          "lifecycle", (("hw = smaller(mine.checkpoint, now.log[broker].end)",
                         "hw = mine.checkpoint"),)),
    FaultInProof("checkpoints_log_end", "the end of the log is checkpointed as high watermark",
          "lifecycle", (("    new.replica[broker].checkpoint = mine.hw\n",
                         "    new.replica[broker].checkpoint = now.log[broker].end\n"),)),
    FaultInProof("starts_while_registered", "a process starts while its old registration lasts",
          "lifecycle", ((
              """    start(now, new, broker)
    is_reached_no_longer(now, new, broker)

    mine = now.replica[broker]
""", """    require(not_(now.up.has(broker)), "the process does not run")

    mine = now.replica[broker]
    new.up            = now.up.including(broker)
    new.zk.registered = now.zk.registered.including(broker)
"""),)),
    # -- the controller
    FaultInProof("elects_anybody", "the controller elects a broker outside the ISR", "controller", ((
        """    require(eligible,                               "the candidate is in the ISR that it read")
""", ""),)),
    FaultInProof("keeps_the_dead", "an election keeps the dead in the ISR", "controller", ((
        "    isr = cache.isr.within(cache.live)\n", "    isr = cache.isr\n"),)),
    FaultInProof("forgets_the_leader", "an election leaves its leader out of the ISR", "controller", ((
        "    isr = cache.isr.within(cache.live)\n",
        "    isr = cache.isr.within(cache.live).without(leader)\n"),)),
    FaultInProof("adds_the_living", "an election takes all who live into the ISR", "controller", ((
        "    isr = cache.isr.within(cache.live)\n", "    isr = cache.live\n"),)),
    FaultInProof("elects_by_old_state", "an election does not check the version", "controller", ((
        """    require_state_as_read(now, broker)

    isr = cache.isr.within""", """
    isr = cache.isr.within"""),)),
    FaultInProof("removes_by_old_state", "a removal does not check the version", "controller", ((
        """    require_state_as_read(now, broker)

    isr = cache.isr.without""", """
    isr = cache.isr.without"""),)),
    FaultInProof("epoch_used_twice", "an election does not make a new leader epoch", "controller", ((
        "    epoch, version_after = now.zk.leader_epoch + 1, now.zk.version + 1\n",
        "    epoch, version_after = now.zk.leader_epoch, now.zk.version + 1\n"),)),
    FaultInProof("removed_leader_stays", "a leader that is removed from the ISR stays the leader",
          "controller", (("when(cache.leader == replica, None, cache.leader), isr,",
                          "cache.leader, isr,"),)),
    FaultInProof("isr_becomes_empty", "a removal takes the last member out of the ISR", "controller", ((
        "        isr = when(cache.isr.is_only(replica), cache.isr, isr)\n", "        pass\n"),)),
    FaultInProof("informs_of_all", "a broker that starts is sent that all are in the ISR", "controller", ((
        """        "in_flight": True, "isr": zk.isr, "version": zk.version}
""", """        "in_flight": True, "isr": zk.registered, "version": zk.version}
"""),)),
    FaultInProof("informs_of_what_was_read", "a broker that starts is sent what the controller had read",
          "controller", ((
              """        "in_flight": True, "isr": zk.isr, "version": zk.version}
""", """        "in_flight": True, "isr": now.cache[broker].isr, "version": zk.version}
"""),)),
    FaultInProof("deposed_writes", "a deposed controller's write is not fenced", "controller", ((
        """    require_candidate(now, broker, leader)
    require_fence(now, broker)
    require_state_as_read(now, broker)

    isr = cache.isr.within""", """    require_candidate(now, broker, leader)
    require_state_as_read(now, broker)

    isr = cache.isr.within"""),)),
    # -- ten more, of kinds that were not among them
    FaultInProof("end_is_one_too_far", "a leader takes a fetch for the word that its record has arrived", "fetching", ((
        "    new.known_end[leader][follower] = slot.offset\n",
        "    new.known_end[leader][follower] = smaller(slot.offset + 1, log.end)\n"),)),
    FaultInProof("sends_own_epoch", "a leader sends every record under its own epoch", "fetching", ((
        "        record_epoch=when(there, log[slot.offset].epoch, 0),\n",
        "        record_epoch=when(there, now.replica[leader].epoch, 0),\n"),)),
    FaultInProof("caches_own_epoch", "a follower caches its own epoch with a record that it copies", "fetching", ((
        "        latest_epoch=when(slot.has_record, slot.record_epoch, mine.latest_epoch),\n",
        "        latest_epoch=when(slot.has_record, mine.epoch, mine.latest_epoch),\n"),)),
    FaultInProof("hw_before_append", "a follower keeps its high watermark within the log before it appends", "fetching", ((
        "hw=smaller(slot.hw, when(slot.has_record, longer.end, log.end)))", "hw=smaller(slot.hw, log.end))"),)),
    FaultInProof("learns_registered_version", "a leader takes the registered version for that of its write", "isr", ((
        "    adopt_written_isr(now, new, leader, now.isr_write[leader].version)\n",
        "    adopt_written_isr(now, new, leader, now.zk.version)\n"),)),
    FaultInProof("shrinks_registered_isr", "a leader takes a member out of the registered ISR, not out of its own", "isr", ((
        "    write_isr(now, new, leader, now.replica[leader].isr.without(replica))\n",
        "    write_isr(now, new, leader, now.zk.isr.without(replica))\n"),)),
    FaultInProof("counts_on_the_smaller", "a leader that cannot tell counts on the smaller ISR", "isr", ((
        "when(mine.isr.is_subset_of(write.isr), write.isr, mine.isr)",
        "when(mine.isr.is_subset_of(write.isr), mine.isr, write.isr)"),)),
    FaultInProof("ends_survive_following", "a new follower keeps what it knew of the others' ends", "leader_and_isr", ((
        """    new.log[broker]       = cut
    new.known_end[broker] = lam(BROKERS, lambda other: None)
""", """    new.log[broker]       = cut
"""),)),
    FaultInProof("same_leader_is_trusted", "a follower of the same leader in a newer epoch does not ask again", "leader_and_isr", ((
        "truncating=log.end > 0 if version.empty_logs_fetch",
        "truncating=all_of(log.end > 0, mine.leader != now.elected[epoch]) if version.empty_logs_fetch"),)),
    FaultInProof("leads_with_hw_at_end", "a new leader takes its log's end for its high watermark", "leader_and_isr", ((
        "controller_epoch=controller, epoch_start=end, truncating=False,",
        "controller_epoch=controller, epoch_start=end, truncating=False, hw=end,"),)),
)  # fmt: skip

NOTICED: dict[str, tuple[str, str]] = {
    "hw_follows_one": ('leader_advances_hw', 'leader_advances_hw: every other ISR member is known to have them'),
    "hw_ignores_unknown": ('leader_advances_hw', 'leader_advances_hw: every other ISR member is known to have them'),
    "hw_falls": ('leader_advances_hw', 'high_watermarks_of_leaders_are_no_lower'),
    "hw_during_write": ('leader_advances_hw', 'leader_advances_hw: none of its ISR writes is under way'),
    "hw_by_registered_isr": ('leader_advances_hw', 'leader_advances_hw: every other ISR member is known to have them'),
    "hw_beyond_log": ('follower_appends', 'high_watermarks_are_no_higher'),
    "hw_sent_is_end": ('leader_answers_fetch', 'fetch_answers_were_sent'),
    "end_is_taken_for_known": ('leader_answers_fetch', 'leaders_know_the_same_ends'),
    "refused_fetch_counts": ('leader_refuses_fetch', 'leaders_know_the_same_ends'),
    "fetch_of_any_epoch": ('leader_answers_fetch', 'fetch_answers_were_sent'),
    "late_data_appended": ('follower_appends', 'logs_are_of_their_latest_epoch'),
    "data_appended_anywhere": ('follower_appends', 'latest_epochs_began'),
    "appends_before_cut": ('follower_appends', 'logs_are_of_their_latest_epoch'),
    "asks_before_cut": ('follower_sends_fetch', "follower_sends_fetch: the broker follows, and its log fits the leader's"),
    "late_fetch_stays": ('fetch_answer_is_ignored', 'fetches_were_sent'),
    "epoch_of_data_lost": ('follower_appends', 'logs_are_the_same'),
    "appends_newest_epoch": ('leader_appends', 'logs_are_the_same'),
    "appends_if_deposed": ('leader_appends', 'latest_epochs_began'),
    "refusal_is_success": ('leader_learns_isr_is_refused', 'leaders_know_start_and_version'),
    "refused_isr_kept": ('leader_learns_isr_is_refused', 'leaders_know_their_isr'),
    "joins_below_hw": ('leader_expands_isr', 'leader_expands_isr: the follower has reached the HW'),
    "takes_registered_isr": ('leader_shrinks_isr', 'the_registered_state_is_the_same'),
    "version_not_learned": ('leader_learns_isr_is_written', 'leaders_know_start_and_version'),
    "isr_not_learned": ('leader_learns_isr_is_written', 'leaders_know_their_isr'),
    "reads_back_isr_only": ('leader_finds_isr_written', 'leaders_know_start_and_version'),
    "two_writes_at_once": ('leader_shrink_is_refused', 'leader_shrinks_isr: none of its ISR writes is under way'),
    "ends_survive_election": ('broker_becomes_leader', 'leaders_know_the_same_ends'),
    "epoch_starts_at_hw": ('broker_becomes_leader', 'high_watermarks_of_leaders_are_no_lower'),
    "anybody_leads": ('broker_becomes_leader', 'leaders_know_start_and_version'),
    "old_isr_taken": ('broker_becomes_leader', 'leaders_know_their_isr'),
    "never_cuts": ('broker_becomes_follower', 'roles_are_the_same'),
    "leaderless_ends_leadership": ('leaderless_request_is_ignored', 'roles_are_the_same'),
    "refused_epoch_taken": ('older_epoch_is_refused', 'roles_are_the_same'),
    "late_answer_cuts": ('epoch_answer_is_ignored', 'log_ends_are_the_same'),
    "late_answer_taken": ('follower_truncates', 'log_ends_are_the_same'),
    "answer_is_the_end": ('leader_answers_epoch', 'leader_answers_truncation_offset: below it both logs are the same'),
    "epoch_of_question": ('leader_answers_epoch', 'leader_answers_truncation_offset: below it both logs are the same'),
    "always_done": ('leader_answers_epoch', "leader_answers_truncation_offset: the cut is in the leader's log"),
    "cuts_by_own_end": ('leader_answers_epoch', "leader_answers_truncation_offset: the cut is in the leader's log"),
    "answer_of_another_epoch": ('leader_answers_epoch', "leader_answers_truncation_offset: it leads in the follower's epoch"),
    "requests_outlive_restart": ('broker_crashes', 'requests_were_sent'),
    "answers_outlive_crash": ('broker_crashes', 'fetching_brokers_have_a_role'),
    "write_outlives_crash": ('broker_crashes', 'only_leaders_write'),
    "epoch_outlives_crash": ('broker_crashes', 'roles_are_the_same'),
    "starts_at_log_end": ('broker_starts', 'high_watermarks_are_no_higher'),
    "checkpoints_log_end": ('broker_checkpoints_hw', 'high_watermarks_are_no_higher'),
    "elects_anybody": ('controller_elects_leader', 'controller_elects_leader: the new leader is in the new ISR'),
    "forgets_the_leader": ('controller_elects_leader', 'controller_elects_leader: the new leader is in the new ISR'),
    "adds_the_living": ('controller_elects_leader', 'controller_elects_leader: the new ISR is part of the registered one'),
    "elects_by_old_state": ('controller_elects_leader', 'controller_elects_leader: the new ISR is part of the registered one'),
    "removes_by_old_state": ('controller_removes_replica', 'controller_writes_no_leader: the new ISR is part of the registered one'),
    "epoch_used_twice": ('controller_elects_leader', 'elected_leaders_are_the_same'),
    "removed_leader_stays": ('controller_removes_replica', 'controller_elects_leader: the new leader is in the new ISR'),
    "isr_becomes_empty": ('controller_removes_replica', 'controller_writes_no_leader: the ISR keeps a member'),
    "informs_of_all": ('controller_issues_leader_and_isr', 'requests_have_the_isr'),
    "informs_of_what_was_read": ('controller_issues_leader_and_isr', 'requests_have_the_isr'),
    "end_is_one_too_far": ('leader_answers_fetch', 'leaders_know_the_same_ends'),
    "sends_own_epoch": ('leader_answers_fetch', 'fetch_answers_were_sent'),
    "learns_registered_version": ('leader_learns_isr_is_written', 'leaders_know_start_and_version'),
    "counts_on_the_smaller": ('leader_learns_isr_is_refused', 'leaders_know_their_isr'),
    "same_leader_is_trusted": ('broker_becomes_follower', 'roles_are_the_same'),
    "leads_with_hw_at_end": ('broker_becomes_leader', 'high_watermarks_are_no_higher'),
    "foreign_cut_to_hw": ('leader_answers_epoch', 'leader_answers_truncation_offset: nothing is cut that both logs have'),
}  # fmt: skip
"""Fault -> a step, and an obligation of it that is open then."""

HARMLESS: dict[str, str] = {
    "fetch_beyond_end": "whoever fetches in the leader's epoch has a prefix of the leader's log",
    "shrinks_itself": "a leader is never behind its own end",
    "shrinks_anybody": "the proof's form lets a leader drop whom it likes",
    "reads_back_no_controller": "the registered state is the leader's own in its epoch",
    "follower_keeps_isr": "nobody but a leader uses an ISR",
    "older_controller_obeyed": "a request is obeyed by its leader epoch, whoever sent it",
    "hw_not_cut": "no answer cuts below the follower's high watermark "
                  "(high_watermarks_are_not_cut)",
    "epoch_cache_not_cut": "what is left of the log is of that epoch's history still",
    "questions_outlive_leader": "a leader that comes back in its epoch has the log that it had",
    "ends_outlive_crash": "whoever becomes leader forgets the others' ends",
    "starts_at_checkpoint": "a checkpoint is never beyond the end of the log",
    "starts_while_registered": "requests for the process that died are dropped at the start",
    "caches_own_epoch": "the newest epoch of a log only has to be one whose history it is",
    "hw_before_append": "a high watermark may always be lower",
    "shrinks_registered_isr": "while its version is current, its ISR is the registered one",
    "ends_survive_following": "whoever becomes leader forgets the others' ends",
    "keeps_the_dead": "the proof's form lets an election keep any of the ISR",
    "deposed_writes": "the version check alone keeps a deposed controller's election out; what is "
                      "assumed of elections is open then (elections_are_as_assumed)",
}  # fmt: skip
"""Fault -> why the refinement is proved all the same."""

SEEN_BEFORE = frozenset(
    {
        "hw_ignores_unknown",
        "hw_during_write",
        "hw_sent_is_end",
        "end_is_taken_for_known",
        "refused_fetch_counts",
        "fetch_of_any_epoch",
        "late_data_appended",
        "asks_before_cut",
        "late_fetch_stays",
        "epoch_of_data_lost",
        "appends_newest_epoch",
        "appends_if_deposed",
        "refusal_is_success",
        "refused_isr_kept",
        "joins_below_hw",
        "version_not_learned",
        "isr_not_learned",
        "two_writes_at_once",
        "ends_survive_election",
        "epoch_starts_at_hw",
        "anybody_leads",
        "never_cuts",
        "refused_epoch_taken",
        "cuts_by_own_end",
        "answer_of_another_epoch",
        "starts_at_log_end",
        "forgets_the_leader",
        "epoch_used_twice",
    }
)
"""What graphs of two brokers and one record noticed, which was all that there was before."""

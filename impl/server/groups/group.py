"""One group: its members, its generation, and its rebalances.

Nothing here waits or reads a clock: each call gets ``now`` (seconds), and a request that has to
wait gets a future, which is completed later. Source: GroupMetadata, GroupCoordinator, DelayedJoin,
InitialDelayedJoin (2.3); KIP-134 (the delay before the first round), KIP-394 (members get their id
before they join), KIP-345 (static members).
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import Enum

from impl.error_codes import NONE
from impl.server.groups.records import CommittedOffset, StoredGroup, StoredMember
from impl.znodes import TopicPartition

NEW_MEMBER_S = 300.0
"""A member that has just been let in has no id yet, and cannot send heartbeats."""

NO_GENERATION = -1


class GroupState(Enum):
    """A group's state by its name in tools; up to 1.0 CompletingRebalance is AwaitingSync."""

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


@dataclass(frozen=True)
class JoinResponse:
    """The response to JoinGroup; only the leader gets the members, with their metadata."""

    error: str
    member_id: str = ""
    generation: int = NO_GENERATION
    protocol: str = ""
    leader: str = ""
    members: tuple[tuple[str, str | None, bytes], ...] = ()


@dataclass(frozen=True)
class SyncResponse:
    """The response to SyncGroup: the member's assignment."""

    error: str
    assignment: bytes = b""


@dataclass(frozen=True)
class JoiningMember:
    """A JoinGroup request: ``protocols`` are the assignors that the member supports, the preferred
    first.
    """

    client_id: str
    client_host: str
    instance_id: str | None
    rebalance_ms: int
    session_ms: int
    protocol_type: str
    protocols: Mapping[str, bytes]


@dataclass
class GroupMember:
    """A member. ``joining`` and ``syncing`` are its pending requests."""

    member_id: str
    who: JoiningMember
    expires: float
    assignment: bytes = b""
    is_new: bool = True
    joining: Future[JoinResponse] | None = None
    syncing: Future[SyncResponse] | None = None

    def note_heartbeat(self, now: float) -> None:
        """Restart the member's session timeout."""
        self.expires = now + self.who.session_ms / 1000

    def answer_join(self, answer: JoinResponse) -> None:
        """Complete its pending request, if there is one."""
        if self.joining is not None:
            self.joining.set_result(answer)
            self.joining = None

    def answer_sync(self, answer: SyncResponse) -> None:
        """Complete its pending request, if there is one."""
        if self.syncing is not None:
            self.syncing.set_result(answer)
            self.syncing = None


@dataclass
class RebalanceRound:
    """A rebalance in progress: members rejoin until all have joined, or until ``deadline``.

    An empty group's first one waits for its delay, and longer while members join (KIP-134).
    """

    deadline: float
    initial: bool = False
    delay: float = 0.0
    remaining: float = 0.0


@dataclass
class Group:
    """A group. ``delay_s``: group.initial.rebalance.delay.ms."""

    name: str
    delay_s: float
    state: GroupState = GroupState.EMPTY
    generation: int = 0
    protocol_type: str = ""
    protocol: str | None = None
    leader: str | None = None
    members: dict[str, GroupMember] = field(default_factory=dict)
    static: dict[str, str] = field(default_factory=dict)
    pending: dict[str, float] = field(default_factory=dict)
    offsets: dict[TopicPartition, tuple[int, CommittedOffset]] = field(default_factory=dict)
    round: RebalanceRound | None = None
    new_member_added: bool = False
    to_store: bool = False
    """The generation that nobody is in has to be written."""

    # Who may do what

    def accepts(self, who: JoiningMember) -> bool:
        """Whether the protocol type matches, and all members support a common assignor."""
        if not who.protocol_type or not who.protocols:
            return False
        if self.state in (GroupState.EMPTY, GroupState.DEAD) or not self.members:
            return True
        return who.protocol_type == self.protocol_type and bool(self._common() & set(who.protocols))

    def _common(self) -> set[str]:
        known = [set(member.who.protocols) for member in self.members.values()]
        return set.intersection(*known) if known else set()

    def is_fenced(self, member_id: str, instance_id: str | None) -> bool:
        """Whether another process has taken the static member's place (KIP-345)."""
        return instance_id in self.static and self.static[instance_id] != member_id

    def error_of(self, member_id: str, instance_id: str | None, generation: int) -> str:
        """The error of a request in this generation, or NONE."""
        if self.state is GroupState.DEAD:
            return "COORDINATOR_NOT_AVAILABLE"
        if self.is_fenced(member_id, instance_id):
            return "FENCED_INSTANCE_ID"
        if member_id not in self.members:
            return "UNKNOWN_MEMBER_ID"
        return NONE if generation == self.generation else "ILLEGAL_GENERATION"

    # Joining

    def join_unknown(
        self, who: JoiningMember, ask_for_id: bool, now: float
    ) -> Future[JoinResponse]:
        """Join without a member id; ``ask_for_id``: the member gets an id and has to join again."""
        if self.state is GroupState.DEAD:
            return _answered(JoinResponse("COORDINATOR_NOT_AVAILABLE"))
        if not self.accepts(who):
            return _answered(JoinResponse("INCONSISTENT_GROUP_PROTOCOL"))
        new_id = f"{who.instance_id or who.client_id}-{uuid.uuid4()}"
        if who.instance_id in self.static:
            return self._replace(self.static[who.instance_id], new_id, who, now)
        if ask_for_id and who.instance_id is None:
            self.pending[new_id] = now + who.session_ms / 1000
            return _answered(JoinResponse("MEMBER_ID_REQUIRED", new_id))
        return self._add(new_id, who, now)

    def join(self, member_id: str, who: JoiningMember, now: float) -> Future[JoinResponse]:
        """Join, or rejoin."""
        if self.state is GroupState.DEAD:
            return _answered(JoinResponse("COORDINATOR_NOT_AVAILABLE", member_id))
        if not self.accepts(who):
            return _answered(JoinResponse("INCONSISTENT_GROUP_PROTOCOL", member_id))
        if member_id in self.pending and member_id not in self.members:
            return self._add(member_id, who, now)
        if self.is_fenced(member_id, who.instance_id):
            return _answered(JoinResponse("FENCED_INSTANCE_ID", member_id))
        unknown = who.instance_id is not None and who.instance_id not in self.static
        if member_id not in self.members or unknown or self.state is GroupState.EMPTY:
            return _answered(JoinResponse("UNKNOWN_MEMBER_ID", member_id))
        member = self.members[member_id]
        same = member.who.protocols == who.protocols
        if self.state is GroupState.COMPLETING and same:
            return _answered(self._joined(member))  # the first answer was lost
        if self.state is GroupState.STABLE and same and member_id != self.leader:
            return _answered(self._joined(member))
        member.who = who
        waiting = self._wait_for_round(member)
        self.prepare_round(now)
        self.maybe_complete_round(now)
        return waiting

    def _add(self, member_id: str, who: JoiningMember, now: float) -> Future[JoinResponse]:
        self.pending.pop(member_id, None)
        self.protocol_type = who.protocol_type
        member = GroupMember(member_id, who, now + NEW_MEMBER_S)
        if self.state is GroupState.PREPARING and self.generation == 0:
            self.new_member_added = True
        self.members[member_id] = member
        self.leader = self.leader or member_id
        if who.instance_id is not None:
            self.static[who.instance_id] = member_id
        waiting = self._wait_for_round(member)
        self.prepare_round(now)
        self.maybe_complete_round(now)
        return waiting

    def _replace(
        self, old_id: str, new_id: str, who: JoiningMember, now: float
    ) -> Future[JoinResponse]:
        """A static member is back in another process: it has its place, and its id is another."""
        member = self.members.pop(old_id)
        member.answer_join(JoinResponse("FENCED_INSTANCE_ID", old_id))
        member.answer_sync(SyncResponse("FENCED_INSTANCE_ID"))
        leader, same = self.leader or "", member.who.protocols == who.protocols
        member.member_id, member.who = new_id, who
        member.note_heartbeat(now)
        self.members[new_id] = member
        assert who.instance_id is not None, "only a static member is replaced"
        self.static[who.instance_id] = new_id
        if self.leader == old_id:
            self.leader = new_id
        if self.state in (GroupState.STABLE, GroupState.COMPLETING) and same:
            # The response names the old leader, so the new member does not assign partitions.
            return _answered(
                JoinResponse(NONE, new_id, self.generation, self.protocol or "", leader or new_id)
            )
        waiting = self._wait_for_round(member)
        self.prepare_round(now)
        self.maybe_complete_round(now)
        return waiting

    def _wait_for_round(self, member: GroupMember) -> Future[JoinResponse]:
        member.answer_join(JoinResponse("UNKNOWN_MEMBER_ID", member.member_id))
        member.joining = Future()
        return member.joining

    # Rounds

    def prepare_round(self, now: float) -> None:
        """Begin a rebalance, unless one is in progress: every member has to rejoin."""
        if self.state in (GroupState.PREPARING, GroupState.DEAD):
            return
        if self.state is GroupState.COMPLETING:
            for member in self.members.values():
                member.assignment = b""
                member.answer_sync(SyncResponse("REBALANCE_IN_PROGRESS"))
        longest = self._rebalance_s()
        if self.state is GroupState.EMPTY:
            remaining = max(longest - self.delay_s, 0.0)
            self.round = RebalanceRound(now + self.delay_s, True, self.delay_s, remaining)
        else:
            self.round = RebalanceRound(now + longest)
        self.state = GroupState.PREPARING

    def _rebalance_s(self) -> float:
        return max((one.who.rebalance_ms for one in self.members.values()), default=0) / 1000

    def maybe_complete_round(self, now: float) -> None:
        """Complete the rebalance if every member has joined, or its time is up."""
        if self.state is not GroupState.PREPARING or self.round is None:
            return
        late = now >= self.round.deadline
        if self.round.initial:
            if not late:
                return
            if self.new_member_added and self.round.remaining > 0:
                self.new_member_added = False
                delay = min(self.delay_s, self.round.remaining)
                remaining = max(self.round.remaining - self.round.delay, 0.0)
                self.round = RebalanceRound(now + delay, True, delay, remaining)
                return
        elif not late and (self.pending or any(m.joining is None for m in self.members.values())):
            return
        self._complete_round(now)

    def _complete_round(self, now: float) -> None:
        gone = [m for m in self.members.values() if m.joining is None and m.who.instance_id is None]
        for member in gone:
            self._forget(member)
        back = [member for member in self.members.values() if member.joining is not None]
        if self.members and not back:
            self.round = RebalanceRound(now + self._rebalance_s())  # their sessions will end
            return
        if self.members and (self.leader is None or self.members[self.leader].joining is None):
            self.leader = back[0].member_id
        self.round = None
        self.generation += 1
        if not self.members:
            self.state, self.protocol, self.leader = GroupState.EMPTY, None, None
            self.to_store = True
            return
        self.protocol = self._vote()
        self.state = GroupState.COMPLETING
        for member in self.members.values():
            member.is_new = False
            member.note_heartbeat(now)
            member.answer_join(self._joined(member))

    def _vote(self) -> str:
        common = self._common()
        votes = Counter(
            next(one for one in member.who.protocols if one in common)
            for member in self.members.values()
        )
        return votes.most_common(1)[0][0]

    def _joined(self, member: GroupMember) -> JoinResponse:
        protocol = self.protocol or ""
        leads = member.member_id == self.leader
        members = tuple(
            (one.member_id, one.who.instance_id, one.who.protocols.get(protocol, b""))
            for one in self.members.values()
            if leads
        )
        return JoinResponse(
            NONE, member.member_id, self.generation, protocol, self.leader or "", members
        )  # fmt: skip

    # Assignments

    def assign(self, assignment: Mapping[str, bytes], now: float) -> None:
        """Store the group leader's assignment, and send each member its part."""
        for member in self.members.values():
            member.assignment = assignment.get(member.member_id, b"")
            member.note_heartbeat(now)
            member.answer_sync(SyncResponse(NONE, member.assignment))
        self.state = GroupState.STABLE

    # Leaving

    def _forget(self, member: GroupMember) -> None:
        self.members.pop(member.member_id, None)
        if member.who.instance_id is not None:
            self.static.pop(member.who.instance_id, None)
        member.answer_join(JoinResponse("UNKNOWN_MEMBER_ID"))
        member.answer_sync(SyncResponse("UNKNOWN_MEMBER_ID"))
        if self.leader == member.member_id:
            self.leader = next(iter(self.members), None)

    def remove(self, member_id: str, now: float) -> None:
        """Remove a member that left or whose session expired, and begin a rebalance."""
        self._forget(self.members[member_id])
        self.prepare_round(now)
        self.maybe_complete_round(now)

    def expire(self, now: float) -> None:
        """Remove members whose session timed out, and complete the rebalance if possible."""
        for member_id in [one for one, until in self.pending.items() if now > until]:
            del self.pending[member_id]
        for member in [*self.members.values()]:
            waits = (member.joining is not None and not member.is_new) or member.syncing is not None
            if now > member.expires and not waits:
                self.remove(member.member_id, now)
        self.maybe_complete_round(now)

    def die(self) -> None:
        """Mark the group dead: another broker coordinates it, or it is deleted."""
        self.state = GroupState.DEAD
        for member in self.members.values():
            member.answer_join(JoinResponse("NOT_COORDINATOR", member.member_id))
            member.answer_sync(SyncResponse("NOT_COORDINATOR"))

    # What outlasts the coordinator

    def stored(self, assignment: Mapping[str, bytes], now_ms: int) -> StoredGroup:
        """The generation as a record to be written."""
        protocol = self.protocol or ""
        return StoredGroup(
            self.protocol_type, self.generation, self.protocol, self.leader, now_ms,
            tuple(
                StoredMember(
                    one.member_id, one.who.instance_id, one.who.client_id, one.who.client_host,
                    one.who.rebalance_ms, one.who.session_ms,
                    one.who.protocols.get(protocol, b""), assignment.get(one.member_id, b""),
                )
                for one in self.members.values()
            ),
        )  # fmt: skip

    def load(self, stored: StoredGroup, now: float) -> None:
        """Load a stored generation; every member's session timeout starts again."""
        self.generation, self.protocol_type = stored.generation, stored.protocol_type
        self.protocol, self.leader = stored.protocol, stored.leader
        for one in stored.members:
            protocols = {stored.protocol or "": one.subscription}
            who = JoiningMember(
                one.client_id, one.client_host, one.instance_id, one.rebalance_ms, one.session_ms,
                stored.protocol_type, protocols,
            )  # fmt: skip
            member = GroupMember(one.member_id, who, 0.0, one.assignment, is_new=False)
            member.note_heartbeat(now)
            self.members[one.member_id] = member
            if one.instance_id is not None:
                self.static[one.instance_id] = one.member_id
        self.state = GroupState.STABLE if self.members else GroupState.EMPTY


def _answered(answer: JoinResponse) -> Future[JoinResponse]:
    found: Future[JoinResponse] = Future()
    found.set_result(answer)
    return found

"""A group's members, rounds and records, without a clock, a socket or a log."""

from __future__ import annotations

import pytest

from impl.releases import Release
from impl.server.groups.group import Group, GroupState, JoiningMember
from impl.server.groups.records import (
    CommittedOffset,
    StoredGroup,
    StoredMember,
    UnknownRecord,
    group_key,
    group_value,
    offset_key,
    offset_value,
    read_group,
    read_key,
    read_offset,
)
from impl.znodes import TopicPartition


def who(
    name: str = "a", instance: str | None = None, *protocols: str, session: int = 10
) -> JoiningMember:
    known = {one: name.encode() for one in protocols or ("range",)}
    return JoiningMember(name, "/127.0.0.1", instance, 60_000, session * 1000, "consumer", known)


def stable(*names: str) -> tuple[Group, list[str]]:
    """A group in its first generation, at 0 s, and its members' ids."""
    group = Group("g", 1.0)
    waiting = [group.join_unknown(who(name), False, -10.0) for name in names]
    group.expire(-9.0)
    group.expire(-8.0)
    ids = [one.result(0).member_id for one in waiting]
    group.assign({one: one.encode() for one in ids}, 0.0)
    return group, ids


def test_the_first_round_waits_for_others_and_longer_while_they_come():
    group = Group("g", 3.0)
    first = group.join_unknown(who("a"), False, 0.0)
    second = group.join_unknown(who("b"), False, 2.0)
    group.expire(3.0)
    assert not first.done()  # one came meanwhile
    group.expire(6.0)

    assert first.result(0).generation == second.result(0).generation == 1
    assert [len(one.result(0).members) for one in (first, second)] == [2, 0]


def test_a_member_that_has_no_id_yet_is_given_one_and_joins_with_it():
    group = Group("g", 0.0)
    reported = group.join_unknown(who(), True, 0.0).result(0)
    again = group.join(reported.member_id, who(), 0.0)
    group.expire(0.0)

    assert (reported.error, again.result(0).error) == ("MEMBER_ID_REQUIRED", "NONE")


def test_the_way_to_assign_is_one_that_all_know_and_most_like_best():
    group = Group("g", 1.0)
    for name, protocols in (("a", ("x", "y")), ("b", ("y", "x")), ("c", ("y", "x", "z"))):
        group.join_unknown(who(name, None, *protocols), False, 0.0)
    group.expire(1.0)
    group.expire(2.0)
    refused = group.join_unknown(who("d", None, "z"), False, 1.0).result(0)

    assert group.protocol == "y"
    assert refused.error == "INCONSISTENT_GROUP_PROTOCOL"


def test_a_member_whose_session_ends_leaves_its_share_to_the_others():
    group, (first, _) = stable("a", "b")
    group.members[first].note_heartbeat(9.0)
    group.expire(10.5)

    assert list(group.members) == [first]
    assert group.state is GroupState.PREPARING
    assert group.leader == first
    again = group.join(first, who("a"), 11.0).result(0)
    assert (again.generation, again.leader) == (2, first)


def test_who_does_not_join_again_in_time_is_left_behind():
    group, (first, second) = stable("a", "b")
    joined = group.join(first, who("a", None, "range", "other"), 1.0)
    group.members[second].expires = 1000.0
    group.expire(60.0)
    assert not joined.done()
    group.expire(61.5)

    assert joined.result(0).generation == 2
    assert second not in group.members


def test_a_follower_that_asks_again_is_given_its_generation_and_disturbs_nobody():
    group, (_, second) = stable("a", "b")
    reported = group.join(second, who("b"), 1.0).result(0)

    assert (reported.error, reported.generation, group.state) == ("NONE", 1, GroupState.STABLE)


def test_a_static_member_comes_back_without_a_round_and_its_ghost_is_fenced():
    group = Group("g", 0.0)
    waiting = group.join_unknown(who("a", "i1"), False, 0.0)
    group.expire(0.0)
    old = waiting.result(0).member_id
    group.assign({old: b"all"}, 0.0)
    new = group.join_unknown(who("a", "i1"), False, 1.0).result(0).member_id

    assert group.state is GroupState.STABLE
    assert group.members[new].assignment == b"all"
    assert group.error_of(old, "i1", 1) == "FENCED_INSTANCE_ID"
    assert group.error_of(new, "i1", 1) == "NONE"


def test_the_last_one_to_leave_leaves_an_empty_generation_that_has_to_be_written():
    group, (only,) = stable("a")
    group.remove(only, 1.0)

    assert (group.state, group.generation, group.to_store) == (GroupState.EMPTY, 2, True)


def test_a_group_goes_on_with_another_coordinator():
    group, ids = stable("a", "b")
    shares = {one: member.assignment for one, member in group.members.items()}
    value = group_value(group.stored(shares, 5), Release.of("2.7"))
    other = Group("g", 0.0)
    other.load(read_group(value), 0.0)

    assert other.state is GroupState.STABLE
    assert (other.generation, other.leader) == (1, ids[0])
    assert {one: member.assignment for one, member in other.members.items()} == shares


def test_records_have_kafkas_bytes():
    partition = TopicPartition("t", 3)
    committed = CommittedOffset(7, 2, "m", 9)

    assert offset_key("g", partition) == b"\0\1\0\1g\0\1t\0\0\0\3"
    assert group_key("g") == b"\0\2\0\1g"
    assert offset_value(committed, Release.of("2.3")) == (
        b"\0\3" + b"\0" * 7 + b"\7" + b"\0\0\0\2" + b"\0\1m" + b"\0" * 7 + b"\x09"
    )
    assert read_key(offset_key("g", partition)) == ("g", partition)
    assert read_key(group_key("g")) == ("g", None)


@pytest.mark.parametrize("version", ["0.10.0", "0.10.1", "2.1", "2.7"])
def test_every_release_reads_what_it_wrote(version: str):
    release = Release.of(version)
    member = StoredMember("m", "i" if release.since("2.3") else None, "c", "/h",
                          5 if release.since("0.10.1") else 6, 6, b"s", b"a")  # fmt: skip
    group = StoredGroup("consumer", 4, "range", "m", 8 if release.since("2.1") else -1, (member,))
    committed = CommittedOffset(7, 2 if release.since("2.1") else -1, "x", 9)

    assert read_group(group_value(group, release)) == group
    assert read_offset(offset_value(committed, release)) == committed


@pytest.mark.parametrize("data", [b"", b"\0\2\0\x09g", b"\0\x09", b"\0\1\0\1g"])
def test_a_key_that_is_cut_or_of_a_later_version_is_named(data: bytes):
    with pytest.raises(UnknownRecord):
        read_key(data)

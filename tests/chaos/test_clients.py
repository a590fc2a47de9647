"""Who writes and reads in a run of chaos: which clients there are, and what they note."""

from __future__ import annotations

import pytest

from conformance.chaos import clients as known
from conformance.chaos import workload as work
from conformance.chaos.client_anomalies import verdict_on
from conformance.chaos.clients import CLIENTS, WrongClients, clients_named
from conformance.chaos.history import ALL, ClientHistory, ProduceAttempt, ProducerKind, ReadRecords
from conformance.chaos.workload import ReaderNotes, Workload
from specs.verdict import Verdict


@pytest.fixture
def workload() -> Workload:
    """Of no cluster: nobody is asked."""
    return Workload([], 2, 7)


def test_clients_are_named_each_once_or_all():
    assert clients_named("ours, ours") == ("ours",)
    assert clients_named("all") == tuple(CLIENTS)
    assert len({one.group for one in CLIENTS.values()}) == len(CLIENTS)


@pytest.mark.parametrize("name", [one for one in CLIENTS if one != "ours"])
def test_a_client_that_is_not_installed_is_refused_with_what_to_install(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(known, "find_spec", lambda _name: None)

    with pytest.raises(WrongClients, match=f"{name} is not installed; write: pip install "):
        clients_named(f"ours,{name}")


def test_every_kind_of_acknowledgement_is_asked_for_by_real_clients():
    for client in CLIENTS.values():
        kinds = {(one.acks, one.idempotent) for one in client.writers}
        assert kinds >= {(ALL, False), (1, False), (ALL, True)}
        assert ((0, False) in kinds) == (client.name != "ours")


def test_a_writer_does_not_go_on_while_too_much_of_it_is_unanswered(
    workload: Workload, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(work, "MOST_UNANSWERED", 2)
    turns: list[ProduceAttempt] = []

    def answer_the_first() -> None:
        workload.answered(turns[0], 5)

    sends = workload.sends(ProducerKind("w", ALL), turn=answer_the_first)
    turns += [next(sends), next(sends)]
    third = next(sends)
    workload.failed(turns[1], "TIMED_OUT")
    workload.give_up()
    workload.answered(third, 9)  # too late: it was given up

    assert [one.values for one in (*turns, third)] == [["w-0"], ["w-1"], ["w-2"]]
    assert [one.acknowledged for one in (*turns, third)] == [True, False, False]
    assert third.error == "cut short"


def test_what_nobody_answers_or_says_where_it_is():
    without, somewhere = (
        ProduceAttempt("w", 0, 0, 1, acks, False, 0.1, 0.2, -1) for acks in (0, ALL)
    )

    assert not without.acknowledged
    assert somewhere.acknowledged
    assert not ProduceAttempt("w", 0, 0, 1, ALL, False, 0.1).acknowledged


def test_a_member_notes_where_it_was_and_what_it_was_given(workload: Workload):
    member = ReaderNotes(workload, "r", "g")
    member.joined({0: -1, 1: 4}, 0.5)
    member.got(0, [(0, b"a"), (1, b"b")])
    member.set_back(1, "OFFSET_OUT_OF_RANGE", None)
    member.got(1, [(9, b"c")])
    with member.committing(member.known()):
        pass
    with pytest.raises(ConnectionError), member.committing({0: 99}):
        raise ConnectionError
    history = workload.history

    assert [(one.partition, one.offset) for one in history.restored] == [(0, -1), (1, 4)]
    assert [(one.partition, one.position) for one in history.reads] == [(0, 0), (1, 4), (1, 9)]
    assert [(one.partition, one.offset, one.group) for one in history.commits] == [
        (0, 2, "g"), (1, 10, "g"),
    ]  # fmt: skip


def test_a_client_that_read_nothing_has_checked_nothing():
    history = ClientHistory(
        [ProduceAttempt("plain", 0, 0, 1, ALL, False, 0.1, 0.2, 0)],
        [ReadRecords("reader 1", 1, 0, 0, ((0, "plain-0"),), 0.3)],
        final={0: {0: "plain-0"}}, clients={"ours": ("plain", "reader 1")},
    )  # fmt: skip
    alone = verdict_on(history, [], "")
    history.clients["aiokafka"] = ("aiokafka plain", "aiokafka reader 1")

    assert alone is Verdict.HOLDS
    assert verdict_on(history, [], "") is Verdict.NOT_CHECKED

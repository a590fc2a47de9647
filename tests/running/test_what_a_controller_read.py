"""What a controller has read, where others write meanwhile: traces made by hand, on `cluster`."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.running.cluster import READ_EARLIER, UNSEEN_REQUEST, replay_cluster
from conformance.running.order import order_lines
from conformance.running.process_traces import ClusterTraces
from conformance.running.result import ReplayResult
from tests.running.handmade import SESSION, Step, registers, start, zk

SWITCHES = {"isr_write_locks": True}
UNSEEN = ["event_begun: events of which nothing came"]


def state(zxid: int, writer: int, number: int, version: int, isr: Sequence[int]) -> Step:
    data = {"controller_epoch": 1, "leader": 1, "leader_epoch": 0, "isr": [*isr]}
    path = f"/brokers/topics/t/partitions/{number}/state"
    return zk(zxid, writer, ("SetData" if version else "Create", path, version, data))


def noted(zxid: int, broker: int, number: int) -> Step:
    """An ISR change of t-N is noted under N."""
    data = {"partitions": [{"topic": "t", "partition": number}]}
    return zk(zxid, broker, ("Create", f"/isr_change_notification/isr_change_{number}", 0, data))


def removed(zxid: int, broker: int, number: int) -> Step:
    path = f"/isr_change_notification/isr_change_{number}"
    return zk(zxid, broker, ("Delete", path, 0, {}))


def begins(event: str, zxid: int) -> Step:
    return "event_begun", {"event": event, "epoch": 1, "zxid": zxid}


def reads(zxid: int, **registrations: int) -> Step:
    known = {name[1:]: number for name, number in registrations.items()}
    return "registrations_read", {"epoch": 1, "registrations": known, "zxid": zxid}


def tells(to: int, live: Sequence[int], number: int | None, zxid: int, **versions: int) -> Step:
    named = {f"t-{name[1:]}": [0, version] for name, version in versions.items()}
    return "request_sent", {
        "epoch": 1, "to": to, "registration": to, "kind": "UpdateMetadata", "correlation": number,
        "again": [], "partitions": named, "zxid": zxid,
        **({} if number is None else {"live": [*live]}),
    }  # fmt: skip


MADE = [
    registers(1, 1), registers(2, 2),
    zk(3, 1, ("Create", "/controller", 0, {}), ("SetData", "/controller_epoch", 1, 1)),
    zk(4, 9, ("Create", "/brokers/topics/t", 0, {"partitions": {"0": [1, 2], "1": [1, 2]}})),
    state(5, 1, 0, 0, [1, 2]), state(6, 1, 1, 0, [1, 2]),
]  # fmt: skip
ELECTED: list[Step] = [
    ("registered", {"epoch": 1, "session": SESSION + 1}),
    ("controller_elected", {"epoch": 1, "epoch_version": 1}),
]


def leads(number: int) -> list[Step]:
    """Broker 1 is made leader of both partitions by request NUMBER, and is so."""
    sender = {"controller": 1, "epoch": 1, "correlation": number}
    sent = {"epoch": 1, "to": 1, "registration": 1, "kind": "LeaderAndIsr", "correlation": number,
            "again": [], "partitions": {"t-0": [0, 0], "t-1": [0, 0]}, "new": ["t-0", "t-1"],
            "zxid": 6}  # fmt: skip
    comes = {"kind": "LeaderAndIsr", "sender": sender, "registration": 1}
    before = {"kind": "UpdateMetadata", "sender": {**sender, "correlation": 0}, "registration": 1}
    became = [("became_leader", {"partition": f"t-{one}"}) for one in (0, 1)]
    return [
        ("request_sent", sent),
        ("request_received", before),
        ("request_received", comes),
        *became,
    ]


def replayed(
    store: Sequence[Step], controller: Sequence[Step], unseen: Sequence[str] = ()
) -> ReplayResult:
    """The trace of ZooKeeper, of broker 1, which is controller, and of others, which say nothing
    but that they are registered."""
    traces = {1: list(controller)}
    for _, args in store:
        for op in args.get("ops", ()):
            if op["op"] == "Create" and op["path"].startswith("/brokers/ids/"):
                broker = int(op["path"].rpartition("/")[2])
                if broker != 1:
                    known = {"epoch": args["zxid"], "session": args["session"]}
                    traces.setdefault(broker, []).append(("registered", known))
    starts = [start(("zookeeper", 0), store)]
    starts += [start(("broker", one), steps, unseen=unseen) for one, steps in traces.items()]
    order = order_lines(ClusterTraces(starts))
    assert not order.stuck
    return replay_cluster(order, sorted(traces), "2.3", SWITCHES)


def changes(first: Sequence[Step]) -> ReplayResult:
    """A leader shrinks two ISRs, and notes the second one while the first is being read."""
    store = [
        *MADE, state(7, 1, 0, 1, [1]), state(8, 1, 1, 1, [1]), noted(9, 1, 0), noted(10, 1, 1),
        removed(11, 1, 0), removed(12, 1, 1),
    ]  # fmt: skip
    controller = [
        *ELECTED, reads(3, b1=1, b2=2), tells(1, [1, 2], 0, 3), tells(2, [1, 2], 0, 3),
        begins("/brokers/topics", 6), *leads(1), begins("/isr_change_notification", 9), *first,
        begins("/isr_change_notification", 11), tells(1, [1, 2], 3, 11, p1=1),
        tells(2, [1, 2], 2, 11, p1=1), begins("/isr_change_notification", 12),
    ]  # fmt: skip
    return replayed(store, controller)


def test_what_is_noted_while_isr_changes_are_read_is_left_to_the_next_event() -> None:
    done = changes([tells(1, [1, 2], 2, 10, p0=1), tells(2, [1, 2], 1, 10, p0=1)])

    assert done.misfit is None, done.misfit
    assert done.forced[READ_EARLIER]
    assert done.fired["controller_reads_isr_changes"] == 2


def test_an_isr_change_that_was_read_and_not_sent_is_found() -> None:
    done = changes([tells(1, [1, 2], 2, 10), tells(2, [1, 2], 1, 10)])

    assert done.misfit is not None
    assert done.misfit.rule == "a controller sends the same requests as in the model"
    assert "UpdateMetadata about t-0 in version 1" in done.misfit.allowed


def test_who_registers_after_it_has_read_is_shown_by_the_watch_that_the_reading_set() -> None:
    store = [*MADE[:1], *MADE[2:3], registers(4, 2)]
    controller = [
        *ELECTED, reads(4, b1=1), tells(1, [1], 0, 4),
        begins("/brokers/ids", 5), reads(5, b1=1, b2=4),
    ]  # fmt: skip

    done = replayed(store, controller)

    assert done.misfit is None, done.misfit
    assert done.forced[READ_EARLIER]
    assert done.fired["controller_sees_new_brokers"] == 1


def test_what_was_never_sent_stands_behind_what_names_nothing_and_was_never_sent_either() -> None:
    """Broker 3 comes while broker 2 answers nothing: up to 2.5 no line says that broker 2 was to
    hear of it."""
    assigned = {"0": [1, 2, 3], "1": [1, 2, 3]}
    topic = zk(4, 9, ("Create", "/brokers/topics/t", 0, {"partitions": assigned}))
    store = [*MADE[:3], topic, *MADE[4:], registers(7, 3)]
    to_new = {**leads(1)[0][1], "to": 3, "registration": 7, "new": []}
    both = {"p0": 0, "p1": 0}
    controller = [
        *ELECTED, reads(3, b1=1, b2=2), tells(1, [1, 2], 0, 3),
        begins("/brokers/topics", 6), *leads(1),
        begins("/brokers/ids", 7), reads(7, b1=1, b2=2, b3=7), tells(1, [1, 2, 3], 2, 7),
        tells(3, [1, 2, 3], 0, 7, **both), ("request_sent", to_new),
        *(tells(one, [1, 2, 3], number, 7, **both) for one, number in ((1, 3), (2, None), (3, 2))),
    ]  # fmt: skip

    done = replayed(store, controller, UNSEEN)

    assert done.misfit is None, done.misfit
    assert done.forced[UNSEEN_REQUEST]
    assert replayed(store, controller).misfit is not None


def echoed(*after: Step, store: Sequence[Step]) -> ReplayResult:
    """An ISR change was read and deleted, of which its controller is notified once more."""
    first = [state(7, 1, 0, 1, [1]), noted(8, 1, 0), removed(9, 1, 0), state(10, 1, 1, 1, [1])]
    controller = [
        *ELECTED, reads(3, b1=1, b2=2), tells(1, [1, 2], 0, 3), tells(2, [1, 2], 0, 3),
        begins("/brokers/topics", 6), *leads(1), begins("/isr_change_notification", 8),
        tells(1, [1, 2], 2, 8, p0=1), tells(2, [1, 2], 1, 8, p0=1), *after,
    ]  # fmt: skip
    return replayed([*MADE, *first, *store], controller, UNSEEN)


def test_an_event_of_which_nothing_came_was_over_before_the_next_isr_change_was_noted() -> None:
    sees = [begins("/brokers/ids", 12), reads(12, b1=1, b2=2, b3=11)]

    after = echoed(*sees, store=[registers(11, 3), noted(12, 1, 1)])
    before = echoed(
        begins("/isr_change_notification", 12), tells(1, [1, 2], 3, 12, p1=1),
        tells(2, [1, 2], 2, 12, p1=1), *sees,
        store=[registers(11, 3), noted(12, 1, 1), removed(13, 1, 1)],
    )  # fmt: skip
    late = echoed(
        begins("/brokers/ids", 12), reads(12, b1=1, b2=2, b3=12),
        store=[noted(11, 1, 1), registers(12, 3)],
    )  # fmt: skip

    assert after.misfit is None, after.misfit
    assert before.misfit is None, before.misfit
    assert late.misfit is not None
    assert late.misfit.rule == (
        "a controller handles notifications in the order in which they arrived"
    )

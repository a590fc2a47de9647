"""The state of one partition between triggers: little is kept, and what is odd goes on once."""

from __future__ import annotations

from pathlib import Path

from conformance.ingest.growing import ReadOffsets, chunks, next_offset
from conformance.ingest.pieces import ParsedChunk, piece_of
from conformance.pipeline import streaming_state
from conformance.pipeline.partitions import NEWEST, KeptPartition, rows_of
from conformance.pipeline.streaming_state import FINDING, ReportedFinding, StreamingState
from tests.pipeline.written import changed, elected, line, write


def states(folder: Path) -> list[tuple[bytes, str]]:
    """The rows of the partition orders-0, of all that is in the folder."""
    end = next_offset(str(folder), ReadOffsets(), True)
    pieces = [piece_of(chunk, None) for chunk in chunks(str(folder), ReadOffsets(), end)]
    rows = [row for piece in pieces for row in rows_of(piece)]
    return [(events, book) for _, topic, _, events, book in rows if topic == "orders"]


def test_a_partition_that_goes_on_and_on_keeps_its_last_lines_and_hands_on_none(tmp_path: Path):
    partition = KeptPartition()
    lines = [changed(n, (1, 4), 1, n, "1,2") for n in range(1, 900)]

    handed = partition.advance("c", states(write(tmp_path, {"state-change.log": lines})), "2.3")

    assert handed.events.num_rows == 0
    assert handed.looked["checked"]["leader_epochs_never_go_back"] == 898
    assert len(partition.events) == NEWEST
    assert len(KeptPartition.unpacked(partition.packed()).events) == NEWEST


def test_a_value_that_goes_back_between_two_triggers_is_handed_on_once(tmp_path: Path):
    partition = KeptPartition()
    lines = [changed(n, (1, 4), 1, n, "1,2") for n in range(1, 9)]
    parts = [[*lines], [changed(9, (1, 4), 1, 3, "1,2")], [changed(10, (1, 4), 1, 9, "1,2")]]
    handed: list[list[int]] = []

    for n in range(1, len(parts) + 1):
        whole = [each for part in parts[:n] for each in part]
        rows = states(write(tmp_path, {"state-change.log": whole}))
        piece = partition.advance("c", rows, "2.3")
        handed.append(piece.events["line"].to_pylist())
        partition = KeptPartition.unpacked(partition.packed())

    assert handed == [[], [6, 7, 8, 9], [10]]


def test_a_cut_in_a_file_whose_broker_is_not_known_yet_is_handed_on(tmp_path: Path):
    cut = line(5, "[Log partition=orders-0, dir=/d] Truncating to offset 3", "kafka.log.Log")
    rows = states(write(tmp_path, {"server.log": [cut]}))

    handed = KeptPartition().advance("c", rows, None)

    assert handed.events.to_pylist()[0]["kind"] == "log_truncated"
    assert handed.events.to_pylist()[0]["broker"] is None


def test_the_rows_of_a_piece_are_all_its_lines_of_partitions_and_few_for_the_cluster(
    tmp_path: Path,
):
    lines = [elected(0, 1, 4), *(changed(n, (1, 4), 1, n, "1,2") for n in range(1, 500))]
    write(tmp_path, {"state-change.log": lines})
    end = next_offset(str(tmp_path), ReadOffsets(), True)
    (chunk,) = chunks(str(tmp_path), ReadOffsets(), end)

    first, *others = rows_of(piece_of(chunk, None))

    cluster = ParsedChunk.unpacked(first[0], first[3], first[4])
    assert first[1] == ""
    assert cluster.file["read"] == 500
    assert cluster.events["line"].to_pylist() == [1, 2, 3, 500]
    assert [(topic, number) for _, topic, number, _, _ in others] == [("orders", 0)]


def test_what_was_found_stays_found_when_its_lines_are_let_go(tmp_path: Path, monkeypatch):
    lines = [elected(0, 1, 9), *(changed(n, (1, 9), 1, n, "1,2") for n in range(1, 400))]
    lines[7] = changed(7, (1, 9), 3, 700, "1,2", tp="other-0")
    write(tmp_path, {"state-change.log": lines})
    monkeypatch.setattr(streaming_state, "MOST_KEPT", 60)
    monkeypatch.setattr(streaming_state, "_NEWEST", 30)
    monkeypatch.setattr(streaming_state, "_OF_EACH", 0)
    cluster, offset, said = StreamingState("logs"), ReadOffsets(), list[ReportedFinding]()

    for final in (False, True, True):
        end = next_offset(str(tmp_path), offset, final)
        new = [piece_of(chunk, None) for chunk in chunks(str(tmp_path), offset, end)]
        said += cluster.advance([*new, ParsedChunk("logs")])
        cluster, offset = StreamingState.unpacked(*cluster.packed()), end

    assert [(each.what, each.finding.line) for each in said] == [(FINDING, 8)]
    assert [finding.line for finding in cluster.judged().findings] == [8]
    assert 8 not in cluster.events["line"].to_pylist()


def test_a_state_that_does_not_follow_is_reported_while_the_logs_grow(tmp_path: Path):
    """A neighbour is known where the partition is kept; the finding is reported by the cluster."""
    lines = [elected(0, 1, 4), changed(1, (1, 4), 1, 0, "1,2", frm="NewPartition")]
    lines += [changed(n, (1, 4), 1, n, "1,2") for n in range(2, 40)]
    lines.append(changed(40, (1, 4), 1, 0, "1,2", frm="NewPartition"))
    lines += [changed(n, (1, 4), 1, n, "1,2") for n in range(41, 60)]
    whole, partition, offset = StreamingState("c"), KeptPartition(), ReadOffsets()
    said: list[ReportedFinding] = []

    for end in (10, 45, 60, 60, 60):
        write(tmp_path, {"state-change.log": lines[:end]})
        new = next_offset(str(tmp_path), offset, end == 60)
        pieces = [piece_of(chunk, None) for chunk in chunks(str(tmp_path), offset, new)]
        offset = new
        rows = [row for piece in pieces for row in rows_of(piece)]
        own = [ParsedChunk.unpacked(c, e, b) for c, t, _, e, b in rows if not t]
        handed = partition.advance("c", [(e, b) for _, t, _, e, b in rows if t], None)
        said += whole.advance([*own, handed])
        whole = StreamingState.unpacked(*whole.packed())
        partition = KeptPartition.unpacked(partition.packed())

    assert [(each.what, each.finding.rule, each.finding.line) for each in said] == [
        (FINDING, "partition_state_changes_are_valid", 41)
    ]

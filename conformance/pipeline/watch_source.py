"""Reads growing log files as a source of Spark's Structured Streaming.

Spark's own file source reads a file once; here an offset says how far each file was read. The
checkpoint has the bytes of each trigger, so a repeated trigger reads the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from conformance.ingest.growing import FileChunk, ReadOffsets, chunks, next_offset
from conformance.ingest.pieces import ParsedChunk, piece_of
from conformance.pipeline.partitions import rows_of
from specs.rendering import as_data

NAME = "insync_logs"
SCHEMA = "cluster string, topic string, partition int, events binary, book string"


class GrowingLogs(DataSource):
    """`spark.readStream.format(NAME).option("folder", DIR)`; rows as `rows_of` gives them.

    Options: `folder`, `final` ("true": the present content is complete), `release`, `layout`.
    """

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return NAME

    def schema(self) -> str:
        """One row per piece of a file, and one per cluster at each trigger."""
        return SCHEMA

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        """The reader of one query."""
        return _GrowingFilesReader(self.options)


@dataclass
class _PartOfTrigger(InputPartition):
    chunk: FileChunk | None
    clusters: tuple[str, ...] = ()


class _GrowingFilesReader(DataSourceStreamReader):
    def __init__(self, options: Mapping[str, str]) -> None:
        self._folder = options["folder"]
        self._final = options.get("final") == "true"
        self._release = options.get("release") or None
        self._layout = options.get("layout") or None

    def initialOffset(self) -> dict[str, Any]:
        begin: dict[str, Any] = as_data(ReadOffsets())
        return begin

    def latestOffset(self, start: dict[str, Any], limit: Any) -> dict[str, Any]:
        found: dict[str, Any] = as_data(
            next_offset(self._folder, ReadOffsets.of_json(start), self._final)
        )
        return found

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        first, last = ReadOffsets.of_json(start), ReadOffsets.of_json(end)
        if first == last:
            return []
        # Every cluster learns that a trigger passed: what it holds back may have stood enough.
        clusters = tuple(sorted({reach.cluster for reach in last.files.values()}))
        new = sorted(chunks(self._folder, first, last), key=_largest_first)
        return [_PartOfTrigger(None, clusters), *(_PartOfTrigger(chunk) for chunk in new)]

    def read(self, partition: InputPartition) -> Iterator[tuple[str, str, int, bytes, str]]:
        assert isinstance(partition, _PartOfTrigger)
        if partition.chunk is None:
            for cluster in partition.clusters:
                yield from rows_of(ParsedChunk(cluster))
        else:
            yield from rows_of(piece_of(partition.chunk, self._release, self._layout))


def _largest_first(chunk: FileChunk) -> int:
    return chunk.since.bytes - chunk.until.bytes

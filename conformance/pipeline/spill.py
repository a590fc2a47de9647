"""Spills tables that do not fit in memory to disk, partitioned by a key."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import dataset

from conformance.pipeline.store import runs

WAITING = 50_000  # rows that are held before they are sorted into parts
_PREFIX = "insync-spill-"
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


def _sweep() -> None:
    """Removes what killed processes have left."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        owner = left.name.removeprefix(_PREFIX).split("-")[0]
        gone = owner.isdigit() and int(owner) != os.getpid() and not runs(int(owner))
        if gone:
            shutil.rmtree(left, ignore_errors=True)


class Spill:
    """Rows of one schema in numbered parts: their files are removed with the last reference.

    Without `on_disk` they stay in memory.
    """

    def __init__(self, schema: pa.Schema, parts: int = 1, *, on_disk: bool = True) -> None:
        self.schema, self.parts, self.on_disk = schema, parts, on_disk
        self.num_rows = 0
        self._waiting: list[pa.Table] = []
        self._keys: list[np.ndarray] = []
        self._held = 0
        if on_disk:
            _sweep()
            self._folder = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")
            self._end = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def close(self) -> None:
        """Removes the files now."""
        if self.on_disk:
            self._end()

    def add(self, table: pa.Table, keys: np.ndarray | None = None) -> None:
        """Appends rows; `keys` gives the part of each row."""
        size = table.num_rows
        if not size:
            return
        self._waiting.append(table.select(self.schema.names))
        self._keys.append(np.zeros(size, np.int64) if keys is None else keys)
        self.num_rows += size
        self._held += size
        if self.on_disk and self._held >= WAITING:
            self._write()

    def put(self, part: int, table: pa.Table) -> None:
        """Appends rows to a part on disk, at once."""
        self.num_rows += table.num_rows
        self._append(part, table.select(self.schema.names))

    def drop(self, part: int) -> None:
        """Removes a part's rows."""
        with suppress(FileNotFoundError):
            os.unlink(self._path(part))

    def tables(self) -> Iterator[pa.Table]:
        """The parts that have rows, one after another."""
        for part in range(self.parts):
            table = self.part(part)
            if table.num_rows:
                yield table

    def blocks(self) -> Iterator[pa.Table]:
        """All rows, part by part, in the order added; never a whole part at once."""
        for part in range(self.parts):
            yield from self._blocks(part)

    def part(self, number: int) -> pa.Table:
        """All rows of one part, in the order in which they were added."""
        found = list(self._blocks(number))
        return pa.concat_tables(found) if found else self.schema.empty_table()

    def whole(self) -> pa.Table:
        """All rows, in memory."""
        return pa.concat_tables([self.schema.empty_table(), *self.blocks()])

    def _path(self, part: int) -> str:
        return os.path.join(self._folder, f"{part}.arrow")

    def _blocks(self, part: int) -> Iterator[pa.Table]:
        if not self.on_disk:
            for table, keys in zip(self._waiting, self._keys, strict=True):
                yield table if self.parts == 1 else table.filter(pa.array(keys == part))
            return
        if self._held:
            self._write()
        with suppress(FileNotFoundError), open(self._path(part), "rb") as file:
            end = os.fstat(file.fileno()).st_size
            while file.tell() < end:
                with pa.ipc.open_stream(file) as stream:
                    yield stream.read_all()

    def _write(self) -> None:
        table, keys = pa.concat_tables(self._waiting), np.concatenate(self._keys)
        self._waiting, self._keys, self._held = [], [], 0
        order = np.argsort(keys, kind="stable")
        table, keys = table.take(pa.array(order)), keys[order]
        start = 0
        for end in (np.flatnonzero(np.diff(keys, append=-1)) + 1).tolist():
            self._append(int(keys[start]), table.slice(start, end - start))
            start = end

    def _append(self, part: int, table: pa.Table) -> None:
        with (
            open(self._path(part), "ab") as file,
            pa.ipc.new_stream(file, self.schema, options=_OPTIONS) as writer,
        ):
            writer.write_table(table)


class StoredRows:
    """The rows of a folder of Parquet files, read a part at a time."""

    def __init__(self, folder: str) -> None:
        self._dataset = dataset.dataset(folder, format="parquet")
        self.num_rows = self._dataset.count_rows()

    def tables(self) -> Iterator[pa.Table]:
        """All rows, some at a time."""
        few = {"batch_readahead": 1, "fragment_readahead": 1}  # what is read ahead is held as well
        for batch in self._dataset.to_batches(batch_size=WAITING, **few):
            if batch.num_rows:
                yield pa.Table.from_batches([batch])

    def whole(self) -> pa.Table:
        """All rows, in memory."""
        return self._dataset.to_table()

"""Rows of columns: as arrays for the native kernel, and as lines for the report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as compute

from conformance.columns.schema import ARGS, FIRST_LINE, VALUE, index_names
from conformance.mapping import ROWS
from conformance.native_follower import ARGUMENTS, STEPS, places_of
from conformance.observed import Place
from impl import TraceError
from specs.native.unbounded_layout import CHANGE, Words
from specs.native.unbounded_lines import LineArrays
from specs.partial.compiled_steps import CompiledSteps


def texts_of(column: pa.Array) -> tuple[Words, list[str]]:
    """Which text each row has, and the texts; -1 for none."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    codes = compute.fill_null(column.indices.cast(pa.int64()), -1)
    return codes.to_numpy(), column.dictionary.to_pylist()


def numbers_of(column: pa.Array) -> Words:
    """Numbers, or truths as 0 and 1, without nulls."""
    found: Words = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return found


class ColumnBatch:
    """Some rows as lines; arrays are made at once, and the words of a line when it is asked for."""

    def __init__(self, batch: pa.RecordBatch, first: int, moves: CompiledSteps, path: Path) -> None:
        self.batch, self.first, self.moves, self.path = batch, first, moves, path
        self._lines: LineArrays | None = None

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def line(self, number: int) -> int:
        """The line that the row has as NDJSON."""
        return self.first + number + FIRST_LINE

    def step(self, number: int) -> str:
        """Its name."""
        return str(self.batch.column("step")[number].as_py())

    def args(self, number: int) -> Mapping[str, int]:
        """Those that are not null."""
        given = {name: self.batch.column(column)[number] for name, column in ARGS.items()}
        return {name: value.as_py() for name, value in given.items() if value.is_valid}

    def changed(self, number: int) -> dict[Place, int | None]:
        """The places that changed."""
        return places_of(self.moves, self.lines(), number)

    def lines(self) -> LineArrays:
        """All rows as arrays."""
        if self._lines is None:
            self._lines = self._read()
        return self._lines

    def _read(self) -> LineArrays:
        rows = len(self)
        codes, names = texts_of(self.batch.column("step"))
        steps = np.array([STEPS.get(name, -1) for name in names], np.int64)[codes]
        args = np.zeros((rows, len(ARGUMENTS)), np.int64)
        given = np.zeros((rows, len(ARGUMENTS)), np.bool_)
        for place, name in enumerate(ARGUMENTS):
            column = self.batch.column(ARGS[name])
            given[:, place] = column.is_valid().to_numpy(zero_copy_only=False)
            args[:, place] = numbers_of(compute.fill_null(column, 0))
        steps = np.where(_needed()[steps] & ~given, -1, steps[:, None]).min(axis=1)
        changed_from, changed = self._changed(rows)
        return LineArrays(steps, args, changed_from, changed)

    def _changed(self, rows: int) -> tuple[Words, Words]:
        owners, words = [], []
        for number, leaf in enumerate(self.moves.fields):
            if leaf.name not in self.batch.schema.names:
                continue
            column = self.batch.column(leaf.name)
            if leaf.dims:
                lengths = compute.fill_null(compute.list_value_length(column), 0).to_numpy()
                owner = np.repeat(np.arange(rows), lengths)
                flat = column.flatten()
                parts = [flat.field(name) for name in index_names(leaf)]
                codes = flat.field(VALUE)
            else:
                owner = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
                parts, codes = [], column.drop_null()
            if not owner.size:
                continue
            self._require_full(leaf.name, (*parts, codes), owner)
            block = np.zeros((owner.size, CHANGE), np.int64)
            block[:, 0], block[:, CHANGE - 1] = number, numbers_of(codes)
            for place, part in enumerate(parts, 1):
                block[:, place] = numbers_of(part)
            owners.append(owner)
            words.append(block)
        if not owners:
            return np.zeros(rows + 1, np.int64), np.zeros((0, CHANGE), np.int64)
        owner, block = np.concatenate(owners), np.concatenate(words)
        order = np.argsort(owner, kind="stable")
        counts = np.bincount(owner, minlength=rows)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), block[order]

    def _require_full(self, name: str, parts: tuple[pa.Array, ...], owner: Words) -> None:
        for part in parts:
            if part.null_count:
                at = int(np.flatnonzero(part.is_null().to_numpy(zero_copy_only=False))[0])
                why = f"{name} changes at an index, or to a value, that is null"
                raise TraceError(self.path, self.line(int(owner[at])), why)


def _needed() -> npt.NDArray[np.bool_]:
    """By step and argument: the step has it."""
    return np.array(
        [[name in ROWS[step].parameters for name in ARGUMENTS] for step in STEPS], np.bool_
    )

"""``insync.columns/1``: a whole run as columns, one row per line of ``insync.trace/1``.

    run      text, the same in every row          clock    1, 2, ...
    node     text, a broker's id or "zookeeper"   seq      1, 2, ... for each node
    step     text                                 args.X   a number; null where the step has no X

and a column for each field of the model that an observation shows, as the map has it: what the
step changed, and nothing else. A field without indices, such as ``zk.version``, is its value, or
null. One with indices, such as ``replica.hw``, is a list of {broker, value}; sets are lists of
{..., value true or false}. Values are the model's codes: names are counted from 0 (the field's
metadata says them), a broker that is none is 0, an epoch or an end that is none is -1.

The schema's metadata has under ``insync`` a JSON object: format, the header of ``insync.trace/1``
with its first observation, the number of events, and `layout`, a hash of the fields, their indices
and their names: columns of another model are refused. Row n (from 0) is called line n + 2: the line
that it has as NDJSON.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

import pyarrow as pa

from conformance.mapping import UNOBSERVED
from conformance.native_follower import ARGUMENTS
from model.language.schema import Field
from model.language.sorts import BOOL, Names, Sort
from specs.partial.compiled_steps import CompiledSteps

FORMAT = "insync.columns/1"
KEY = b"insync"
FIRST_LINE = 2
VALUE = "value"
TEXTS = ("run", "node", "step")
COUNTS = ("clock", "seq")
ORDER = ("run", "clock", "node", "seq", "step")
ARGS = {name: f"args.{name}" for name in ARGUMENTS}


def shown(moves: CompiledSteps) -> list[tuple[int, Field]]:
    """The fields that have a column, with their numbers."""
    return [(n, leaf) for n, leaf in enumerate(moves.fields) if leaf.name not in UNOBSERVED]


def schema_of(moves: CompiledSteps) -> pa.Schema:
    """The columns of a run, in order."""
    text = pa.dictionary(pa.int32(), pa.string())
    columns = [pa.field(name, text if name in TEXTS else pa.int64()) for name in ORDER]
    columns += [pa.field(name, pa.int64()) for name in ARGS.values()]
    columns += [_column(moves, leaf) for _, leaf in shown(moves)]
    return pa.schema(columns)


def _column(moves: CompiledSteps, leaf: Field) -> pa.Field:
    value = _type(moves, leaf.sort)
    names = {"names": ",".join(leaf.sort.values)} if isinstance(leaf.sort, Names) else None
    if not leaf.dims:
        return pa.field(leaf.name, value, metadata=names)
    parts = [
        pa.field(name, _type(moves, sort))
        for name, sort in zip(index_names(leaf), leaf.dims, strict=True)
    ]
    return pa.field(
        leaf.name, pa.list_(pa.struct([*parts, pa.field(VALUE, value)])), metadata=names
    )


def index_names(leaf: Field) -> list[str]:
    """What the indices of a field are called: by their sorts, and by number where two are alike."""
    names, times = [], Counter[str]()
    for sort in leaf.dims:
        times[sort.name] += 1
        names.append(sort.name if times[sort.name] == 1 else f"{sort.name} {times[sort.name]}")
    return names


def _type(moves: CompiledSteps, sort: Sort) -> pa.DataType:
    if sort is BOOL:
        return pa.bool_()
    return pa.int64() if moves.twin.ends(sort)[1] is None else pa.int16()


def layout_of(moves: CompiledSteps) -> str:
    """A hash of all that the codes in the columns depend on."""
    fields = [
        [leaf.name, *(f"{sort.name} {moves.twin.ends(sort)}" for sort in (*leaf.dims, leaf.sort)),
         *(leaf.sort.values if isinstance(leaf.sort, Names) else ())]
        for _, leaf in shown(moves)
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()[:16]


def metadata_of(header: dict[str, Any], events: int, layout: str) -> dict[bytes, bytes]:
    """The metadata of a schema."""
    about = {"format": FORMAT, **header, "events": events, "layout": layout}
    return {KEY: json.dumps(about, separators=(",", ":")).encode()}

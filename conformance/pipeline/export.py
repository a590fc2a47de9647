"""Exports the result of a check as JSON, or as a folder of Parquet tables, for other tools.

The tables are the parts of the page (`page`) that a notebook or Spark would query. Each table has
an explicit schema, and exists even when empty. Times are milliseconds since 1970; time stamps of
logs are read as UTC.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from conformance.pipeline.store import NotOursError
from conformance.pipeline.timeline import Timeline

FORMAT = "insync.report/1"
_INDEX = "report.json"
_TEXT, _LONG = pa.string(), pa.int64()

SCHEMAS: dict[str, pa.Schema] = {
    "findings": pa.schema(
        {
            "kind": _TEXT,
            "cluster": _TEXT,
            "file": _TEXT,
            "line": _LONG,
            "rule": _TEXT,
            "why": _TEXT,
            "allowed": _TEXT,
            "positions": pa.list_(_TEXT),  # every place where the same line stands
        }
    ),
    "coverage": pa.schema(
        {
            "system": _TEXT,
            "step": _TEXT,
            "judged": _LONG,
            "logged": _LONG,
            "told": _LONG,  # former name of `logged`
            "hidden": _LONG,
        }
    ),
    "refusals": pa.schema({"system": _TEXT, "step": _TEXT, "reason": _TEXT, "lines": _LONG}),
    "rules": pa.schema({"rule": _TEXT, "compared": _LONG}),
    "kinds": pa.schema({"kind": _TEXT, "lines": _LONG}),
    "clocks": pa.schema(  # `broker`'s clock is ahead of `against`'s by `least` to `most` ms
        {
            "cluster": _TEXT,
            "broker": _LONG,
            "against": _LONG,
            "least": _LONG,
            "most": _LONG,
            "pairs": _LONG,
        }
    ),
    "jumps": pa.schema(  # lines whose stamps go back by more than a minute
        {"cluster": _TEXT, "brokers": pa.list_(_LONG), "file": _TEXT, "line": _LONG}
    ),
    "controllers": pa.schema(  # terms; `until` is null where no line says that it ended
        {
            "cluster": _TEXT,
            "broker": _LONG,
            "epoch": _LONG,
            "since": _LONG,
            "until": _LONG,
            "where": _TEXT,
        }
    ),
    "timeline": pa.schema(  # each partition's states, each from `at` on; a leader of -1 is nobody
        {
            "cluster": _TEXT,
            "partition": _TEXT,
            "at": _LONG,
            "leader": _LONG,
            "epoch": _LONG,
            "isr": pa.list_(_LONG),
            "where": _TEXT,
        }
    ),
    "rejected": pa.schema(  # by shape, with the first place of each
        {
            "cluster": _TEXT,
            "reason": _TEXT,
            "template": _TEXT,
            "count": _LONG,
            "file": _TEXT,
            "line": _LONG,
        }
    ),
    "files": pa.schema(
        {
            "cluster": _TEXT,
            "file": _TEXT,
            "reason": _TEXT,  # why it could not be read to its end; null where it could
            "read": _LONG,
            "events": _LONG,
            "continuation": _LONG,
            "rejected": _LONG,
            "protocol": _LONG,
            "release": _TEXT,
        }
    ),
}


def tables(result: Mapping[str, Any], lines: Sequence[Timeline]) -> dict[str, pa.Table]:
    """The tables by name, from the result of `check_result` and the timelines of its clusters."""
    rows = parts(result, lines)
    return {
        name: pa.Table.from_pylist(
            [{column: row.get(column) for column in schema.names} for row in rows[name]],
            schema=schema,
        )
        for name, schema in SCHEMAS.items()
    }


def parts(result: Mapping[str, Any], lines: Sequence[Timeline]) -> dict[str, list[dict[str, Any]]]:
    """The rows of every table, as plain data."""
    coverage = result["coverage"]
    return {
        "findings": [dict(row) for row in result["findings"]],
        "coverage": coverage["model"],
        "refusals": coverage["refusals"],
        "rules": [{"rule": rule, "compared": n} for rule, n in coverage["rules"].items()],
        "kinds": [{"kind": kind, "lines": n} for kind, n in coverage["kinds"].items()],
        "clocks": result["clocks"],
        "jumps": [
            {"cluster": row["cluster"], "brokers": row["brokers"], "file": row["file"], "line": at}
            for row in result["files"]
            for at in row["jumps"]
        ],
        "controllers": [
            {"cluster": line.cluster} | asdict(term) for line in lines for term in line.terms
        ],
        "timeline": [
            {"cluster": line.cluster, "partition": name} | asdict(state)
            for line in lines
            for name, states in line.partitions.items()
            for state in states
        ],
        "rejected": result["rejected_by_template"],
        "files": result["files"],
    }


def as_json(result: Mapping[str, Any], lines: Sequence[Timeline]) -> str:
    """The result of a check and its timelines, as one JSON object."""
    whole = parts(result, lines)
    timelines = {name: whole[name] for name in ("controllers", "timeline", "jumps")}
    return json.dumps({"format": FORMAT} | dict(result) | timelines, indent=1) + "\n"


def refuse(folder: str) -> None:
    """Raises NotOursError where a folder of tables must not be written."""
    path = Path(folder)
    if not path.exists():
        return
    if not path.is_dir():
        raise NotOursError(f"{folder} is a file; Parquet tables go into a folder, name a new one")
    try:
        known = json.loads((path / _INDEX).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = {}
    if any(path.iterdir()) and (not isinstance(known, dict) or known.get("format") != FORMAT):
        raise NotOursError(f"{folder} is not empty and no report of insync; name another")


def write(folder: str, result: Mapping[str, Any], lines: Sequence[Timeline]) -> None:
    """Writes the tables as FOLDER/NAME.parquet, all or none, replacing a former report."""
    refuse(folder)
    path = Path(folder).resolve()
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir()
        written = tables(result, lines)
        for name, table in written.items():
            pq.write_table(table, part / f"{name}.parquet")
        index = {
            "format": FORMAT,
            "verdict": result["verdict"],
            "lines": result["lines"],
            "tables": {name: table.num_rows for name, table in written.items()},
        }
        (part / _INDEX).write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
        shutil.rmtree(path, ignore_errors=True)
        part.replace(path)
    finally:
        shutil.rmtree(part, ignore_errors=True)

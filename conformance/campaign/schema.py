"""The tables of a campaign, as Parquet schemas."""

from __future__ import annotations

import pyarrow as pa

CELLS = pa.schema(
    [
        ("number", pa.int64()),
        ("seed", pa.int64()),
        ("profile", pa.string()),
        ("planted", pa.string()),
    ]
)
"""One row a run that is to be done."""

TRACES = pa.schema([*CELLS, ("line", pa.int64()), ("text", pa.string())])
"""One row a line of a run's `insync.trace/1`, with its line end."""

VERDICTS = pa.schema(
    [
        *CELLS,
        ("verdict", pa.string()),
        ("events", pa.int64()),
        ("line", pa.int64()),
        ("kind", pa.string()),
        ("rule", pa.string()),
        ("why", pa.string()),
    ]
)
"""One row a run; `line` and what follows it are of the first finding, and empty without one."""

SMALL = pa.schema(
    [
        *CELLS,
        ("steps", pa.list_(pa.string())),
        ("brokers", pa.int64()),
        ("faults", pa.int64()),
        ("trace", pa.string()),
        ("story", pa.string()),
    ]
)
"""One row a failure that was made small."""

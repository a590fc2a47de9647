"""The folder of a campaign: its plan and finished parts, so that an interrupted campaign continues.

    campaign.json         the plan, and the commit that runs it
    runs/0000000/         a part of the runs: the tables `traces` and `verdicts`, as Parquet
    stories/              the smallest failing run of each kind, as a story and as a trace

A part appears by one rename when it is complete; incomplete parts are deleted.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from conformance.campaign.plan import CampaignPlan
from specs.rendering import as_data

_PLAN = "campaign.json"
FORMAT = "insync.campaign/1"

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


class OtherCampaignError(ValueError):
    """The folder holds something else; the message names it and says what to write."""


class CampaignFolder:
    """A campaign's folder, created or opened for this plan at this commit.

    Raises OtherCampaignError where it holds another plan, another commit's runs, or anything else;
    OSError where it cannot be written.
    """

    def __init__(self, where: Path, plan: CampaignPlan, commit: str) -> None:
        self.where = where
        asked = {"format": FORMAT, "commit": commit, **as_data(plan)}
        where.mkdir(parents=True, exist_ok=True)
        held = sorted(entry.name for entry in where.iterdir())
        if _PLAN not in held:
            if held:
                raise OtherCampaignError(f"{where}: already holds {held[0]}; name a new folder")
            (where / "runs").mkdir()
            _replace(where / _PLAN, json.dumps(asked, indent=1) + "\n")
            return
        for name in ("format", "commit", *as_data(plan)):
            was = _read(where / _PLAN).get(name)
            if was != asked[name]:
                raise OtherCampaignError(
                    f"{where / _PLAN}: {name} is {was!r} there and {asked[name]!r} here; "
                    f"ask for the same, or name a new folder"
                )

    def make_part(self, first: int, make: Callable[[Path], None]) -> bool:
        """Makes a part if it does not exist yet; returns whether it was made now."""
        whole = self.where / "runs" / f"{first:07}"
        if whole.is_dir():
            return False
        unfinished = self.where / "runs" / f".{first:07}.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        make(unfinished)
        unfinished.rename(whole)
        return True

    def verdicts(self) -> list[dict[str, Any]]:
        """Every verdict so far, by number."""
        rows = [
            row
            for file in sorted((self.where / "runs").glob("[0-9]*/verdicts/*.parquet"))
            for row in parquet.read_table(file).to_pylist()
        ]
        return sorted(rows, key=lambda row: int(row["number"]))

    def keep_story(self, name: str, text: str) -> Path:
        """Writes one file below `stories`, completely or not at all."""
        path = self.where / "stories" / name
        path.parent.mkdir(exist_ok=True)
        _replace(path, text)
        return path


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise OtherCampaignError(f"{path}: not JSON; name a new folder") from error
    if not isinstance(found, dict):
        raise OtherCampaignError(f"{path}: not a campaign's plan; name a new folder")
    return found


def _replace(path: Path, text: str) -> None:
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)

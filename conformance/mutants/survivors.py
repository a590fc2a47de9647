"""Reasons why mutants survive: a table that is kept in step with the implementation's text."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("survivors.json")


@cache
def survivors() -> dict[str, str]:
    """Key of a mutant -> why nothing that may be observed changes with it."""
    found: dict[str, str] = {}
    for entry in json.loads(TABLE.read_text(encoding="utf-8")):
        for key in entry["mutants"]:
            found[key] = entry["because"]
    return found

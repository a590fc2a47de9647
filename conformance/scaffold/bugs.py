"""A new historic bug, which `insync bugs` searches for."""

from __future__ import annotations

import re
from collections.abc import Mapping

from conformance.scaffold.edits import Edits, NotPossible, with_imports, with_member

_FURTHER = '''\
"""Bugs that were added after the sheet of 48."""

from model.bugs.entry import Reproduction, HistoricBug

ENTRIES = ()
'''
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*\Z")


def new_bug(
    edits: Edits,
    name: str,
    title: str,
    fixed_in: str,
    system: str,
    claim: str,
    base: str,
    reverted: Mapping[str, object],
    bounds: Mapping[str, int],
) -> list[str]:
    """Adds an entry: ``claim`` breaks in ``base`` with the switches ``reverted``."""
    from model.bugs import HISTORIC_BUGS

    if not _ID.match(name):
        raise NotPossible(f"{name!r} is no id of a bug: write it as KAFKA-1234 or KIP-99-a")
    if any(name.lower() in one.names for one in HISTORIC_BUGS):
        raise NotPossible(f"{name} is a historic bug already; insync bugs {name} finds it")
    if not reverted:
        raise NotPossible("name what is reverted: --without SWITCH, or --set SWITCH=VALUE")
    path, table = "model/bugs/further.py", "model/bugs/__init__.py"
    if (edits.root / path).exists():
        text = edits.read(path)
    else:
        edits.create(path, _FURTHER)
        text = _FURTHER
        listed = with_imports(edits.read(table), "model.bugs", ["further"])
        edits.put(table, with_member(listed, "PARTS", "further"))
    number = max(one.number for one in HISTORIC_BUGS) + 1
    said = title.rstrip(".").replace('"', "'")
    entry = (
        f'HistoricBug(\n        {number}, "{name}", "{said}",\n        (), "{fixed_in}",\n'
        f'        "{said}.",\n        "{claim}", "",\n'
        f'        Reproduction("{system}", "{base}", "{claim}", {dict(bounds)!r},\n'
        f"                   {dict(reverted)!r}),\n"
        "    )"
    ).replace("'", '"')
    edits.put(path, with_member(text, "ENTRIES", entry))
    return [f"insync bugs {name}", "insync test tests/bugs"]

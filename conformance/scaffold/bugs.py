"""A new historical bug: an entry of the zoo, which `insync zoo` searches for."""

from __future__ import annotations

import re
from collections.abc import Mapping

from conformance.scaffold.edits import Edits, NotPossible, with_imports, with_member

_FURTHER = '''\
"""Bugs that were added after the sheet of 48."""

from model.zoo.entry import Expression, ZooEntry

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
    from model.zoo import ZOO

    if not _ID.match(name):
        raise NotPossible(f"{name!r} is no id of a bug: write it as KAFKA-1234 or KIP-99-a")
    if any(name.lower() in one.names for one in ZOO):
        raise NotPossible(f"{name} is in the zoo already; insync zoo {name} finds it")
    if not reverted:
        raise NotPossible("name what is reverted: --without SWITCH, or --set SWITCH=VALUE")
    path, table = "model/zoo/further.py", "model/zoo/__init__.py"
    if (edits.root / path).exists():
        text = edits.read(path)
    else:
        edits.create(path, _FURTHER)
        text = _FURTHER
        zoo = with_imports(edits.read(table), "model.zoo", ["further"])
        edits.put(table, with_member(zoo, "PARTS", "further"))
    number = max(one.number for one in ZOO) + 1
    said = title.rstrip(".").replace('"', "'")
    entry = (
        f'ZooEntry(\n        {number}, "{name}", "{said}",\n        (), "{fixed_in}",\n'
        f'        "{said}.",\n        "{claim}", "",\n'
        f'        Expression("{system}", "{base}", "{claim}", {dict(bounds)!r},\n'
        f"                   {dict(reverted)!r}),\n"
        "    )"
    ).replace("'", '"')
    edits.put(path, with_member(text, "ENTRIES", entry))
    return [f"insync zoo {name}", "insync test tests/zoo"]

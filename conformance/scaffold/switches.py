"""A new switch: its row in `model/versions.py`, its value in each release, its system."""

from __future__ import annotations

import re
from collections.abc import Sequence

from conformance.scaffold.edits import Edits, NotPossible, checked_name, with_member

_END_OF_SWITCHES = "    )\n}  # fmt: skip\n\n_FIXED_BEFORE"
VALUES = {"true": True, "false": False}


def new_switch(
    edits: Edits,
    name: str,
    system: str,
    about: str,
    source: str,
    values: Sequence[str],
    since: str | None,
) -> list[str]:
    """Adds the switch, with the value before the fix first; ``since`` is the release with the fix.

    Without ``since`` no release has the fault: all have the last value.
    """
    checked_name("switch", name)
    if len(values) < 2:
        raise NotPossible("a switch has two values or more: --values false,true")
    path = "model/versions.py"
    text = edits.read(path)
    if f'"{name}", (' in text:
        raise NotPossible(f"{name} is a switch already; insync versions lists them")
    typed = [VALUES.get(one, one) for one in values]
    if _END_OF_SWITCHES not in text:
        raise NotPossible(f"{path} has no table of switches any more")
    row = (
        f'        Switch(\n            "{name}", ({", ".join(repr(one) for one in typed)}),\n'
        f"            {_quoted(about)},\n            {_quoted(source)},\n        ),\n"
    ).replace("'", '"')
    text = text.replace(_END_OF_SWITCHES, row + _END_OF_SWITCHES)
    if since is None:
        text = _set(text, "_LEFT_OUT", name, typed[-1])
    else:
        text = _set(text, "_0_10", name, typed[0])
        if since != "0.10":
            text = _set(text, "_" + since.replace(".", "_"), name, typed[-1])
        else:
            raise NotPossible("0.10 is the first release: leave --since out, or name a later one")
    edits.put(path, text)
    of_system = f"model/{system}/__init__.py"
    edits.put(of_system, with_member(edits.read(of_system), "_SWITCHES", f'"{name}"'))
    without = f"--without {name}" if typed == [False, True] else f"--set {name}={values[0]}"
    return [
        f"ask version.{name} in model/{system} where the protocol differs",
        f"insync explore {system} {without}",
    ]


def _quoted(text: str) -> str:
    return '"' + text.rstrip(".").replace('"', "'").replace("\\", "") + '"'


def _set(text: str, preset: str, name: str, value: object) -> str:
    """The text, in which a preset says a value: at the end of its dictionary."""
    found = re.search(rf"^{preset}: dict\[str, object\] = {{", text, re.MULTILINE)
    if found is None:
        known = re.findall(r"^_(\d+_\d+): dict", text, re.MULTILINE)
        releases = ", ".join(one.replace("_", ".") for one in known)
        raise NotPossible(f"{preset[1:].replace('_', '.')} is no release here: one of {releases}")
    end = text.index("}", found.end())
    item = f'"{name}": {value!r}'.replace("'", '"')
    if "\n" in text[found.end() : end]:
        return f"{text[:end]}    {item},\n{text[end:]}"
    return f"{text[:end]}, {item}{text[end:]}"

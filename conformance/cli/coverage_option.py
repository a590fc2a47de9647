"""`--coverage` of `lockstep` and `edges`: which lines of `impl.core` were compared."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from conformance.cli.common import WrongUse, say, show_table, write_atomically
from specs.rendering import as_data

if TYPE_CHECKING:
    from conformance.coverage import CoreCoverage

F = TypeVar("F", bound=Callable[..., Any])
SHOWN = ""
"""What `--coverage` is given without a file."""


def coverage_option(command: F) -> F:
    """`--coverage [FILE]`."""
    return click.option(
        "--coverage", "coverage", metavar="[FILE]", is_flag=False, flag_value=SHOWN,
        help="Show which lines of impl/core ran under comparison with the model; with FILE keep "
        "them there, added to those that FILE holds already.",
    )(command)  # fmt: skip


@contextlib.contextmanager
def measured(coverage: str | None, json_target: str | None) -> Iterator[CoreCoverage | None]:
    """Note what runs inside, and show it at the end; nothing without the option."""
    if coverage is None:
        yield None
        return
    from conformance.coverage import CoreCoverage, read

    path = None if coverage == SHOWN else Path(coverage)
    try:
        found = CoreCoverage() if path is None or not path.exists() else read(path)
    except (ValueError, OSError) as error:
        raise WrongUse(f"--coverage: {error}") from error
    with found:
        yield found
    _show(found, json_target)
    if path is not None:
        write_atomically(path, json.dumps(as_data(found), indent=1) + "\n")


def _show(found: CoreCoverage, json_target: str | None) -> None:
    rows = [
        (module.removeprefix("impl.core."), walked, lines, f"{walked / lines:.0%}")
        for module, walked, lines in found.rows()
        if lines
    ]
    numbers = ("walked", "lines", "share")
    show_table(("module of impl/core", *numbers), rows, json_target, right=numbers)
    missing = found.missing
    explained = [one for one in missing if one.why]
    for why, ones in groupby(sorted(explained, key=lambda one: one.why), key=lambda one: one.why):
        names = ", ".join(one.function for one in ones)
        say(f"not walked, since {why}: {names}", json_target)
    for one in missing:
        if not one.why:
            lines = ", ".join(map(str, one.lines))
            say(f"not walked: {one.module} {one.function}: {lines}", json_target)
    for name in found.needless():
        say(f"walked, and not_walked.json has a reason why not: {name}", json_target)
    total = sum(lines for _, _, lines in found.rows())
    left = len({(one.module, line) for one in missing if not one.why for line in one.lines})
    say(
        f"{found.share:.1%} of {total:,} lines of impl/core ran under comparison with the model; "
        f"{left:,} lines have no reason",
        json_target,
    )

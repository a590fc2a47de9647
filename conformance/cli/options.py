"""Options that several commands share: a system, its version and switches, and its bounds."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import click

from conformance.cli.chosen_system import Size, Variant
from conformance.cli.common import Command, WrongUse
from model.faults import FAULTS
from model.systems import SYSTEMS
from specs.explorer import ENGINES


def system_argument(command: Command) -> Command:
    """Add the argument SYSTEM, which arrives as `system: str`; without it, list the systems."""
    return _with_options(
        command, click.argument("system", metavar="SYSTEM", required=False, callback=_required)
    )


def _required(context: click.Context, _parameter: click.Parameter, name: str | None) -> str:
    if name is None:
        wanted = " ".join(part for part in context.command.collect_usage_pieces(context))
        raise WrongUse(
            f"name a system, one of {', '.join(SYSTEMS)}; write: {context.command_path} {wanted}"
        )
    return name


fault_option = click.option(
    "--fault",
    "faults",
    metavar="NAME",
    multiple=True,
    help=f"Add a fault: {', '.join(FAULTS)}.",
)
"""Adds --fault, which arrives as `faults: tuple[str, ...]`."""


def variant_options(command: Command) -> Command:
    """Add --version, --set, --without and --fault; they arrive as `variant: Variant`."""

    @functools.wraps(command)
    def gathered(
        version: str | None,
        settings: tuple[str, ...],
        without: tuple[str, ...],
        faults: tuple[str, ...],
        **rest: Any,
    ) -> Any:
        return command(variant=Variant(version, settings, without, faults), **rest)

    return _with_options(
        cast(Command, gathered),
        click.option("--version", metavar="V", help="A release, or a design (see versions)."),
        click.option(
            "--set",
            "settings",
            metavar="SWITCH=VALUE",
            multiple=True,
            help="Change one switch of the version.",
        ),
        click.option(
            "--without",
            metavar="SWITCH",
            multiple=True,
            help="Turn a fix off: a true-or-false switch as it was before it.",
        ),
        fault_option,
    )


def size_options(command: Command) -> Command:
    """Add --brokers and --bound; they arrive as `size: Size`, with room for the faults named."""

    @functools.wraps(command)
    def gathered(
        brokers: str | None, bounds: tuple[str, ...], variant: Variant, **rest: Any
    ) -> Any:
        return command(variant=variant, size=Size(brokers, bounds, variant.faults), **rest)

    return _with_options(
        cast(Command, gathered),
        click.option("--brokers", metavar="N", help="Short for --bound brokers=N."),
        click.option(
            "--bound",
            "bounds",
            metavar="NAME=N",
            multiple=True,
            help="Change one bound (see versions).",
        ),
    )


@dataclass(frozen=True)
class Searching:
    """How to explore: what `explore` and `find` take besides the system and its size."""

    max_states: int | None
    engine: str
    symmetry: bool
    workers: int | None
    memory_gb: float | None
    checkpoint: Path | None = None
    fingerprints: bool = False

    @property
    def memory_bytes(self) -> int | None:
        """The memory that states and tables may take."""
        return None if self.memory_gb is None else int(self.memory_gb * 1e9)

    def words(self) -> str:
        """The options that change what a visit finds, to be written behind its command."""
        limit = f" --max-states {self.max_states}" if self.max_states else ""
        fingerprints = " --fingerprints" if self.fingerprints else ""
        return limit + (" --symmetry" if self.symmetry else "") + fingerprints


_ALSO = {"symmetry": ("spark",)}
"""Options of the native engine that another one has as well."""


def search_options(command: Command, more_engines: tuple[str, ...] = ()) -> Command:
    """Add the options of a search; they arrive as `search: Searching`."""

    @functools.wraps(command)
    def gathered(
        max_states: int | None,
        engine: str,
        symmetry: bool,
        workers: int | None,
        memory: float | None,
        checkpoint: Path | None = None,
        fingerprints: bool = False,
        **rest: Any,
    ) -> Any:
        search = Searching(
            max_states, engine, symmetry, workers, memory, checkpoint, fingerprints
        )  # fmt: skip
        for name, given in (("symmetry", symmetry), ("workers", workers), ("memory", memory),
                            ("checkpoint", checkpoint),
                            ("fingerprints", fingerprints)):  # fmt: skip
            if given and engine not in ("native", *_ALSO.get(name, ())):
                raise WrongUse(f"--{name} is for --engine native; leave one of them out")
        return command(search=search, **rest)

    return _with_options(
        cast(Command, gathered),
        click.option(
            "--max-states",
            metavar="N",
            type=click.IntRange(min=1),
            help="Stop before more than N states; what is open then is unknown.",
        ),
        click.option(
            "--symmetry",
            is_flag=True,
            help="Visit one of all states that differ by broker ids only.",
        ),
        click.option(
            "--engine",
            type=click.Choice([*ENGINES, *more_engines]),
            default="native",
            show_default=True,
            help="native: machine code; python: plain Python, for comparison"
            + (f"; or {' or '.join(more_engines)}." if more_engines else "."),
        ),
        click.option(
            "--workers",
            metavar="N",
            type=click.IntRange(min=1, max=64),
            help="Threads for large searches; default: one per processor.",
        ),
        click.option(
            "--memory",
            metavar="GB",
            type=click.FloatRange(min=0, min_open=True),
            help="Memory for states and tables; default: four fifths of the free memory.",
        ),
    )


def checkpoint_option(command: Command) -> Command:
    """Add --checkpoint and --fingerprints; they arrive within `search`."""
    return _with_options(
        command,
        click.option(
            "--checkpoint",
            metavar="DIR",
            type=click.Path(path_type=Path),
            help="Save complete levels in DIR, and continue from those that are there.",
        ),
        click.option(
            "--fingerprints",
            is_flag=True,
            help="Store hashes instead of states: less memory, but only broken claims are certain.",
        ),
    )


def _with_options(command: Command, *options: Callable[[Command], Command]) -> Command:
    # click lists options in the order in which decorators are written, outermost first.
    for option in reversed(options):
        command = option(command)
    return command

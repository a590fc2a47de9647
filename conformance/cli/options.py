"""Options that several commands share: a system, its version and switches, and its bounds."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

import click

from conformance.cli.choice import Size, Variant
from conformance.cli.common import Command, WrongUse
from model.systems import SYSTEMS


def system_argument(command: Command) -> Command:
    """Add the argument SYSTEM, which arrives as `system: str`; without it, say which there are."""
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


def variant_options(command: Command) -> Command:
    """Add --version, --set and --without; they arrive as `variant: Variant`."""

    @functools.wraps(command)
    def gathered(
        version: str | None, settings: tuple[str, ...], without: tuple[str, ...], **rest: Any
    ) -> Any:
        return command(variant=Variant(version, settings, without), **rest)

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
            help="Throw a true-or-false switch back to what it was before the fix.",
        ),
    )


def size_options(command: Command) -> Command:
    """Add --brokers and --bound; they arrive as `size: Size`."""

    @functools.wraps(command)
    def gathered(brokers: str | None, bounds: tuple[str, ...], **rest: Any) -> Any:
        return command(size=Size(brokers, bounds), **rest)

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


def search_options(command: Command) -> Command:
    """Add --max-states and --engine; they arrive as `max_states: int | None`, `engine: str`."""
    return _with_options(
        command,
        click.option(
            "--max-states",
            metavar="N",
            type=click.IntRange(min=1),
            help="Give up after N states; what is open then is unknown.",
        ),
        click.option(
            "--engine", type=click.Choice(["python"]), default="python", show_default=True
        ),
    )


def _with_options(command: Command, *options: Callable[[Command], Command]) -> Command:
    # click lists options in the order in which decorators are written, outermost first.
    for option in reversed(options):
        command = option(command)
    return command

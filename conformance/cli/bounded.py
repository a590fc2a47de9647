"""Options of `insync find --engine z3`: the length of runs, and how much work it may take."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any, cast

import click

from conformance.cli.chosen_system import Size
from conformance.cli.common import Command, WrongUse
from conformance.cli.options import Searching

ENGINE = "z3"
NONE = "none"
MAX_STEPS = 20
"""The default of `specs.bounded`, said here so that help needs no Z3; a test holds them equal."""

RLIMIT = 1_000_000_000


@dataclass(frozen=True)
class SearchLimits:
    """The values of --max-steps and --rlimit."""

    max_steps: int | None
    rlimit: int | None

    def words(self) -> str:
        """The options as they were typed, to be written behind a command."""
        steps = f" --max-steps {self.max_steps}" if self.max_steps is not None else ""
        return steps + (f" --rlimit {self.rlimit}" if self.rlimit is not None else "")


def bounded_options(command: Command) -> Command:
    """Add `--max-steps N` and `--rlimit N`; they arrive as `bounded: Bounded`."""

    @functools.wraps(command)
    def gathered(max_steps: int | None, rlimit: int | None, **rest: Any) -> Any:
        return command(bounded=SearchLimits(max_steps, rlimit), **rest)

    made = cast(Command, gathered)
    made = click.option(
        "--rlimit",
        metavar="N",
        type=click.IntRange(1, 4_000_000_000),
        help=f"Z3: the work to spend, in Z3's own unit.  [default: {RLIMIT}]",
    )(made)
    return click.option(
        "--max-steps",
        metavar="N",
        type=click.IntRange(0, 200),
        help=f"Z3: the longest runs to look at.  [default: {MAX_STEPS}]",
    )(made)


def split_lifted(size: Size) -> tuple[Size, tuple[str, ...]]:
    """The bounds with a number, and the names of those that are `none`: `--bound epoch=none`."""
    lifted = [one.partition("=")[0] for one in size.bounds if one.partition("=")[2] == NONE]
    kept = tuple(one for one in size.bounds if one.partition("=")[2] != NONE)
    given = {one.partition("=")[0] for one in kept}
    for name in lifted:
        if name in given:
            raise WrongUse(f"the bound {name} is given as a number and as {NONE}; say it once")
    return replace(size, bounds=kept), tuple(dict.fromkeys(lifted))


def refuse_what_does_not_fit(
    search: Searching, bounded: SearchLimits, lifted: tuple[str, ...]
) -> None:
    """Options of the explorer do not go with Z3, nor Z3's with the explorer."""
    if search.engine == ENGINE:
        if search.max_states is not None:
            raise WrongUse(
                "--max-states is for engines that visit states; with --engine z3 write --max-steps"
            )
        return
    for name, given in (("max-steps", bounded.max_steps), ("rlimit", bounded.rlimit)):
        if given is not None:
            raise WrongUse(f"--{name} is for --engine z3; leave one of them out")
    for name in lifted:
        raise WrongUse(
            f"--bound {name}={NONE}: the explorer needs a number; "
            f"write --bound {name}=N, or add --engine z3"
        )

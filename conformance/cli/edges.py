"""`insync edges`: walk every edge of the model's state graph on the implementation."""

from __future__ import annotations

import time

import click

from conformance.cli.choice import Size
from conformance.cli.common import Progress, emit_json, finish, json_option, say
from conformance.cli.tables import show_table
from model.replication import SYSTEM

SMALL = {
    "brokers": 2, "log": 1, "records": 1, "epoch": 1, "controllers": 1, "versions": 1,
    "crashes": 0, "expiries": 0, "losses": 0,
}  # fmt: skip
"""The bounds unless told otherwise: a graph that is walked whole in a second."""


@click.command()
@click.option("--brokers", metavar="N", help="Short for --bound brokers=N.")
@click.option("--bound", "bounds", metavar="NAME=N", multiple=True, help="Change one bound.")
@click.option(
    "--max-states",
    metavar="N",
    type=click.IntRange(min=1),
    help="Walk the edges of the first N states only; the answer is then at best unknown.",
)
@json_option
def edges(
    brokers: str | None, bounds: tuple[str, ...], max_states: int | None, json_target: str | None
) -> None:
    """Walk every edge of the graph of `replication` on the implementation, and back.

    Each transition that the model allows in a state is driven in a world that is in that state, and
    must end alike; each step that the world offers must be one of the model's. Exits 0 when all of
    a whole graph is covered, 1 at a mismatch, 2 when states were left out.

    \b
    Example:
      insync edges
      insync edges --bound versions=2 --bound expiries=1 --max-states 5000 --json -
    """
    from conformance.edges import walk_edges

    given = [text.partition("=")[0] for text in bounds] + (["brokers"] if brokers else [])
    chosen = Size(brokers, bounds).limits(SYSTEM)
    limits = {name: chosen[name] if name in given else SMALL[name] for name in chosen}
    began = time.monotonic()
    with Progress() as progress:
        report = walk_edges(limits, max_states, progress)
    seconds = round(time.monotonic() - began, 3)
    for mismatch in report.mismatches:
        say(f"{mismatch}\n", json_target)
    show_table(("transition", "edges"), sorted(report.fired.items()), json_target, right=("edges",))
    shown = ", ".join(f"{name}={value}" for name, value in limits.items())
    say(
        f"{report.verdict}: {report.covered:,} of {report.edges:,} edges covered, "
        f"{report.states:,} states{'' if report.complete else ' (not all)'} ({shown}), "
        f"{seconds:.1f} s",
        json_target,
    )
    emit_json(json_target, report.as_json() | {"seconds": seconds})
    finish(report.verdict)

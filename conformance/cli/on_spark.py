"""`insync explore --engine spark`: its options, and the exploration."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import click

from conformance.cli.common import Command, Progress, WrongUse
from conformance.cli.options import Searching
from model.language import RecordedSystem
from specs.exploration import Exploration

SPARK = "spark"
SHARDS = 8


@dataclass(frozen=True)
class OnSpark:
    """The options of a distributed search: where it runs, and where its states are kept."""

    master: str | None
    shards: int | None
    segments: str | None

    def refuse_unless(self, engine: str, grew: bool) -> None:
        """WrongUse where options of Spark are given for another engine, or the reverse."""
        if engine == SPARK:
            if grew:
                raise WrongUse(
                    "--field-values counts where all states are in one memory: --engine native"
                )
            remote = self.master is not None and not self.master.startswith("local")
            if remote and self.segments is None:
                raise WrongUse(
                    f"--master {self.master}: name a new folder that every executor sees: "
                    "--segments DIR"
                )
            return
        given = {"master": self.master, "shards": self.shards, "segments": self.segments}
        for name, value in given.items():
            if value is not None:
                raise WrongUse(f"--{name} is for --engine spark; leave one of them out")

    def visit(
        self,
        recorded: RecordedSystem,
        bounds: Mapping[str, int],
        claims: Sequence[str] | None,
        search: Searching,
        progress: Progress,
    ) -> Exploration | None:
        """Explores on Spark; None if another engine is asked for."""
        if search.engine != SPARK:
            return None
        from conformance.distributed import ExplorationTask, Segments, distributed_search
        from conformance.pipeline.java import NoJavaError
        from conformance.pipeline.session import SparkFailedError, spark_session

        question = ExplorationTask(
            recorded.system.name, recorded.version, json.dumps(recorded.switches, sort_keys=True),
            json.dumps(dict(bounds), sort_keys=True), None if claims is None else tuple(claims),
            search.symmetry, self.shards or SHARDS,
        )  # fmt: skip
        question.kernel()  # what makes no sense is refused before Spark is started
        try:
            session = spark_session(self.master)
        except (NoJavaError, SparkFailedError) as error:
            raise WrongUse(f"{error}; without Spark: --engine native") from error
        if self.segments is not None:
            segments = Segments(str(_new_folder(self.segments)))
            return distributed_search(question, segments, session, search.max_states, progress)
        with tempfile.TemporaryDirectory(prefix="insync-") as folder:
            return distributed_search(
                question, Segments(folder), session, search.max_states, progress
            )


def _new_folder(name: str) -> Path:
    folder = Path(name).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = sorted(entry.name for entry in folder.iterdir())
    except OSError as error:
        raise WrongUse(f"--segments {name}: {error.strerror}; name a folder to make") from error
    if held:
        raise WrongUse(f"--segments {name}: already holds {held[0]}; name a new folder")
    return folder


def spark_options(command: Command) -> Command:
    """Add --master, --shards and --segments; they arrive as `on_spark: OnSpark`."""

    @functools.wraps(command)
    def gathered(master: str | None, shards: int | None, segments: str | None, **rest: Any) -> Any:
        return command(on_spark=OnSpark(master, shards, segments), **rest)

    options = (
        click.option(
            "--segments", metavar="DIR", help="Spark: keep visited states in this new folder."
        ),
        click.option(
            "--shards",
            metavar="N",
            type=click.IntRange(min=2, max=4096),
            help=f"Spark: the number of parts of the states, by hash; default {SHARDS}.",
        ),
        click.option("--master", metavar="URL", help="Spark: its master; local[2] by default."),
    )
    return functools.reduce(lambda added, option: option(added), options, cast(Command, gathered))

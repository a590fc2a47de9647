"""Results that a command keeps: as a story, and in the explorer in the browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from conformance.cli.common import WrongUse, say, write_atomically
from specs.rendering import as_data
from specs.runs import Run

if TYPE_CHECKING:
    from conformance.web.compare import Comparison
    from conformance.web.run_files import ReplayedRun

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class KeepOptions:
    """The options --save-story and --open, and what they do with a run that was found."""

    story: str | None
    opens: bool

    def keep(self, run: Run | None, json_target: str | None) -> None:
        """Write the run's story and open its page, where asked; without a run, say so."""
        if run is None:
            if self.story is not None or self.opens:
                say("there is no run to keep", json_target)
            return
        if self.story is not None:
            _write(self.story, run)
            say(f"the story is in {self.story}; play it: insync story {self.story}", json_target)
        if self.opens:
            _open(run)


def keep_options(command: Command) -> Command:
    """Add `--save-story FILE` and `--open`; they arrive as `keeping: KeepOptions`."""

    def wrapped(*args: Any, save_story: str | None, opens: bool, **rest: Any) -> Any:
        if save_story is not None and not Path(save_story).resolve().parent.is_dir():
            raise WrongUse(f"--save-story {save_story}: there is no such folder; create it first")
        return command(*args, keeping=KeepOptions(save_story, opens), **rest)

    wrapped.__doc__, wrapped.__name__ = command.__doc__, command.__name__
    wrapped.__dict__.update(command.__dict__)
    opened = click.option("--open", "opens", is_flag=True, help="Show the run in the browser.")
    saved = click.option("--save-story", metavar="FILE", help="Write the run as a story to FILE.")
    return saved(opened(wrapped))  # type: ignore[return-value]


def _write(name: str, run: Run) -> None:
    from specs.story.compose import story_from_run

    _write_text(name, story_from_run(run))


def _write_text(name: str, text: str) -> None:
    try:
        write_atomically(Path(name), text)
    except OSError as error:
        raise WrongUse(f"--save-story {name}: {error.strerror}; name another file") from error


def story_option(command: Command) -> Command:
    """Add `--save-story FILE` alone; it arrives as `save_story: str | None`."""

    def checked(_: click.Context, __: click.Parameter, name: str | None) -> str | None:
        if name is not None and not Path(name).resolve().parent.is_dir():
            raise WrongUse(f"--save-story {name}: there is no such folder; create it first")
        return name

    return click.option(
        "--save-story", metavar="FILE", callback=checked,
        help="Write the run to the first finding as a story to FILE.",
    )(command)  # fmt: skip


def keep_story_text(name: str, text: str | None, json_target: str | None) -> None:
    """Writes a story whose text is given; None: reports that there is no run to keep."""
    if text is None:
        say("there is no run to keep", json_target)
        return
    _write_text(name, text)
    say(f"the story is in {name}; play it: insync story {name}", json_target)


def keep_trace(name: str, path: Path, json_target: str | None) -> None:
    """Writes the run of a trace up to the line that does not fit, and what the model does there.

    Raises WrongUse for a trace that holds no run.
    """
    from conformance.story_of_run import NoStory, as_story
    from conformance.web.run_files import NoRunError
    from conformance.web.trace_as_run import traced

    try:
        played, seen = traced(path)
        shows = " ".join((played.diagnosis or "all of it fits").split())
        then = () if seen is None else seen.candidates
        keep_story_text(
            name, as_story(played.title, shows, played.heading, played.lines, then), json_target
        )
    except (NoRunError, NoStory) as error:
        raise WrongUse(f"--save-story {name}: {error}") from error


def keep_checked(
    name: str, paths: Sequence[str], result: Mapping[str, Any], json_target: str | None
) -> None:
    """The story of the first trace with a finding, else of the first trace; logs have none."""
    from conformance.web.trace_as_run import is_trace

    found = [Path(str(one["file"])) for one in result["findings"]]
    traces = [path for path in [*found, *map(Path, paths)] if path.is_file() and is_trace(path)]
    if traces:
        keep_trace(name, traces[0], json_target)
    else:
        keep_story_text(name, None, json_target)


def open_option(command: Command) -> Command:
    """Add `--open` alone, for what is a run or holds one already; it arrives as `opens: bool`."""
    return click.option("--open", "opens", is_flag=True, help="Show the run in the browser.")(
        command
    )


def _open(run: Run) -> None:
    from conformance.web.run_files import of_run

    show(of_run(as_data(run)))


def show(played: ReplayedRun) -> None:
    """A run in the explorer, until Ctrl-C."""
    from conformance.cli.play import serve

    serve({"heading": played.heading, "lines": list(played.lines)}, 0, opens=True)


def show_comparison(result: Comparison, heading: str) -> None:
    """Two sides in the explorer, until Ctrl-C; the board beside them is that of the heading."""
    from conformance.cli.play import serve
    from conformance.web.compare import packed

    game: dict[str, object] = {"heading": heading, "lines": []}
    serve(game, 0, opens=True, comparison=packed(result))


def show_file(path: Path) -> None:
    """The run of a file in the explorer; a trace beside the model. Raises WrongUse."""
    from conformance.cli.play import serve
    from conformance.web.compare import packed, with_trace
    from conformance.web.run_files import NoRunError, read_run
    from conformance.web.trace_as_run import is_trace, traced

    try:
        if not is_trace(path):
            show(read_run(path))
            return
        played, observed = traced(path)
    except NoRunError as error:
        raise WrongUse(str(error)) from error
    game: dict[str, object] = {"heading": played.heading, "lines": list(played.lines)}
    serve(game, 0, opens=True, comparison=packed(with_trace(played, observed)))


def show_checked(paths: Sequence[str], result: Mapping[str, Any]) -> None:
    """What `insync check` found: the first trace with a finding, else the logs, beside the model.

    Raises WrongUse where there is neither.
    """
    from conformance.cli.play import serve
    from conformance.web.compare import packed
    from conformance.web.log_comparison import with_logs
    from conformance.web.run_files import NoRunError
    from conformance.web.trace_as_run import is_trace

    found = [Path(str(one["file"])) for one in result["findings"]]
    traces = [path for path in [*found, *map(Path, paths)] if path.is_file() and is_trace(path)]
    if traces:
        show_file(traces[0])
        return
    try:
        beside = with_logs(Path(paths[0])).comparison
    except NoRunError as error:
        raise WrongUse(f"--open: {error}") from error
    game: dict[str, object] = {"heading": "system replication brokers 3", "lines": []}
    serve(game, 0, opens=True, comparison=packed(beside))

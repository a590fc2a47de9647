"""`insync play`: the model in the browser, on this machine only."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from conformance.cli.chosen_system import refusals, system_named
from conformance.cli.common import WrongUse, emit_json, json_option, say
from conformance.cli.interrupts import interrupts

_EXAMPLE = """
\b
Example:
  insync play                     # the start page
  insync play classic --version kip_101
  insync play replication --without fetch_fencing --brokers 3
  insync play --run specs/stories/m2_is_lost.story
"""


@click.command(epilog=_EXAMPLE)
@click.argument("system", required=False)
@click.option("--version", metavar="V", help="A version of the system; its default if left out.")
@click.option(
    "--without",
    multiple=True,
    metavar="SWITCH",
    help="Turn a fix off: the switch as it was before the fix.",
)
@click.option("--brokers", type=click.IntRange(1, 6), help="How many brokers.")
@click.option(
    "--run",
    "run_file",
    metavar="FILE",
    help="Begin with a story, a trace, a run as JSON, or an address.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="A port; any free if 0.")
@click.option("--open/--no-open", "opens", default=False, help="Open the page in the browser.")
@json_option
def play(
    system: str | None,
    version: str | None,
    without: tuple[str, ...],
    brokers: int | None,
    run_file: str | None,
    port: int,
    opens: bool,
    json_target: str | None,
) -> None:
    """Play a system in the browser: take its steps, ask why not, look for disasters.

    The page is served on 127.0.0.1 until Ctrl-C; nothing leaves this machine. Its address holds
    the whole run, so that it can be kept and shared. Without a SYSTEM it begins at the start page:
    disasters to choose from, a tour, the lessons, and a place to drop a folder of logs.
    """
    begins = system or version or without or brokers or run_file
    heading, lines = _story(run_file) if run_file else ("", [])
    if not heading:
        words = ["system", system_named(system or "replication").name]
        words += ["version", version] if version else []
        words += [word for name in without for word in ("without", name)]
        words += ["brokers", str(brokers)] if brokers else []
        heading = " ".join(words)
    serve({"heading": _with_version(heading), "lines": lines}, port, opens, json_target,
          page="play" if begins else "")  # fmt: skip


def serve(
    opened: dict[str, object],
    port: int,
    opens: bool,
    json_target: str | None = None,
    comparison: dict[str, object] | None = None,
    page: str = "play",
) -> None:
    """Serves the page until Ctrl-C, and says at once where it is.

    `page`: where it begins: "" is the start page, "play" the explorer. With a `comparison` it
    begins at the page that shows it.

    Raises WrongUse where the server is not installed, or the port is taken.
    """
    try:
        import uvicorn

        from conformance.web.server import application, free_socket
    except ImportError as error:
        raise WrongUse("the page needs starlette and uvicorn: install insync[play]") from error
    try:
        place = free_socket(port)
    except OSError as error:
        raise WrongUse(
            f"--port {port}: {error.strerror}; leave it out to take a free one"
        ) from error
    page = "compare" if comparison is not None else page
    with place:
        number = place.getsockname()[1]
        url = f"http://127.0.0.1:{number}/{page}"
        place.listen()  # from here on the page can be asked for, and waits for its server
        say(f"{url}   (Ctrl-C ends it)", json_target)
        emit_json(json_target, {"url": url, **opened})
        if opens:
            webbrowser.open(url)
        settings = uvicorn.Config(
            application(number, opened, comparison),
            log_level="warning",
            timeout_graceful_shutdown=1,
        )
        interrupts.end_as_usual()
        try:
            uvicorn.Server(settings).run(sockets=[place])
        except KeyboardInterrupt:
            raise KeyboardInterrupt("the page is closed") from None


def _with_version(heading: str) -> str:
    """The heading with its version named, so that the address says it. WrongUse if it is wrong."""
    from conformance.web.board import board
    from specs.story.heading import heading_line

    with refusals():
        read = board(heading).heading
    sizes = {name: n for name, n in read.step_bounds.items() if name == "brokers"}
    return heading_line(read.recorded, {**sizes, **read.given})


def _story(name: str) -> tuple[str, list[str]]:
    from conformance.web.address import open_address
    from conformance.web.run_files import NoRunError, read_run

    if "#system+" in name:
        with refusals():
            found = open_address(name.partition("#")[2])
        if found.said is not None:
            click.echo(f"insync: {found.said}; the nearest is played", err=True)
        return found.heading, list(found.lines)
    try:
        played = read_run(Path(name))
    except NoRunError as error:
        raise WrongUse(str(error)) from error
    except OSError as error:
        raise WrongUse(f"{name}: {error.strerror}; name a story or the JSON of a run") from error
    return played.heading, list(played.lines)

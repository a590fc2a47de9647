"""The explorer's server, reachable on 127.0.0.1 only.

Every answer is a function of what is asked (a heading and lines), so nothing is kept for a
visitor. Requests from other hosts or pages of other origins are refused; nothing is read from
disk but the page's own files and stories, and nothing written but logs that are dropped into it, in
a folder that goes with the server.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
import socket
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from conformance.web.address import address
from conformance.web.answers import ANSWERS, way
from conformance.web.board import board
from conformance.web.dropped_files import DroppedFiles, RefusedError
from conformance.web.explain import frames_of
from conformance.web.lessons import index_page, lesson_page, lessons
from conformance.web.run_files import read_run
from conformance.web.searches import Searches
from conformance.web.self_contained import PageTable
from conformance.web.story_frames import run_of
from model.language import ProtocolError

if TYPE_CHECKING:
    from specs.exploration import Report

STATIC = Path(__file__).parent / "static"
FILES = {
    "/": ("start.html", "text/html; charset=utf-8"),
    "/play": ("index.html", "text/html; charset=utf-8"),
    "/start.js": ("start.js", "text/javascript; charset=utf-8"),
    "/compare": ("compare.html", "text/html; charset=utf-8"),
    "/compare.js": ("compare.js", "text/javascript; charset=utf-8"),
    "/draw.js": ("draw.js", "text/javascript; charset=utf-8"),
    "/app.js": ("app.js", "text/javascript; charset=utf-8"),
    "/lesson.js": ("lesson.js", "text/javascript; charset=utf-8"),
    "/words.js": ("words.js", "text/javascript; charset=utf-8"),
    "/style.css": ("style.css", "text/css; charset=utf-8"),
}
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
REPORT_HEADERS = HEADERS | {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox allow-scripts",
}
"""A report holds lines of somebody's logs: it runs in a box of its own, and fetches nothing."""

STORIES = Path(__file__).resolve().parents[2] / "specs" / "stories"
_NAME = re.compile(r"\w{1,100}", re.ASCII)
MOVING, MOVING_BEGINS = "m2_is_lost", 12
"""The run that moves on the start page, and where it begins."""

MOST_BYTES = 1_000_000
SECONDS_OF_SILENCE = 0.5
"""A search says how far it is as often."""


def application(
    port: int, opened: dict[str, Any], comparison: dict[str, Any] | None = None
) -> Starlette:
    """The server of the page; `opened` is its first game, `comparison` is what /compare shows, if
    there is a comparison. After the first answer a process begins to prepare the game's goals: any
    earlier, it would slow that answer down."""
    searches = Searches()
    waiting = [partial(searches.prepare, str(opened["heading"]))]
    here = {f"127.0.0.1:{port}", f"localhost:{port}"}
    hosts = {*here, "127.0.0.1", "localhost"}  # some clients leave the port out
    origins = {f"http://{host}" for host in here}

    def refused(request: Request) -> Response | None:
        if request.headers.get("host") not in hosts:
            return _plain_text(403, "this server answers to 127.0.0.1 only")
        origin = request.headers.get("origin")
        if origin is not None and origin not in origins:
            return _plain_text(403, "this server answers to its own page only")
        return None

    async def file(request: Request) -> Response:
        no = refused(request)
        if no is not None:
            return no
        name, kind = FILES[request.url.path]
        return Response((STATIC / name).read_bytes(), media_type=kind, headers=HEADERS)

    async def lesson(request: Request) -> Response:
        no = refused(request)
        if no is not None:
            return no
        wanted = request.path_params.get("name")
        if wanted is None:
            return Response(await run_in_threadpool(index_page), 200, HEADERS, "text/html")
        known = {one.name: one for one in await run_in_threadpool(lessons)}
        if wanted not in known:
            return _plain_text(404, f"no lesson {wanted!r}; they are listed at /lessons")
        text = await run_in_threadpool(lesson_page, known[wanted])
        return Response(text, 200, HEADERS, "text/html")

    async def story(request: Request) -> Response:
        no = refused(request)
        if no is not None:
            return no
        path = STORIES / f"{request.path_params['name']}.story"
        if _NAME.fullmatch(request.path_params["name"]) is None or not path.is_file():
            return _plain_text(404, "no such story; they are files of specs/stories")
        played = await run_in_threadpool(read_run, path)
        where = f"/play?at=0#{address(played.heading, played.lines)}"
        return Response(None, 302, HEADERS | {"Location": where})

    async def moving(request: Request) -> Response:
        no = refused(request)
        if no is not None:
            return no
        found = await run_in_threadpool(_moving)
        later = BackgroundTask(waiting.pop()) if waiting else None
        return JSONResponse(found, headers=HEADERS, background=later)

    dropped = DroppedFiles()

    async def logs(request: Request) -> Response:
        no = refused(request)
        if no is not None:
            return no
        name = request.path_params.get("name")
        try:
            if name is None:
                return JSONResponse({"set": dropped.begin()}, headers=HEADERS)
            path = request.query_params.get("name", "")
            size = await dropped.add(name, path, request.stream())
            return JSONResponse({"bytes": size}, headers=HEADERS)
        except RefusedError as error:
            return JSONResponse({"error": str(error)}, 422, HEADERS)

    async def logs_checked(request: Request) -> Response:
        no = refused(request)
        if no is not None:
            return no
        try:
            found = await run_in_threadpool(dropped.check, request.path_params["name"])
        except RefusedError as error:
            return JSONResponse({"error": str(error)}, 422, HEADERS)
        return JSONResponse(found, headers=HEADERS)

    async def report(request: Request) -> Response:
        no = refused(request)
        if no is not None:
            return no
        try:
            text = dropped.report(request.path_params["name"]).read_bytes()
        except (RefusedError, OSError):
            return _plain_text(404, "no such report")
        return Response(text, 200, REPORT_HEADERS, "text/html; charset=utf-8")

    async def opening(request: Request) -> Response:
        return refused(request) or JSONResponse(opened, headers=HEADERS)

    async def compared(request: Request) -> Response:
        if comparison is None:
            return refused(request) or _plain_text(404, "nothing was given to compare")
        return refused(request) or JSONResponse(comparison, headers=HEADERS)

    def answering(answer: Callable[[dict[str, Any]], Any]) -> Callable[..., Awaitable[Response]]:
        is_search = answer is way

        async def respond(request: Request) -> Response:
            no = refused(request)
            if no is not None:
                return no
            asked = await _asked(request)
            if asked is None:
                return _plain_text(400, "send a JSON object of less than a megabyte")
            if is_search and asked.get("progress"):
                lines = _searching(searches.way, asked)
                return StreamingResponse(lines, 200, HEADERS, "application/x-ndjson")
            try:
                found = await run_in_threadpool(searches.way if is_search else answer, asked)
            except ProtocolError as error:
                return JSONResponse({"error": str(error)}, 422, HEADERS)
            later = BackgroundTask(waiting.pop()) if waiting and answer is ANSWERS["at"] else None
            return JSONResponse(_data(found), headers=HEADERS, background=later)

        return respond

    async def icon(request: Request) -> Response:
        # Browsers ask for one; without an answer they complain in their console.
        return refused(request) or Response(None, 204, HEADERS)

    routes = [Route(path, file) for path in FILES]
    routes.append(Route("/favicon.ico", icon))
    routes += [Route("/lessons", lesson), Route("/lessons/{name}", lesson)]
    routes += [
        Route("/stories/{name}", story),
        Route("/api/moving", moving),
        Route("/api/logs", logs, methods=["POST"]),
        Route("/api/logs/{name}", logs, methods=["POST"]),
        Route("/api/logs/{name}/check", logs_checked, methods=["POST"]),
        Route("/logs/{name}/report", report),
    ]
    routes += [Route("/api/opening", opening), Route("/api/comparison", compared)]
    routes += [
        Route(f"/api/{name}", answering(answer), methods=["POST"])
        for name, answer in ANSWERS.items()
    ]

    @asynccontextmanager
    async def ended_with_the_server(_app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            searches.end()

    return Starlette(routes=routes, lifespan=ended_with_the_server)


@cache
def _moving() -> dict[str, Any]:
    """The run of the start page, packed."""
    played = read_run(STORIES / f"{MOVING}.story")
    packer = PageTable()
    run = run_of(played, frames_of(board(played.heading), played.lines), packer)
    return {"run": {**run, "begins": MOVING_BEGINS}, "table": packer.table}


async def _searching(
    way: Callable[[dict[str, Any], Report], dict[str, Any]], asked: dict[str, Any]
) -> AsyncGenerator[str]:
    """A search as lines of JSON: how far it is, then what it found. It ends with who listens."""
    lines: list[str] = []
    gone = threading.Event()

    def report(line: str) -> None:
        if gone.is_set():
            raise _NobodyListensError
        lines.append(line)

    def run() -> dict[str, Any]:
        try:
            return way(asked, report)
        except ProtocolError as error:
            return {"error": str(error)}

    search = asyncio.ensure_future(run_in_threadpool(run))
    try:
        while not search.done():
            await asyncio.wait([search], timeout=SECONDS_OF_SILENCE)
            if not search.done():
                yield json.dumps({"progress": lines[-1] if lines else "preparing"}) + "\n"
        yield json.dumps(_data(search.result())) + "\n"
    finally:
        gone.set()
        search.add_done_callback(lambda one: one.cancelled() or one.exception())


class _NobodyListensError(Exception):
    """Ends a search that nobody waits for any more."""


async def _asked(request: Request) -> dict[str, Any] | None:
    if int(request.headers.get("content-length") or 0) > MOST_BYTES:
        return None
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            return None
    try:
        asked = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        return None
    return asked if isinstance(asked, dict) else None


def _plain_text(status: int, words: str) -> Response:
    return Response(f"insync: {words}\n", status, HEADERS, "text/plain; charset=utf-8")


def _data(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, dict):
        return {key: _data(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_data(one) for one in value]
    return value


def free_socket(port: int = 0) -> socket.socket:
    """A listening place on 127.0.0.1; port 0 takes any free one. Raises OSError if it is taken."""
    place = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        place.bind(("127.0.0.1", port))
    except OSError:
        place.close()
        raise
    return place

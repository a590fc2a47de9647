"""The explorer's server: on 127.0.0.1 only, for this machine's own page only.

Every answer is a function of what is asked (a heading and lines), so nothing is kept for a
visitor. Requests from other hosts or pages of other origins are refused; nothing is read from
disk but the page's own files.
"""

from __future__ import annotations

import dataclasses
import json
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from conformance.web.answers import ANSWERS
from conformance.web.lessons import index_page, lesson_page, lessons
from model.language import ProtocolError

STATIC = Path(__file__).parent / "static"
FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
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
MOST_BYTES = 1_000_000


def application(
    port: int, opened: dict[str, Any], comparison: dict[str, Any] | None = None,
    once_shown: Callable[[], object] | None = None,
) -> Starlette:  # fmt: skip
    """The server of the page; `opened` is the game that it begins with, and `comparison` what
    /compare shows, if something is compared. `once_shown` is called when the first answer was
    given: what would only slow that down."""
    waiting = [once_shown] if once_shown is not None else []
    here = {f"127.0.0.1:{port}", f"localhost:{port}"}
    hosts = {*here, "127.0.0.1", "localhost"}  # some clients leave the port out
    origins = {f"http://{host}" for host in here}

    def refused(request: Request) -> Response | None:
        if request.headers.get("host") not in hosts:
            return _plain(403, "this server answers to 127.0.0.1 only")
        origin = request.headers.get("origin")
        if origin is not None and origin not in origins:
            return _plain(403, "this server answers to its own page only")
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
            return _plain(404, f"no lesson {wanted!r}; they are listed at /lessons")
        text = await run_in_threadpool(lesson_page, known[wanted])
        return Response(text, 200, HEADERS, "text/html")

    async def opening(request: Request) -> Response:
        return refused(request) or JSONResponse(opened, headers=HEADERS)

    async def compared(request: Request) -> Response:
        if comparison is None:
            return refused(request) or _plain(404, "nothing was given to compare")
        return refused(request) or JSONResponse(comparison, headers=HEADERS)

    def answering(answer: Callable[[dict[str, Any]], Any]) -> Callable[..., Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            no = refused(request)
            if no is not None:
                return no
            asked = await _asked(request)
            if asked is None:
                return _plain(400, "send a JSON object of less than a megabyte")
            try:
                found = await run_in_threadpool(answer, asked)
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
    routes += [Route("/api/opening", opening), Route("/api/comparison", compared)]
    routes += [
        Route(f"/api/{name}", answering(answer), methods=["POST"])
        for name, answer in ANSWERS.items()
    ]
    return Starlette(routes=routes)


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


def _plain(status: int, words: str) -> Response:
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

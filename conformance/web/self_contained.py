"""Makes a run a self-contained page; what repeats from state to state is stored once.

A thousand states consist mostly of the same rows. `packed` writes each different row, lane, log,
badge and lamp once, in a table, and a state as numbers into it; the page's script looks them up.
"""

from __future__ import annotations

import base64
import html
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conformance.web.board import RunFrame

STATIC = Path(__file__).parent / "static"
MOST_PLAIN = 300_000
"""Characters of data that stand in a page as they are; more is deflated, to a tenth or less."""

SCRIPTS = {"index.html": "app.js", "compare.html": "compare.js"}


class PageTable:
    """The table of a page: `put` returns the number of a value in it."""

    def __init__(self) -> None:
        self.table: list[Any] = []
        self._numbers: dict[str, int] = {}

    def put(self, value: Any) -> int:
        """The number of a value, which is stored in the table once."""
        key = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.table)
            self.table.append(value)
        return number

    def rows(self, rows: Sequence[Any]) -> int:
        """The number of a list, whose members are stored in the table themselves."""
        return self.put([self.put(row) for row in rows])

    def frame(self, frame: RunFrame) -> list[Any]:
        """A state as numbers: label, changes, ZooKeeper, world, brokers, flight, logs, badges,
        committed, lamps, lanes, controllers, clients, messages, words."""
        picture = frame.picture
        lanes, controllers = (
            {broker: self.rows(rows) for broker, rows in picture[of].items()}
            for of in ("brokers", "controllers")
        )
        logs = {
            broker: self.put([self.rows(log["records"]), log["hw"], log["new"], log["cut"]])
            for broker, log in picture["logs"].items()
        }
        badges = {broker: self.put(badge) for broker, badge in picture["badges"].items()}
        lamps = [
            self.put({"claim": one.claim, "kind": one.kind, "sentence": one.sentence,
                      "lit": one.lit, "witness": one.witness})
            for one in frame.lamps
        ]  # fmt: skip
        return [
            frame.label, list(frame.changes), self.rows(picture["zookeeper"]),
            self.rows(picture["world"]), self.put(lanes), self.rows(picture["flight"]),
            self.put(logs), self.put(badges), picture["committed"], self.put(lamps),
            self.put(picture["lanes"]), self.put(controllers), self.rows(picture["clients"]),
            self.rows(picture["messages"]), frame.words,
        ]  # fmt: skip


def data_block(data: dict[str, Any]) -> str:
    """Data for a page's script: an element that runs nothing, and holds no markup."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    deflated = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
    return f'<script type="text/plain" id="runs">{deflated}</script>'


def one_file(page: str, title: str, data: dict[str, Any]) -> str:
    """A page with its style, scripts and data in it: no address is fetched when it is opened."""
    names = ("style.css", "words.js", "draw.js", SCRIPTS[page])
    style, words, draw, script = ((STATIC / name).read_text(encoding="utf-8") for name in names)
    return (
        _without_server(page, title)
        .replace('<link rel="stylesheet" href="/style.css">', f"<style>\n{style}</style>")
        .replace('<script src="/words.js"></script>', f"<script>{_embedded(data)}</script>")
        .replace('<script src="/draw.js"></script>', f"<script>\n{words}\n{draw}</script>")
        .replace(f'<script src="/{SCRIPTS[page]}"></script>', f"<script>\n{script}</script>")
    )


def beside_files(page: str, title: str, data: dict[str, Any], files: str) -> str:
    """The same for a site: style and scripts are separate files, at `files`."""
    return (
        _without_server(page, title)
        .replace('href="/style.css"', f'href="{files}style.css"')
        .replace('<script src="/words.js">', f'<script>{_embedded(data)}</script>'
                 f'<script src="{files}words.js">')
        .replace('src="/draw.js"', f'src="{files}draw.js"')
        .replace(f'src="/{SCRIPTS[page]}"', f'src="{files}{SCRIPTS[page]}"')
    )  # fmt: skip


def _embedded(data: dict[str, Any]) -> str:
    frozen = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    if len(frozen) > MOST_PLAIN:
        deflated = base64.b64encode(zlib.compress(frozen.encode(), 9)).decode()
        return f'window.DEFLATED="{deflated}"'
    # A closing tag inside the data would end the script.
    return "window.FROZEN=" + frozen.replace("</", "<\\/")


def _without_server(page: str, title: str) -> str:
    """The page's own text, without the links that a server would answer."""
    text = (STATIC / page).read_text(encoding="utf-8")
    head, _, _ = text.partition("<title>")
    _, _, rest = text.partition("</title>")
    return (
        f"{head}<title>{html.escape(title)}</title>{rest}"
        .replace('    <a href="/lessons" data-word="lessons"></a>\n', "")
        .replace('<h1><a href="/">insync</a></h1>', "<h1>insync</h1>")
        .replace('    <a href="/play" data-word="play"></a>\n', "")
    )  # fmt: skip

"""Takes screenshots of the explorer for the documents, and tells whether they are current.

A picture shows the page at an address. `pictures.json` has two digests per picture: of the content
shown (the states, and the page's own files), and of the image file. So a test can detect a stale
picture without a browser.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from conformance.web.address import address
from conformance.web.board import board
from conformance.web.run_files import ReplayedRun, read_run
from conformance.web.server import FILES, STATIC, application, free_socket

ROOT = Path(__file__).resolve().parents[2]
STORIES = ROOT / "specs" / "stories"
MANIFEST = "pictures.json"
SIZE = (1280, 900)
_OPENED = {"heading": "system classic brokers 3", "lines": []}
SECONDS = 60


class NoBrowserError(Exception):
    """There is no Chromium, or it took no picture."""


@dataclass(frozen=True)
class PictureMoment:
    """What a picture shows: a story up to a step, beside another version if `under` names one."""

    name: str
    says: str
    story: str
    steps: int | None = None
    under: str | None = None

    def run(self) -> ReplayedRun:
        """The story up to its step."""
        whole = read_run(STORIES / f"{self.story}.story")
        end = len(whole.lines) if self.steps is None else self.steps
        return ReplayedRun(whole.title, whole.heading, whole.lines[:end])

    @property
    def path(self) -> str:
        """The address at which the page shows it."""
        run = self.run()
        if self.under is None:
            return f"/play#{address(run.heading, run.lines)}"
        asked = {"left": [run.heading, *run.lines], "under": self.under}
        return f"/compare#{quote(json.dumps(asked, separators=(',', ':')))}"


MOMENTS = (
    PictureMoment("belief_is_a_lie",
                  "The ring of broker 1 is in pieces: it believes that it is the "
           "controller, and ZooKeeper has forgotten it.",
           "deposed_controller_writes_unfenced", 10),
    PictureMoment("the_write_nobody_fenced",
                  "Laid side by side: up to 2.0 ZooKeeper takes the write of "
           "a deposed controller; since 2.1 it is refused, with the reason and its values.",
           "deposed_controller_writes_unfenced", None, "version 2.3"),
    PictureMoment("a_committed_record_is_lost",
                  "0.10 truncates a log to its own high watermark: the leader "
           "that follows has not got what was committed, and a claim breaks.",
           "m2_is_lost"),
    PictureMoment("a_deposed_leader_is_refused",
                  "A deposed leader asks to shrink the ISR by a version "
           "that is not current any more.",
           "deposed_leader_shrinks"),
    PictureMoment("a_deleted_topic_comes_back",
                  "A broker that was away when a topic was deleted has its "
           "data still, and the name is used again.",
           "deleted_topic_comes_back"),
)  # fmt: skip


def digest(moment: PictureMoment) -> str:
    """The digest of what the picture shows: the last state of each side, and the page's files."""
    run = moment.run()
    frame = board(run.heading).frame(run.lines)
    page = sha256()
    for name in sorted({name for name, _ in FILES.values()}):
        page.update((STATIC / name).read_bytes())
    shown = [moment.path.partition("~")[0], list(run.lines), frame.label, frame.changes,
             frame.picture, page.hexdigest()]  # fmt: skip
    text = json.dumps(shown, sort_keys=True, ensure_ascii=False)
    return sha256(text.encode()).hexdigest()[:16]


def stale(folder: Path) -> list[str]:
    """The stale or wrong pictures of a folder, a line each; empty if all are current."""
    try:
        known = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return [f"{folder / MANIFEST}: {error}"]
    wrong = []
    for moment in MOMENTS:
        path = folder / f"{moment.name}.png"
        said = known.get(moment.name, {})
        if not path.is_file():
            wrong.append(f"{path}: is missing")
        elif said.get("file") != _file_digest(path):
            wrong.append(f"{path}: is another picture than the one that was taken")
        elif said.get("shows") != digest(moment):
            wrong.append(f"{path}: the explorer shows something else by now")
    return wrong


def take(folder: Path, report: Callable[[str], None] = lambda line: None) -> list[Path]:
    """Takes every picture again. On NoBrowserError or OSError the old ones stay."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise NoBrowserError("there is no Chromium here (Debian: apt-get install chromium)")
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder}: is a file; name a directory")
    made: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as room, served(_OPENED) as port:
        for number, moment in enumerate(MOMENTS, 1):
            report(f"picture {number} of {len(MOMENTS)}: {moment.name}")
            part = Path(room) / f"{moment.name}.png"
            _screenshot(chromium, f"http://127.0.0.1:{port}{moment.path}", part, Path(room))
            made[moment.name] = {"shows": digest(moment), "file": _file_digest(part),
                                 "says": moment.says}  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
        for moment in MOMENTS:
            shutil.move(Path(room) / f"{moment.name}.png", folder / f"{moment.name}.png")
    manifest = folder / f".{MANIFEST}.part"
    manifest.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    manifest.replace(folder / MANIFEST)
    return [folder / f"{moment.name}.png" for moment in MOMENTS]


def _file_digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()[:16]


def _screenshot(chromium: str, url: str, to: Path, room: Path) -> None:
    command = [
        chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        f"--user-data-dir={room / 'profile'}", f"--window-size={SIZE[0]},{SIZE[1]}",
        "--force-device-scale-factor=1", "--virtual-time-budget=15000", f"--screenshot={to}", url,
    ]  # fmt: skip
    try:
        subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    except (subprocess.SubprocessError, OSError) as error:
        raise NoBrowserError(f"{chromium} took no picture: {error}") from error
    if not to.is_file():
        raise NoBrowserError(f"{chromium} took no picture of {url}")


@contextmanager
def served(opened: Mapping[str, Any]) -> Iterator[int]:
    """A server of the explorer on a free port, which opens this game."""
    import uvicorn

    place = free_socket()
    number = place.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(application(number, dict(opened)), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place]}, daemon=True)
    thread.start()
    until = time.monotonic() + SECONDS
    while not server.started and time.monotonic() < until:
        time.sleep(0.01)
    try:
        yield number
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        place.close()

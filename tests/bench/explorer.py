"""How fast the explorer is, on this machine, now: one command, a table, and JSON for machines.

    python -m tests.bench.explorer                  # a minute; on a quiet machine
    python -m tests.bench.explorer --json FILE      # and the same as JSON
    python -m tests.bench.explorer --quick          # seconds: fewer steps, no browser

Run it in the repository's folder. `insync play` is started as a user starts it; what is measured is
the time from the command to its page, to the first state and, in Chromium where there is one, to
the first paint; then a step of every system with 3 brokers (median and worst of random walks), the
goals by name in a fresh process and once more, the sizes of what is served, and how far anything
moves once it is seen. A system's first start after installation takes longer: modules and machine
code are compiled once, and kept; so one start is not counted. The load is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SYSTEMS = "classic", "election", "replication", "reassignment", "topics", "cluster"
SMALL = "classic", "election", "replication"
GOAL_SECONDS, WARM_SECONDS, STEP_SECONDS, READY_SECONDS, SHIFT = 2.0, 0.3, 0.05, 2.0, 0.01
SIZES = (1280, 720), (390, 844)
MOVED = """
window.shifted = 0;
new PerformanceObserver(list => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifted += one.value;
}).observe({ type: "layout-shift", buffered: true });
"""


class Play:
    """A running `insync play`, and how long it took to say where it is."""

    def __init__(self, process: subprocess.Popen[str], url: str, began: float) -> None:
        self.process, self.url, self.began = process, url, began
        self.root = urllib.parse.urljoin(url, "/")

    def since(self) -> float:
        """Seconds since the command was given."""
        return time.perf_counter() - self.began

    def get(self, path: str) -> bytes:
        """A file of the page."""
        with urllib.request.urlopen(urllib.parse.urljoin(self.url, path), timeout=60) as answer:
            return bytes(answer.read())

    def ask(self, what: str, **asked: Any) -> tuple[Any, float, int]:
        """An answer, its seconds, and its bytes."""
        began = time.perf_counter()
        request = urllib.request.Request(
            f"{self.root}api/{what}", json.dumps(asked).encode(),
            {"Content-Type": "application/json"},
        )  # fmt: skip
        with urllib.request.urlopen(request, timeout=300) as answer:
            body = answer.read()
        return json.loads(body), time.perf_counter() - began, len(body)


@contextmanager
def played(*words: str) -> Iterator[Play]:
    """`insync play WORDS`, ended when done."""
    environment = {name: value for name, value in os.environ.items()
                   if name != "PYTHONDONTWRITEBYTECODE"}  # fmt: skip
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "conformance.cli", "play", *words],
        stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield Play(process, process.stdout.readline().split()[0], began)
    finally:
        process.kill()
        process.wait(timeout=30)


def started(system: str) -> dict[str, Any]:
    """From the command to the page and to the first state; then the first goals, and once more."""
    with played(system) as page:
        page.get("")
        served = page.since()
        opened = json.loads(page.get("/api/opening"))
        _, _, size = page.ask("at", **opened)
        state = page.since()
        goals = []
        for goal in page.ask("goals", **opened)[0][:3]:
            found, cold, _ = page.ask("way", **opened, claim=goal["claim"])
            _, warm, _ = page.ask("way", **opened, claim=goal["claim"])
            goals.append({"goal": goal["words"], "cold": cold, "warm": warm,
                          "states": found["distinct"]})  # fmt: skip
    return {"system": system, "page": served, "state": state, "bytes": size, "goals": goals}


def walked(system: str, walks: int, steps: int) -> dict[str, Any]:
    """Random walks of the page's own answers: seconds of each step with 3 brokers."""
    taken: list[float] = []
    most = 0
    heading = f"system {system} brokers 3"
    with played(system, "--brokers", "3") as page:
        page.ask("at", heading=heading, lines=[])
        for seed in range(walks):
            chance, lines = random.Random(seed), list[str]()
            for _ in range(steps):
                answer, seconds, size = page.ask("at", heading=heading, lines=lines)
                taken.append(seconds)
                most = max(most, size)
                if not answer["possible"]:
                    break
                lines = [*lines, chance.choice(answer["possible"])["line"]]
    return {"system": system, "steps": len(taken), "median": statistics.median(taken),
            "worst": max(taken), "within": sum(one < STEP_SECONDS for one in taken) / len(taken),
            "bytes": most}  # fmt: skip


def painted(width: int, height: int) -> dict[str, Any] | None:
    """In Chromium: from the command to the first paint and to the first cards; what moved."""
    where = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if where is None:
        return None
    with sync_playwright() as found:
        browser = found.chromium.launch(executable_path=where, args=["--no-sandbox"])
        shown = browser.new_page(viewport={"width": width, "height": height})
        shown.add_init_script(MOVED)
        with played() as page:  # the start page: no system is named
            shown.goto(page.url)
            shown.locator("h1").first.wait_for(timeout=60_000)
            first = page.since()
        with played("classic") as page:
            shown.goto(page.url)
            shown.locator(".card").first.wait_for(timeout=60_000)
            ready = page.since()
            shown.wait_for_timeout(300)
            reported = shown.evaluate(
                "[performance.getEntriesByName('first-contentful-paint')[0].startTime,"
                " window.shifted, document.documentElement.scrollWidth]"
            )
        browser.close()
    return {"width": width, "height": height, "first": first, "ready": ready,
            "paint": reported[0] / 1000, "shifted": reported[1], "wide": reported[2]}  # fmt: skip


def explained() -> int:
    """Bytes of the explained page of a long story."""
    from conformance.web.board import board
    from conformance.web.explain import frames_of, page
    from conformance.web.run_files import read_run

    run = read_run(Path("specs/stories/m2_is_lost.story"))
    return len(page(run, frames_of(board(run.heading), run.lines)).encode())


def measured(quick: bool) -> dict[str, Any]:
    """Everything; `missed` names the numbers that were not reached."""
    load = os.getloadavg()
    if not quick:
        started("classic")  # compiles what is compiled once
    systems = SMALL[:1] if quick else SMALL
    starts = [started(one) for one in systems]
    walks = [walked(one, 1 if quick else 3, 5 if quick else 30)
             for one in (SYSTEMS[:1] if quick else SYSTEMS)]  # fmt: skip
    paints = [] if quick else [one for size in SIZES if (one := painted(*size)) is not None]
    return {"load": [load, os.getloadavg()], "starts": starts, "walks": walks, "paints": paints,
            "explained_bytes": explained(),
            "missed": list(_missed(starts, walks, paints))}  # fmt: skip


def _missed(
    starts: Sequence[dict[str, Any]], walks: Sequence[dict[str, Any]],
    paints: Sequence[dict[str, Any]],
) -> Iterator[str]:  # fmt: skip
    for one in starts:
        if one["state"] > READY_SECONDS:
            yield f"{one['system']}: first state after {one['state']:.1f} s"
        for goal in one["goals"]:
            if goal["cold"] > GOAL_SECONDS:
                yield f"{one['system']}: {goal['goal']} took {goal['cold']:.1f} s"
            if goal["warm"] > WARM_SECONDS:
                yield f"{one['system']}: {goal['goal']} took {goal['warm']:.2f} s, warm"
    for one in walks:
        if one["worst"] > STEP_SECONDS:
            yield f"{one['system']}: a step took {one['worst'] * 1000:.0f} ms"
    for one in paints:
        if one["first"] > READY_SECONDS:
            yield f"{one['width']} wide: the start page after {one['first']:.1f} s"
        if one["shifted"] > SHIFT or one["wide"] > one["width"]:
            yield f"{one['width']} wide: moved {one['shifted']:.3f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints. A number that is missed is named, and is no failure: machines differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.explorer",
                                     description="How fast the explorer is, now.")  # fmt: skip
    parser.add_argument("--json", metavar="FILE", help="also write the figures here; - for stdout")
    parser.add_argument("--quick", action="store_true", help="fewer steps, and no browser")
    chosen = parser.parse_args(arguments)
    reported = measured(chosen.quick)
    if chosen.json == "-":
        print(json.dumps(reported, indent=2))
        return 0
    if chosen.json is not None:
        Path(chosen.json).write_text(json.dumps(reported, indent=2) + "\n", encoding="utf-8")
    _show(reported)
    return 0


def _show(reported: dict[str, Any]) -> None:
    before, after = reported["load"]
    print(f"load {before[0]:.1f} before, {after[0]:.1f} after")
    for one in reported["starts"]:
        print(f"{one['system']:<13} page after {one['page']:.2f} s, first state after "
              f"{one['state']:.2f} s, {one['bytes'] / 1000:.0f} kB")  # fmt: skip
        for goal in one["goals"]:
            print(f"  {goal['goal']:<38} {goal['cold']:.2f} s cold, {goal['warm']:.2f} s warm, "
                  f"{goal['states']:,} states")  # fmt: skip
    for one in reported["walks"]:
        print(f"{one['system']:<13} a step of {one['steps']}: "
              f"median {one['median'] * 1000:.0f} ms, worst {one['worst'] * 1000:.0f} ms, "
              f"{one['within']:.0%} within {STEP_SECONDS * 1000:.0f} ms, at most "
              f"{one['bytes'] / 1000:.0f} kB")  # fmt: skip
    for one in reported["paints"]:
        print(f"{one['width']} × {one['height']}: start page after {one['first']:.2f} s, "
              f"cards after {one['ready']:.2f} s, first paint "
              f"{one['paint']:.2f} s after the address, moved {one['shifted']:.3f}")  # fmt: skip
    print(f"an explained page: {reported['explained_bytes'] / 1000:.0f} kB")
    for line in reported["missed"]:
        print(f"missed: {line}")


if __name__ == "__main__":
    sys.exit(main())

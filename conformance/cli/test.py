"""`insync test`: the gates and the tests, as they must pass before a change lands."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import click

from conformance.cli.common import STDOUT, WRONG_USE, WrongUse, emit_json, json_option, say
from specs.verdict import Verdict, combine

ROOT = Path(__file__).resolve().parents[2]
PYTEST_INTERRUPTED, PYTEST_WRONG_USE, PYTEST_NO_TESTS = 2, 4, 5

COLLECT = '"$1" -m pytest --collect-only -qq -p no:cacheprovider'
COMPILE_LOOPS = '"$1" -m conformance.cli explore election --bound epoch=1'
"""An exploration with loops looked for, which uses all that there are but those of one command."""


class GateResult(NamedTuple):
    """The output of one gate, and how long it took."""

    name: str
    verdict: Verdict
    seconds: float


def gates() -> dict[str, list[str]]:
    """The commands that must pass before the tests, by name, quickest first."""
    python, bin_folder = sys.executable, Path(sys.executable).parent
    return {
        "lint": [python, "-m", "ruff", "check", "--quiet"],
        "format": [python, "-m", "ruff", "format", "--check"],
        "import arrows": [str(bin_folder / "lint-imports"), "--no-cache"],
        "types": [python, "-m", "mypy"],
    }


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--deep", is_flag=True, help="Also run the tests that take minutes.")
@json_option
@click.argument("pytest_args", nargs=-1, type=click.UNPROCESSED)
def test(deep: bool, json_target: str | None, pytest_args: tuple[str, ...]) -> None:
    """Run lint, format, import arrows, types, and the tests; fail if any of them fails.

    Anything else on the line goes to pytest, which runs them on every core, a file at a time
    (`-n 0`: one after another). Every gate runs, whatever an earlier one said. The gates print
    only when they fail.

    \b
    Example:
      insync test
      insync test --deep tests/model -k "isr and not shrink"
    """
    if not (ROOT / "tests").is_dir():
        raise WrongUse("insync test runs in a checkout of the project; clone it and run ./insync")
    with _collecting(whole=not pytest_args):
        stages = [_gate(name, command, json_target) for name, command in gates().items()]
    tests, code = _tests([*_options(deep), *pytest_args], json_target)
    stages.append(tests)
    verdict = combine(stage.verdict for stage in stages)
    emit_json(
        json_target,
        {
            "verdict": verdict,
            "stages": [
                {"stage": stage.name, "verdict": stage.verdict, "seconds": round(stage.seconds, 2)}
                for stage in stages
            ],
        },
    )
    failed = [stage.name for stage in stages if stage.verdict is not Verdict.HOLDS]
    if failed:
        click.echo(f"insync test: not passed: {', '.join(failed)}", err=True)
    raise click.exceptions.Exit(code if code >= WRONG_USE else verdict.exit_code)


@contextmanager
def _collecting(whole: bool) -> Iterator[None]:
    """While the gates keep one core busy, another compiles every test and then the explorer's
    loops, once for all workers: in a fresh checkout each of them would do so for itself, the loops
    in nine seconds. What is wrong with a test is said later, by the tests."""
    if not whole:
        yield
        return
    collecting = subprocess.Popen(
        ["sh", "-c", f"{COLLECT}; {COMPILE_LOOPS}", "sh", sys.executable],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=0,
    )
    try:
        yield
        collecting.wait()
    finally:
        if collecting.poll() is None:
            os.killpg(collecting.pid, signal.SIGKILL)
        collecting.wait()


def _gate(name: str, command: list[str], json_target: str | None) -> GateResult:
    start = time.monotonic()
    done = subprocess.run(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    verdict = Verdict.BROKEN if done.returncode else Verdict.HOLDS
    if done.returncode:
        click.echo(done.stdout.rstrip(), err=True)
    return _printed(GateResult(name, verdict, time.monotonic() - start), json_target)


def _options(deep: bool) -> list[str]:
    """One worker more than cores: some tests wait for processes, and more workers than that only
    take the cores from each other. tests/conftest.py says which tests belong together, and which
    go first."""
    cores = ["-n", str((os.cpu_count() or 1) + 1)]
    return [*cores, "--deep", "-o", "faulthandler_timeout=3600"] if deep else cores


def _tests(arguments: list[str], json_target: str | None) -> tuple[GateResult, int]:
    """The stage, and the exit code where it is more than a verdict: wrong use, or Ctrl-C."""
    start = time.monotonic()
    running = subprocess.Popen(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=ROOT,
        stdout=sys.stderr if json_target == STDOUT else None,
        process_group=0,  # Ctrl-C is for this process; it ends pytest, wherever it has come to
    )
    try:
        code = running.wait()
    except BaseException:
        os.killpg(running.pid, signal.SIGKILL)  # with its workers, those just started too
        running.wait()
        click.echo(err=True)  # pytest may have been in the middle of a line
        raise
    verdicts = {0: Verdict.HOLDS, PYTEST_NO_TESTS: Verdict.NOT_CHECKED}
    verdict = verdicts.get(code, Verdict.BROKEN)
    special = {PYTEST_WRONG_USE: WRONG_USE, PYTEST_INTERRUPTED: 128 + 2}
    stage = _printed(GateResult("tests", verdict, time.monotonic() - start), json_target)
    return stage, special.get(code, 0)


def _printed(stage: GateResult, json_target: str | None) -> GateResult:
    word = "passed" if stage.verdict is Verdict.HOLDS else "NOT PASSED"
    say(f"{stage.name:<14} {word:<10} {stage.seconds:6.1f} s", json_target)
    return stage

"""The frame of the command line: instant help, nearest names, one line for wrong use."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from conformance.cli import main
from conformance.cli.common import (
    RenamedOption,
    WrongUse,
    emit_json,
    finish,
    json_option,
    nearest,
    say,
    unknown,
    write_atomically,
)
from conformance.cli.main import COMMANDS, CommandEntry
from specs.verdict import Verdict
from tests.cli.test_wrong_use import assert_wrong_use

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("z3", "pyspark", "pandas", "pyarrow", "networkx", "hypothesis", "numpy", "pytest")


@click.command(name="probe")
@json_option
@click.option("--how", default="holds")
def probe(json_target: str | None, how: str) -> Verdict:
    """A command that ends in every way a command can end.

    Example: insync probe --how holds
    """
    if how == "finish":
        finish(Verdict.UNKNOWN)
    if how == "defect":
        raise KeyError("no such thing")
    if how == "interrupt":
        raise KeyboardInterrupt
    verdict = Verdict(how)
    emit_json(json_target, {"verdict": verdict, "who": {"b", "a"}, "where": Path("x")})
    say(f"verdict: {verdict}", json_target)
    return verdict


@pytest.fixture
def probed(monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setitem(COMMANDS, "probe", CommandEntry(__name__, "probe", "Only for these tests."))
    return CliRunner()


def insync(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "conformance.cli", *args],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )


def processor_seconds_of_children() -> float:
    """What ended children used; a clock on the wall would count other tests that run meanwhile."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_help_is_instant_and_lists_every_command():
    start = processor_seconds_of_children()
    done = insync("--help")
    seconds = processor_seconds_of_children() - start

    assert done.returncode == 0
    assert [name for name in COMMANDS if f"\n  {name} " not in done.stdout] == []
    assert seconds < 1


def test_help_begins_with_the_seven_commands_that_a_newcomer_needs():
    headings = [line for line in insync("--help").stdout.splitlines() if line.endswith(":")]

    first = [name for name, entry in COMMANDS.items() if entry.group == "Start here"]
    assert headings[headings.index("Options:") + 1 :][0] == "Start here:"
    assert first == ["verify", "play", "find", "explore", "bugs", "story", "check"]
    assert all(entry.group for entry in COMMANDS.values())


@pytest.mark.parametrize(
    ("line", "needed"),
    [("--help", set()), ("find two_brokers_believe_they_are_controller election", {"numpy"})],
)
def test_a_command_imports_nothing_heavy_that_it_has_no_use_for(line: str, needed: set[str]):
    script = (
        "import sys\n"
        "from conformance.cli import main\n"
        f"try:\n    main({line.split()})\n"
        "except SystemExit:\n    pass\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules) - {needed}), file=sys.stderr)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120
    )

    assert done.stderr == "[]\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_an_example_and_can_write_json(name: str):
    done = CliRunner().invoke(main, [name, "--help"])

    assert done.exit_code == 0, done.stderr.splitlines()[-2:]
    assert "Example" in done.stdout
    assert f"insync {name}" in done.stdout
    assert "--json FILE" in done.stdout


def test_an_unknown_command_is_answered_with_the_nearest_name():
    done = insync("exlpore")

    assert done.returncode == 64
    assert done.stdout == ""
    assert done.stderr.startswith(
        "insync: unknown command 'exlpore': did you mean 'explore'? one of: "
    )
    assert done.stderr.count("\n") == 1


def test_no_command_at_all_shows_the_help_and_is_wrong_use():
    done = insync()

    assert done.returncode == 64
    assert done.stdout == ""
    assert "Start here:" in done.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--colour"], ["no such option '--colour'", "write: insync "]),
        (["probe", "--how"], ["option '--how' requires an argument", "write: insync probe "]),
        (["probe", "surplus"], ["unexpected extra argument", "insync probe --help"]),
        (["probe", "--json", "no such folder/x"], ["there is no folder", "create it"]),
        (["probe", "--json", "."], ["is a folder"]),
    ],
)
def test_wrong_use_is_one_line_that_says_what_to_write(
    probed: CliRunner, args: list[str], words: list[str]
):
    result = probed.invoke(main, args)

    assert_wrong_use(result, words)


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("holds", 0),
        ("broken", 1),
        ("unknown", 2),
        ("not checked", 3),
        ("finish", 2),
        ("interrupt", 130),
        ("defect", 70),
    ],
)
def test_the_exit_code_says_how_the_command_ended(probed: CliRunner, how: str, code: int):
    result = probed.invoke(main, ["probe", "--how", how])

    assert result.exit_code == code


def test_json_on_standard_output_stands_alone(probed: CliRunner):
    result = probed.invoke(main, ["probe", "--json", "-"])

    assert json.loads(result.stdout) == {
        "format": "insync.probe/1", "verdict": "holds", "who": ["a", "b"], "where": "x",
    }  # fmt: skip


def test_json_in_a_file_leaves_the_report_on_standard_output(probed: CliRunner, tmp_path: Path):
    target = tmp_path / "report.json"

    result = probed.invoke(main, ["probe", "--json", str(target)])

    assert result.stdout == "verdict: holds\n"
    assert json.loads(target.read_text())["verdict"] == "holds"
    assert list(tmp_path.iterdir()) == [target]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path):
    target = tmp_path / "report.json"
    target.write_text("old")

    with pytest.raises(UnicodeEncodeError):
        write_atomically(target, "new \udc80")

    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True)

    write_atomically(pipe, "through the pipe")

    assert reader.communicate(timeout=120)[0] == "through the pipe"
    assert pipe.is_fifo()


def test_something_that_json_does_not_know_is_refused():
    with pytest.raises(TypeError, match="make it plain data first"):
        emit_json("-", {"what": object()})


def test_the_nearest_name_is_offered_only_where_one_is_near():
    assert nearest("elction", ["classic", "election"]) == (
        "did you mean 'election'? one of: classic, election"
    )
    assert nearest("Election", ["classic", "election"]).startswith("did you mean 'election'?")
    assert nearest("xyz", ["classic", "election"]) == "one of: classic, election"
    assert nearest("xyz", []) == "there is none to choose from"


def test_an_unknown_name_is_one_line_however_it_was_typed():
    refusal = unknown("system", "two\nlines", ["classic"])

    assert isinstance(refusal, WrongUse)
    assert refusal.message == "unknown system 'two lines': one of: classic"


@pytest.mark.parametrize("line", ["--help", "probe --json -"])
def test_a_reader_that_has_left_is_not_a_verdict(line: str):
    script = (
        "import sys, click\n"
        "from conformance.cli import main\n"
        "from conformance.cli.main import COMMANDS, CommandEntry\n"
        "@click.command()\n@click.option('--json')\n"
        "def probe(json):\n    print('x' * 100_000)\n"
        "COMMANDS['probe'] = CommandEntry('__main__', 'probe', '')\n"
        "sys.stdin.readline()\n"  # until the reader has gone
        f"main({line.split()!r})\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None

    _, err = process.communicate("go\n", timeout=120)

    assert process.returncode == 141
    assert err == ""


def test_ctrl_c_ends_without_a_traceback():
    script = (
        "import sys, time, click\n"
        "from conformance.cli import main\n"
        "from conformance.cli.main import COMMANDS, CommandEntry\n"
        "import __main__\n"
        "@click.command()\n"
        "def wait():\n    print('waiting', flush=True)\n    time.sleep(60)\n"
        "COMMANDS['wait'] = CommandEntry('__main__', 'wait', '')\n"
        "main(['wait'])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"

    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)

    assert process.returncode == 130
    assert err == "insync: interrupted; no verdict\n"


def piped(line: str) -> subprocess.CompletedProcess[str]:
    """A line of a shell, with what it does to the streams."""
    script = f"{sys.executable} -m conformance.cli {line}"
    return subprocess.run(
        ["sh", "-c", script], cwd=ROOT, stderr=subprocess.PIPE, text=True, timeout=120
    )


@pytest.mark.parametrize("words", ["versions", "--help", "versions --help", "versions --json -"])
@pytest.mark.parametrize(
    ("redirected", "why"),
    [("> /dev/full", "No space left on device"), (">&-", "is closed"), (">&- 2>&-", None)],
)
def test_an_output_that_cannot_be_written_is_one_line_and_no_verdict(words, redirected, why):
    done = piped(f"{words} {redirected}")

    assert done.returncode == 74
    assert done.stderr == (f"insync: standard output: {why}; no verdict\n" if why else "")


def test_without_standard_input_or_error_a_command_goes_on():
    assert piped("versions >/dev/null 2>&- <&-").returncode == 0


def test_a_renamed_option_still_has_its_former_name_and_help_shows_the_new_one():
    @click.command()
    @click.option("--field-values", "grew", is_flag=True, cls=RenamedOption, former="--grew")
    @click.option("--into", "where", cls=RenamedOption, former="--keep", metavar="DIR")
    def probe(grew: bool, where: str | None) -> None:
        click.echo(f"{grew} {where}")

    runner = CliRunner()
    said = [runner.invoke(probe, words).output for words in
            (["--field-values", "--into", "x"], ["--grew", "--keep", "x"])]  # fmt: skip
    shown = runner.invoke(probe, ["--help"]).output

    assert said == ["True x\n"] * 2
    assert ("--field-values" in shown, "--grew" in shown, "--keep" in shown) == (True, False, False)


@pytest.mark.parametrize("words", [
    ("explore", "--grew"), ("mutants", "--keep"), ("prove", "--forget"), ("prove", "--chain"),
    ("new claim", "--reaches"),
    ("kafka start", "--ours"), ("kafka mixed", "--ours"), ("kafka soak", "--keep"),
])  # fmt: skip
def test_every_former_name_of_an_option_works(words: tuple[str, str]):
    command: click.Command = main
    for name in words[0].split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found

    assert words[1] in [one.former for one in command.params if isinstance(one, RenamedOption)]


def test_a_command_with_a_former_name_still_runs_under_it():
    said = CliRunner().invoke(main, ["zoo", "--help"]).output

    assert "List historic bugs" in said
    assert " zoo" not in CliRunner().invoke(main, ["--help"]).output

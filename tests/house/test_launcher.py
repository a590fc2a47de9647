"""The launcher sets up once, says in one line what is missing, and never trusts half a set-up.

Nothing is downloaded: a stand-in for uv writes down what it was asked, and makes a .venv whose
python only repeats its arguments.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNAVAILABLE = 69
TOOLS = ("sh", "awk", "cat", "cksum", "dirname", "mkdir", "readlink", "rm", "sleep", "touch")

FAKE_UV = """\
echo "$*" >>"$UV_CALLS"
case $1 in
venv)
    for folder do :; done
    sleep "${UV_SLOW:-0}"
    mkdir -p "$folder/bin"
    cat >"$folder/bin/python" <<'END'
#!/bin/sh
[ "$1" = -c ] || echo "ran $*"
END
    chmod +x "$folder/bin/python" ;;
pip) [ ! -e "$UV_CALLS.fails" ] || { echo "no network" >&2; exit 2; } ;;
esac
"""


class FreshMachine:
    """A checkout in a folder with a space in its name, and a PATH that holds only what we put."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "a checkout"
        self.bin = folder / "bin"
        self.calls = folder / "uv calls"
        self.home.mkdir()
        self.bin.mkdir()
        for name in ("insync", "requirements.lock", "pyproject.toml"):
            shutil.copy(ROOT / name, self.home / name)
        for tool in (*TOOLS, "chmod"):
            found = shutil.which(tool)
            assert found, f"this machine has no {tool}"
            (self.bin / tool).symlink_to(found)

    def put(self, name: str, script: str) -> None:
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def with_python(self) -> FreshMachine:
        self.put("python3", f'exec "{sys.executable}" "$@"')
        return self

    def with_uv(self) -> FreshMachine:
        self.put("uv", FAKE_UV)
        return self

    def start(self, *args: str, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(self.home / "insync"), *args],
            cwd=self.home.parent,
            env={"PATH": str(self.bin), "UV_CALLS": str(self.calls), **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *args: str) -> tuple[int, str, str]:
        process = self.start(*args)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def uv_calls(self) -> list[str]:
        calls = self.calls.read_text().splitlines() if self.calls.exists() else []
        return [call for call in calls if call != "--version"]


@pytest.fixture
def machine(tmp_path: Path) -> FreshMachine:
    return FreshMachine(tmp_path)


@pytest.mark.parametrize("script", ["insync", ".ci/run"])
def test_every_script_is_correct_shell_and_may_be_run(script: str):
    checked = subprocess.run(["sh", "-n", str(ROOT / script)], capture_output=True, text=True)

    assert checked.stderr == ""
    assert os.access(ROOT / script, os.X_OK)


def test_an_old_python_is_refused_with_one_line_that_names_it(machine: FreshMachine):
    machine.put("python3", "case $2 in *platform*) echo 3.9.2 ;; *) exit 1 ;; esac")

    code, out, err = machine.run("verify")

    assert code == UNAVAILABLE
    assert out == ""
    assert err.count("\n") == 1
    assert "3.11 or newer and found 3.9.2" in err


def test_a_machine_without_python_is_reported(machine: FreshMachine):
    code, _, err = machine.run("verify")

    assert code == UNAVAILABLE
    assert err.count("\n") == 1
    assert "found none" in err


def test_a_python_without_venv_is_refused_with_the_package_to_install(machine: FreshMachine):
    machine.put("python3", f'case $2 in *ensurepip*) exit 1 ;; esac; exec "{sys.executable}" "$@"')

    code, _, err = machine.run("verify")

    assert code == UNAVAILABLE
    assert err.count("\n") == 1
    assert "apt-get install python3-venv" in err


def test_the_first_launch_sets_up_with_hashes_and_the_second_only_runs(machine: FreshMachine):
    machine.with_python().with_uv()

    first = machine.run("explore", "two words")
    calls = machine.uv_calls()
    second = machine.run("versions")

    assert first[:2] == (0, "ran -m conformance.cli explore two words\n")
    assert [call.split()[0:2] for call in calls] == [
        ["venv", "--quiet"],
        ["pip", "sync"],
        ["pip", "install"],
    ]
    assert "--require-hashes" in calls[1]
    assert all(line.startswith("insync: ") for line in first[2].splitlines())
    assert second == (0, "ran -m conformance.cli versions\n", "")
    assert machine.uv_calls() == calls


@pytest.mark.parametrize("name", ["requirements.lock", "pyproject.toml"])
def test_a_changed_file_brings_the_set_up_back_without_starting_from_nothing(
    machine: FreshMachine, name: str
):
    machine.with_python().with_uv().run("versions")
    with (machine.home / name).open("a") as file:
        file.write("# changed\n")

    before = len(machine.uv_calls())
    code, _, _ = machine.run("versions")

    assert code == 0
    assert [call.split()[1] for call in machine.uv_calls()[before:]] == ["sync", "install"]


def test_a_checkout_that_moved_is_set_up_again(machine: FreshMachine):
    machine.with_python().with_uv().run("versions")
    machine.home = machine.home.rename(machine.home.with_name("elsewhere"))

    before = len(machine.uv_calls())
    machine.run("versions")

    assert len(machine.uv_calls()) > before


def test_a_set_up_that_failed_is_not_taken_for_a_finished_one(machine: FreshMachine):
    machine.with_python().with_uv()
    failure = machine.calls.with_name(machine.calls.name + ".fails")
    failure.touch()

    code, out, err = machine.run("verify")
    failure.unlink()
    again = machine.run("verify")

    assert (code, out) == (UNAVAILABLE, "")
    assert "no network" in err
    assert again[:2] == (0, "ran -m conformance.cli verify\n")


def test_two_launches_at_once_set_up_once(machine: FreshMachine):
    machine.with_python().with_uv()

    launches = [machine.start("versions", UV_SLOW="1") for _ in range(2)]
    outputs = [launch.communicate(timeout=120)[0] for launch in launches]

    assert outputs == ["ran -m conformance.cli versions\n"] * 2
    assert [call.split()[0] for call in machine.uv_calls()] == ["venv", "pip", "pip"]


def test_the_launcher_may_be_called_through_a_link(machine: FreshMachine):
    machine.with_python().with_uv()
    (machine.bin / "insync").symlink_to(machine.home / "insync")

    done = subprocess.run(
        [str(machine.bin / "insync"), "versions"],
        cwd="/",
        env={"PATH": str(machine.bin), "UV_CALLS": str(machine.calls)},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.stdout == "ran -m conformance.cli versions\n"
    assert (machine.home / ".venv").is_dir()

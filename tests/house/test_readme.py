"""The texts are true: every link leads to a file, and every command of README and guide runs.

A command ends with its exit code.

A line of a ```sh block that starts with `insync` or `./insync` is run; `# exit 1` at its end is
the code it must leave, else 0. They run in their order in one folder that looks like the checkout,
so that one command may read what an earlier one wrote, and the checkout stays clean. What both
pages show is run once. A command runs in this process, as the launcher would run it; one that needs
a shell, starts processes to stay, or plants a bug into its own process, runs in one of its own.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from conformance.cli import main
from tests.clients.table import HEAD

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "docs" / "guide.md", ROOT / "README.md")
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
STATED = re.compile(r"#\s*exit (\d+)\b")
TESTED_ELSEWHERE = ("verify", "test")
RUN_BY = {
    "insync prove no_message_loss": "tests/proofs/test_no_message_loss.py",
    "insync story specs/stories": "tests/cli/test_story.py",
}
"""Commands that take long and that another test runs, as it needs what they answer."""

SHELL = re.compile(r"[|&;<>$`*?~]")
LEAVES_TRACES = ("cluster", "chaos", "mutants")


class Shown(NamedTuple):
    """One command of a page."""

    line: str
    code: int


def shown(text: str) -> list[Shown]:
    lines = "".join(BLOCK.findall(text)).replace("\\\n", " ").splitlines()
    commands = []
    for line in lines:
        words = [word.removeprefix("./") for word in line.removeprefix("$ ").split("#")[0].split()]
        at = words.index("insync") + 1 if "insync" in words else len(words)
        if at < len(words) and words[at] not in TESTED_ELSEWHERE:
            stated = STATED.search(line)
            command = re.sub(r"\s{2,}", " ", line.removeprefix("$ "))
            commands.append(Shown(command, int(stated.group(1)) if stated else 0))
    return commands


def in_process(line: str) -> list[str] | None:
    """The words for the command line, or None where the line needs a process of its own."""
    words = shlex.split(line, comments=True)
    first = words[0].removeprefix("./")
    if first != "insync" or words[1] in LEAVES_TRACES or SHELL.search(line.split(" # ")[0]):
        return None
    return words[1:]


def shown_once(texts: Iterable[str]) -> list[Shown]:
    """The commands of some pages, without blocks that stood on an earlier page."""
    found: list[Shown] = []
    for text in texts:
        before = set(found)
        for block in BLOCK.findall(text):
            commands = shown(f"```sh\n{block}```")
            if not before.issuperset(commands):
                found += commands
    return found


COMMANDS = [
    command
    for command in shown_once(page.read_text(encoding="utf-8") for page in PAGES)
    if command.line not in RUN_BY
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder whose entries are links into the checkout, with an `insync` that needs no set-up.

    A cluster that is started in it is ended with it, wherever a command failed.
    """
    outer = tmp_path_factory.mktemp("readme")
    inner = outer / "insync"
    inner.mkdir()
    for entry in ROOT.iterdir():
        if entry.name != "insync" and not entry.name.startswith("."):
            (inner / entry.name).symlink_to(entry)
    if (ROOT.parent / "shared").is_dir():
        (outer / "shared").symlink_to(ROOT.parent / "shared")
    launcher = inner / "insync"
    launcher.write_text(
        f'#!/bin/sh\nPYTHONPATH="{ROOT}" PYTHONSAFEPATH=1 '
        f'exec "{sys.executable}" -m conformance.cli "$@"\n'
    )
    launcher.chmod(0o755)
    yield inner
    for started in inner.glob("*/cluster.json"):
        subprocess.run([launcher, "cluster", "stop", started.parent], cwd=inner, check=False)


TEXTS = (ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md")))
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub and mkdocs make them."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = [re.sub(r"[^\w\s-]", "", heading.lower()).strip() for heading in headings]
    return {re.sub(r"\s+", "-", heading) for heading in plain}


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_every_link_of_a_text_leads_to_a_file_of_the_repository(page: Path):
    for link, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        target = page.parent / link if link else page
        assert target.exists(), f"{link} is not in the repository"
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{link}#{anchor}"


def test_the_page_of_clients_begins_as_the_command_that_makes_it_begins():
    assert (ROOT / "docs" / "clients.md").read_text(encoding="utf-8").startswith(HEAD)


def test_the_links_of_readme_are_found():
    assert len(LINK.findall((ROOT / "README.md").read_text(encoding="utf-8"))) > 10


def test_readme_fits_a_mind():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_both_pages_show_commands():
    assert [page.name for page in PAGES if not shown(page.read_text(encoding="utf-8"))] == []


def test_a_command_that_is_left_to_another_test_is_shown_and_is_run_there():
    lines = {one.line: one.code for one in shown_once(page.read_text() for page in PAGES)}

    for line, file in RUN_BY.items():
        words = json.dumps(line.split()[1:]).removesuffix("]")
        assert f"invoke(main, {words}" in (ROOT / file).read_text(encoding="utf-8")
        assert lines[line] == 0


def test_a_block_that_an_earlier_page_has_is_run_once():
    guide = "```sh\ninsync find a\ninsync find b\n```\n"
    readme = "```sh\ninsync find b\n```\n```sh\ninsync find b\ninsync find c\n```\n"

    lines = [command.line for command in shown_once([guide, readme])]

    assert lines == ["insync find a", "insync find b", "insync find b", "insync find c"]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.line)
def test_a_command_of_the_readme_ends_as_it_says(
    command: Shown, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    if "../shared" in command.line and not (folder.parent / "shared").exists():
        pytest.skip("needs the shared folder beside the repository")

    words = in_process(command.line)
    if words is not None:
        monkeypatch.chdir(folder)
        result = CliRunner().invoke(main, words, prog_name="insync")
        assert result.exit_code == command.code, result.output
        return

    done = subprocess.run(
        ["sh", "-c", command.line],
        cwd=folder,
        env={**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == command.code, done.stdout + done.stderr


def test_the_reader_of_the_readme_knows_a_command_when_it_sees_one():
    text = (
        "```sh\n./insync verify\n./insync find a b   # exit 1\ninsync check x \\\n    y\nls\n```\n"
        "insync not in a block\n```python\ninsync no\n```\n```sh\n$ insync versions\n```\n"
        "```sh\nseq 3 | insync produce\necho no # insync yes\n```\n"
    )

    assert shown(text) == [
        Shown("./insync find a b # exit 1", 1),
        Shown("insync check x y", 0),
        Shown("insync versions", 0),
        Shown("seq 3 | insync produce", 0),
    ]


def test_only_what_needs_a_shell_or_starts_processes_is_a_process():
    lines = [command.line for command in COMMANDS if in_process(command.line) is None]

    assert any("|" in line for line in lines)
    assert any(line.startswith("insync cluster start") for line in lines)
    assert in_process('./insync surgery election --guard "/a is" # exit 1') == [
        "surgery", "election", "--guard", "/a is"
    ]  # fmt: skip
    assert in_process("seq 3 | insync produce") is None

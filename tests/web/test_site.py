"""The documentation as a site, and the pictures in it: all of it made, none of it stale."""

from __future__ import annotations

import re
import shlex
from os.path import normpath
from pathlib import Path

import click
import pytest

from conformance.cli.docs import _commands
from conformance.cli.main import COMMANDS
from conformance.web.lessons import lessons
from conformance.web.pictures import MOMENTS, digest, stale
from conformance.web.site import SECTIONS, command_reference, menu, sources
from model.systems import SYSTEMS
from tests.cli.conftest import command as insync

ROOT = Path(__file__).resolve().parents[2]
STORIES = ROOT / "specs" / "stories"
DOCS = ROOT / "docs"


FEW = ("m2_is_lost", "two_fast_elections_diverge")


@pytest.fixture(autouse=True)
def few_stories(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page for each story takes a minute; two say as much of how the site is made."""
    few = tuple(STORIES / f"{name}.story" for name in FEW)
    monkeypatch.setattr("conformance.web.site.ALL_STORIES", few)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return sources(_commands())


def test_every_command_and_every_option_is_in_the_reference(pages: dict[str, str]):
    text = pages["commands.md"]
    headings = re.findall(r"^## insync ([\w-]+)$", text, re.MULTILINE)

    assert headings == list(COMMANDS)
    for command in _commands().values():
        for one in command.params:
            if isinstance(one, click.Option):
                assert one.opts[0] in text


def test_every_transition_is_in_the_reference_of_its_system(pages: dict[str, str]):
    for name, system in SYSTEMS.items():
        reported = re.findall(r"^### `(\w+)\(", pages[f"reference/{name}.md"], re.MULTILINE)
        assert reported == [one.name for one in system.transitions]


def test_every_lesson_is_a_page_that_asks_and_does_not_tell(pages: dict[str, str]):
    for lesson in lessons():
        text = pages[f"lessons/{lesson.name}.md"]
        assert text.count("**Predict.**") == len(lesson.questions)
        assert not re.search(r"^\+ ", text, re.MULTILINE)


def test_every_link_of_the_site_leads_to_a_page_or_a_picture(pages: dict[str, str]):
    for name, text in pages.items():
        for link in re.findall(r"\]\(([^)#\s]+)\)", text):
            if link.startswith("http"):
                continue
            at = normpath((Path(name).parent / link).as_posix())
            story = STORIES / f"{Path(link).stem}.story"
            played = at == "played/index.html" or (name.startswith("stories/") and story.is_file())
            assert at in pages or (DOCS / at).is_file() or played, f"{name}: {link}"


def test_the_menu_has_every_page_that_no_other_lists(pages: dict[str, str]):
    listed = {path for section in menu(pages).values() for _, path in section}

    assert list(menu(pages)) == list(SECTIONS), "a page is in no section: give it one"
    assert listed <= set(pages)
    assert {path for path in pages if "/" not in path} <= listed


@pytest.mark.parametrize("page", ["index.md", "adding.md", "concepts.md", "for-teachers.md"])
def test_the_commands_that_the_texts_show_are_commands(pages: dict[str, str], page: str):
    shown = re.findall(r"`(?:\./)?insync ([^`]*)`|^(?:\./)?insync (.*)$", pages[page], re.MULTILINE)
    names = [shlex.split(one or other, comments=True)[0] for one, other in shown]

    assert names or page == "concepts.md"
    assert set(names) <= set(COMMANDS)


def test_the_first_five_minutes_end_as_the_text_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    shown = re.findall(r"^insync (.*?)(?:\s+# exit (\d))?$", (DOCS / "start.md").read_text(), re.M)

    codes = [insync(*shlex.split(words)).exit_code for words, _ in shown]

    assert len(shown) == 3
    assert codes == [int(code or 0) for _, code in shown]


def test_a_command_is_reported_in_its_own_words():
    @click.command(epilog="\b\nExample:\n  insync x --loud")
    @click.option("--loud", is_flag=True, help="Say it | aloud.")
    def x(loud: bool) -> None:
        """Does a thing.

        And another.
        """

    text = command_reference({"x": x})

    assert "Does a thing.\n\nAnd another." in text
    assert "| `--loud` | Say it \\| aloud. |" in text
    assert "```sh\ninsync x --loud\n```" in text


def test_pages_are_written_as_markdown_without_mkdocs(tmp_path: Path):
    result = insync("docs", "--markdown", "--out", str(tmp_path / "pages"))

    assert result.exit_code == 0
    assert (tmp_path / "pages" / "mkdocs.yml").is_file()
    assert (tmp_path / "pages" / "docs" / "reference" / "classic.md").is_file()


def test_the_site_is_built_without_network_and_fetches_nothing(tmp_path: Path):
    pytest.importorskip("mkdocs", reason="mkdocs is not installed: install insync[docs]")

    result = insync("docs", "--out", str(tmp_path / "site"))

    assert result.exit_code == 0, result.output
    site = tmp_path / "site"
    assert {path.stem for path in (site / "stories").glob("*.html")} == {"index", *FEW}
    assert len(list((site / "played").glob("*.html"))) == len(lessons()) + 1
    for path in (*(site / "played").glob("*.html"), *(site / "stories").glob("*.html")):
        for link in re.findall(r"""(?:src|href)="([^"#:]+)["#]""", path.read_text()):
            assert (path.parent / link).exists(), f"{path.name}: {link}"
    for path in (tmp_path / "site").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"""<(?:script|img|iframe)[^>]*src=["'](?:https?:)?//""", text)
        assert not re.search(r"""<link[^>]*href=["'](?:https?:)?//""", text)


def test_the_pictures_are_current():
    wrong = stale(DOCS / "pictures")

    assert wrong == [], "take them again: insync pictures"


def test_a_picture_of_another_state_is_stale(tmp_path: Path):
    for path in (DOCS / "pictures").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    manifest = tmp_path / "pictures.json"
    manifest.write_text(manifest.read_text().replace(digest(MOMENTS[0]), "0" * 16))
    (tmp_path / f"{MOMENTS[1].name}.png").write_bytes(b"another")
    (tmp_path / f"{MOMENTS[2].name}.png").unlink()

    wrong = stale(tmp_path)

    assert [line.partition(": ")[2] for line in wrong] == [
        "the explorer shows something else by now",
        "is another picture than the one that was taken",
        "is missing",
    ]


def test_pictures_without_a_browser_are_refused_and_the_old_ones_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "pictures.json").write_text("{}")
    monkeypatch.setenv("PATH", "")

    result = insync("pictures", "--out", str(tmp_path))

    assert result.exit_code == 64
    assert "there is no Chromium here" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["pictures.json"]

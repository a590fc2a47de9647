"""Builds the documentation as a site, without network: texts, commands, transitions, lessons.

What the code shows is derived from it: the commands from their own help, each system's transitions
from the model; the rest comes from `docs/*.md`.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

import click

from conformance.web.board import board
from conformance.web.diagram import on_paper
from conformance.web.explain import frames_of, packed
from conformance.web.lessons import STATIC_SITE, index_page, lesson_page, lessons
from conformance.web.pictures import MOMENTS
from conformance.web.run_files import read_run
from conformance.web.self_contained import STATIC, beside_files
from model.systems import SYSTEMS
from specs.reference import markdown, pages

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
ALL_STORIES = tuple(sorted((ROOT / "specs" / "stories").glob("*.story")))
_ON_THE_SITE = {
    "](../specs/lessons)": "](lessons/index.md)",
    "](../specs/stories)": "](stories/index.md)",
    "](../ARCHITECTURE.md)": "](architecture.md)",
    "](../README.md)": "](index.md)",
    "](start.md)": "](index.md)",
}
"""Links of the texts, which are paths in the repository, to the pages that are made of them."""

SECTIONS: Mapping[str, Sequence[tuple[str, str]]] = {
    "Start": (
        ("The first five minutes", "index.md"),
        ("The explorer in pictures", "pictures.md"),
        ("Concepts", "concepts.md"),
        ("For teachers", "for-teachers.md"),
    ),
    "Learn": (
        ("Lessons", "lessons/index.md"),
        ("Stories", "stories/index.md"),
        ("Fact sheet of the protocol", "protocol.md"),
        ("Where articles err", "articles.md"),
    ),
    "Use": (
        ("Guide", "guide.md"),
        ("Commands", "commands.md"),
        ("What broken means for logs", "what-broken-means.md"),
        ("Clients", "clients.md"),
        ("Measurements", "measurements.md"),
        ("On several machines", "distributed.md"),
        ("A billion lines on an existing cluster", "scale.md"),
    ),
    "Trust": (
        ("What is proved, what is checked", "claims.md"),
        ("Why nothing is lost", "why-nothing-is-lost.md"),
        ("What happens in the end", "what-happens-in-the-end.md"),
        ("The same run on Apache Kafka", "apache-kafka.md"),
        ("What was planted in the refinement", "planted-in-the-refinement.md"),
    ),
    "Extend": (
        ("From an idea to a proof", "a-new-idea.md"),
        ("Architecture", "architecture.md"),
        ("How to add", "adding.md"),
        ("Transitions", "reference/index.md"),
        ("Adapters", "adapters.md"),
    ),
}
"""The menu. Five words fit above a page on any screen; nineteen titles filled a fifth of it."""


def menu(pages_of: Mapping[str, str]) -> dict[str, Sequence[tuple[str, str]]]:
    """The entries of the menu: SECTIONS, and texts outside of them under a heading of their own."""
    known = {path for pages in SECTIONS.values() for _, path in pages}
    further = [(text.partition("\n")[0].lstrip("# ").replace("`", ""), path)
               for path, text in pages_of.items()
               if "/" not in path and path not in known]  # fmt: skip
    return {**SECTIONS, **({"Further": sorted(further)} if further else {})}


def sources(commands: Mapping[str, click.Command]) -> dict[str, str]:
    """Every page of the site as Markdown, by its path."""
    found = {path.name: _text(path) for path in sorted(DOCS.glob("*.md"))}
    found["index.md"] = found.pop("start.md")
    found["architecture.md"] = _text(ROOT / "ARCHITECTURE.md").replace("](docs/", "](")
    found["commands.md"] = command_reference(commands)
    found["pictures.md"] = _pictures()
    found |= dict(_transitions())
    found |= dict(_lessons())
    found["stories/index.md"] = _stories()
    return found


def _text(path: Path) -> str:
    """A text of the repository, with links to the site's pages."""
    text = path.read_text(encoding="utf-8")
    for link, page in _ON_THE_SITE.items():
        text = text.replace(link, page)
    return text


BOARD = "style.css", "words.js", "draw.js", "lesson.js", "app.js"


def recorded_pages(stories: Sequence[Path] | None = None) -> Iterator[tuple[str, str]]:
    """The pages that play without a server: by path, each lesson beside its board, and each story.

    The runs are data in the pages; all pages share one copy of the board's files.
    """
    for name in BOARD:
        yield f"board/{name}", (STATIC / name).read_text(encoding="utf-8")
    yield "played/index.html", index_page(place=STATIC_SITE)
    for lesson in lessons():
        yield f"played/{lesson.name}.html", lesson_page(lesson, STATIC_SITE)
    for path in ALL_STORIES if stories is None else stories:
        run = read_run(path)
        data = packed(run, frames_of(board(run.heading), run.lines))
        yield f"stories/{path.stem}.html", beside_files("index.html", run.title, data, "../board/")


def write(
    folder: Path, commands: Mapping[str, click.Command], stories: Sequence[Path] | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> list[Path]:  # fmt: skip
    """Writes the pages and pictures into a folder, and what mkdocs needs beside them.

    `stories` get a page; all if None. `report` is called with the progress.
    """
    pages_of = folder / "docs"
    written = []
    texts = sources(commands)
    for name, text in texts.items():
        path = pages_of / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(path)
    for count, (name, text) in enumerate(recorded_pages(stories), 1):
        report(f"page {count}: {name}")
        path = pages_of / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(path)
    shutil.copytree(DOCS / "pictures", pages_of / "pictures", dirs_exist_ok=True)
    (folder / "mkdocs.yml").write_text(settings(texts), encoding="utf-8")
    return written


def settings(texts: Mapping[str, str]) -> str:
    """The text of `mkdocs.yml`: the built-in theme, and nothing from any other host."""
    lines = [
        "site_name: insync", "docs_dir: docs", "use_directory_urls: false",
        "theme:", "  name: mkdocs", "  highlightjs: false", "  locale: en",
        "plugins:", "  - search",
        "markdown_extensions:", "  - tables", "  - fenced_code", "  - sane_lists",
        "validation:", "  links:", "    not_found: warn", "    anchors: warn",
        "nav:", *(line for section, pages in menu(texts).items() for line in
                  (f"  - {section}:", *(f"      - {title}: {path}" for title, path in pages))),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def build(folder: Path, to: Path) -> None:
    """Builds the site from the written pages. Raises ImportError without mkdocs, ValueError for a
    page that it cannot build."""
    # By name: mkdocs is an extra, and types are checked without it.
    built = import_module("mkdocs.commands.build").build
    load_config = import_module("mkdocs.config").load_config
    wrong = import_module("mkdocs.exceptions").MkDocsException
    part = to.with_name(f".{to.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        built(load_config(str(folder / "mkdocs.yml"), site_dir=str(part.resolve()), strict=True))
        shutil.rmtree(to, ignore_errors=True)
        part.replace(to)
    except wrong as error:
        raise ValueError(str(error)) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


# -- pages ----------------------------------------------------------------------------------------


def command_reference(commands: Mapping[str, click.Command]) -> str:
    """Every command: what it does, how it is written, its options, from its own help."""
    parts = [
        "# Commands", "",
        "Made from the commands themselves. Exit codes: 0 holds, 1 broken, 2 unknown, 3 not "
        "checked, 64 wrong use.", "",
    ]  # fmt: skip
    for name, command in commands.items():
        parts += _command(f"insync {name}", command, 2)
    return "\n".join(parts).rstrip() + "\n"


def _command(called: str, command: click.Command, level: int) -> Iterator[str]:
    context = click.Context(command, info_name=called)
    usage = " ".join([called, *command.collect_usage_pieces(context)])
    yield from (f"{'#' * level} {called}", "", "```text", usage, "```", "")
    yield from (_prose(command.help or ""), "")
    options = [one for one in command.get_params(context) if isinstance(one, click.Option)]
    rows = [record for one in options if (record := one.get_help_record(context)) is not None]
    if rows:
        yield from ("| option | what |", "|---|---|")
        yield from (f"| `{_cell(left)}` | {_cell(right)} |" for left, right in rows)
        yield ""
    if command.epilog:
        yield from ("```sh", *_example(command.epilog), "```", "")
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _command(f"{called} {name}", inner, level + 1)


def _prose(text: str) -> str:
    """A command's help; what click sets as it stands is an example."""
    parts = []
    for block in re.split(r"\n\s*\n", text.strip()):
        if block.lstrip().startswith("\b"):
            parts.append("\n".join(["```sh", *_example(block), "```"]))
        else:
            parts.append(" ".join(block.split()))
    return "\n\n".join(parts)


def _example(block: str) -> list[str]:
    lines = [line.strip() for line in block.replace("\b", "").strip().splitlines()]
    return [line for line in lines if line and line != "Example:"]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _transitions() -> Iterator[tuple[str, str]]:
    rows = ["# Transitions", "", "Read off the model when this site is built: each transition with "
            "its guards, releases, bugs and stories.", "", "| system | what is in it |",
            "|---|---|"]  # fmt: skip
    for name, one in SYSTEMS.items():
        rows.append(f"| [`{name}`]({name}.md) | {one.about} |")
        yield f"reference/{name}.md", markdown(one, pages(one))
    yield "reference/index.md", "\n".join(rows) + "\n"


def _lessons() -> Iterator[tuple[str, str]]:
    rows = ["# Lessons", "", "Predict, step, break, repair, claim. [Read them beside the "
            "board](../played/index.html), which shows what is read and plays your answers out; "
            "`insync play` serves them at `/lessons`, where you can go on from any state. Below is "
            "the text alone.", ""]  # fmt: skip
    for lesson in lessons():
        rows.append(f"{lesson.number}. [{lesson.title}]({lesson.name}.md)")
        yield f"lessons/{lesson.name}.md", _without_answers(lesson.text)
    yield "lessons/index.md", "\n".join(rows) + "\n"


def _stories() -> str:
    rows = ["# Stories", "", "Each is a run that the tests play, and plays here step by step, with "
            "the board, the claims, and every field.", ""]  # fmt: skip
    for path in ALL_STORIES:
        first = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ").rstrip(".")
        rows.append(f"- [{first}]({path.stem}.html) (`{path.stem}`)")
    return "\n".join(rows) + "\n"


def _without_answers(text: str) -> str:
    """A lesson without its answers: the page on paper asks, the explorer tells."""

    def question(found: re.Match[str]) -> str:
        lines = [line for line in found[1].splitlines() if line.strip()]
        asked = " ".join(line for line in lines if line[:2] not in ("+ ", "- ", "  "))
        answers = [f"- ☐ {line[2:]}" for line in lines if line[:2] in ("+ ", "- ")]
        return "\n".join([f"**Predict.** {asked}", "", *answers])

    text = re.sub(r"\[([^\]]+)\]\(at:[\d.]+\)", r"\1", text)  # the board is elsewhere
    text = re.sub(r"^```diagram\n(.*?)^```$", lambda found: on_paper(found[1]), text,
                  flags=re.MULTILINE | re.DOTALL)  # fmt: skip
    return re.sub(r"^```predict\n(.*?)^```$", question, text, flags=re.MULTILINE | re.DOTALL)


def _pictures() -> str:
    parts = ["# The explorer in pictures", "", "Taken by `insync pictures`, in Chromium.", ""]
    for moment in MOMENTS:
        parts += [moment.says, "", f"![{moment.says}](pictures/{moment.name}.png)", ""]
    return "\n".join(parts)

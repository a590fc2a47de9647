"""The page about the articles' errors is whole, and what it points to is there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from model.bugs import entry
from model.systems import SYSTEMS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "articles.md"
VECTORS = Path(__file__).parents[1] / "data" / "vectors"
STORIES = ROOT / "specs" / "stories"
ITEM = re.compile(r"^### (\d{3})\.(\d+) (.+)\n((?:- .*\n|  .*\n)+)", re.MULTILINE)
KINDS = ("Says", "Is", "Decides", "Shown")
SECTION = re.compile(r"sheet [a-z](\.\d+)?$")


def parts(body: str) -> dict[str, str]:
    lines = re.sub(r"\n  ", " ", body).strip().splitlines()
    return dict(line.removeprefix("- ").split(": ", 1) for line in lines)


TEXT = PAGE.read_text(encoding="utf-8")
ITEMS = {f"{one[1]}.{one[2]}": parts(one[4]) for one in ITEM.finditer(TEXT)}
NEXT = re.compile(r"; (?=(?:sheet|story|bug|claim|vector) )")
REFERENCES = [(name, one) for name, item in ITEMS.items() for one in NEXT.split(item["Shown"])]


def test_every_article_has_items_and_they_are_numbered_in_a_row():
    names = list(ITEMS)
    counts = {article: sum(name.startswith(article) for name in names)
              for article in ("000", "001", "002", "003", "004")}  # fmt: skip

    assert names == [f"{article}.{n}" for article, many in counts.items()
                     for n in range(1, many + 1)]  # fmt: skip
    assert min(counts.values()) >= 5
    assert len(names) == TEXT.count("\n### ")


@pytest.mark.parametrize("name", ITEMS)
def test_an_item_says_what_is_said_what_is_so_what_decides_and_where_it_is_shown(name):
    assert tuple(ITEMS[name]) == KINDS
    assert all(ITEMS[name].values())


@pytest.mark.parametrize(("name", "reference"), REFERENCES)
def test_what_an_item_points_to_is_there(name, reference):
    kind, _, what = reference.partition(" ")
    if kind == "sheet":
        assert SECTION.match(reference), reference
    elif kind == "story":
        assert (STORIES / f"{what.strip('`')}.story").exists()
    elif kind == "bug":
        assert entry(what.strip("`"))
    elif kind == "claim":
        system, claim = what.strip("`").split("/")
        assert claim in {one.name for one in SYSTEMS[system].claims}
    else:
        assert kind == "vector", f"{name}: {reference}"
        file, _, case = what.partition(": ")
        text = (VECTORS / file.strip("`")).read_text(encoding="utf-8")
        assert case in {one["case"] for one in json.loads(text)}


def test_the_sections_of_the_sheet_exist():
    sheet = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    known = set(re.findall(r"^###? ([a-z](?:\.\d+)?)[. ]", sheet, re.MULTILINE))

    wanted = {one.removeprefix("sheet ") for _, one in REFERENCES if one.startswith("sheet ")}

    assert sorted(wanted - known) == []

"""Campaigns: many runs, one table, on whatever executors, going on where they stopped."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.campaign import (
    CampaignFolder,
    CampaignPlan,
    CampaignRun,
    LocalCampaign,
    OtherCampaignError,
    run_whole_campaign,
    summary,
)
from conformance.campaign import run_campaign as carrying
from conformance.campaign.on_spark import SparkCampaign
from conformance.campaign.run_one import judged, recorded, with_planted
from conformance.cli.main import main
from conformance.replay import check_trace
from impl.core import fetcher_thread
from specs.story import parse, play
from specs.verdict import Verdict

PLAN = CampaignPlan(1, 3, ("none", "everything"), ("-", "KIP-101"), steps=60, brokers=3)


class Counting(LocalCampaign):
    """The local engine, and which runs it was asked for; it is interrupted at one of them."""

    def __init__(self, interrupted_at: int | None = None) -> None:
        self.asked: list[int] = []
        self.interrupted_at = interrupted_at

    def run(self, cells, plan, folder):
        self.asked += [cell.number for cell in cells]
        if self.interrupted_at in self.asked:
            (folder / "half").write_text("of something")
            raise KeyboardInterrupt
        super().run(cells, plan, folder)


def test_spark_and_one_process_give_the_same_table(spark, tmp_path):
    plan = replace(PLAN, last=1)
    here = run_whole_campaign(plan, CampaignFolder(tmp_path / "here", plan, "c"), LocalCampaign())

    there = run_whole_campaign(plan, CampaignFolder(tmp_path / "there", plan, "c"), SparkCampaign())

    assert there == here
    assert [(line.planted, line.verdict) for line in summary(here)] == [
        ("-", Verdict.HOLDS), ("-", Verdict.HOLDS),
        ("KIP-101", Verdict.BROKEN), ("KIP-101", Verdict.BROKEN),
    ]  # fmt: skip


def test_an_interrupted_campaign_goes_on_and_does_nothing_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(carrying, "PART", 4)
    whole = run_whole_campaign(PLAN, CampaignFolder(tmp_path / "whole", PLAN, "c"), LocalCampaign())
    with pytest.raises(KeyboardInterrupt):
        run_whole_campaign(
            PLAN, CampaignFolder(tmp_path / "cut", PLAN, "c"), Counting(interrupted_at=5)
        )

    second = Counting()
    verdicts = run_whole_campaign(PLAN, CampaignFolder(tmp_path / "cut", PLAN, "c"), second)

    assert second.asked == list(range(4, 12))
    assert verdicts == whole
    assert not list((tmp_path / "cut").rglob("half"))


@pytest.mark.parametrize(
    ("other", "commit", "said"),
    [
        (CampaignPlan(1, 4, *list(vars(PLAN).values())[2:]), "c", "last is 3 there and 4 here"),
        (PLAN, "d", "commit is 'c' there and 'd' here"),
    ],
)
def test_a_folder_of_another_campaign_is_refused_with_what_differs(tmp_path, other, commit, said):
    CampaignFolder(tmp_path, PLAN, "c")

    with pytest.raises(OtherCampaignError, match=said):
        CampaignFolder(tmp_path, other, commit)


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path):
    (tmp_path / "letters.txt").write_text("dear")

    with pytest.raises(OtherCampaignError, match=r"already holds letters\.txt"):
        CampaignFolder(tmp_path, PLAN, "c")

    assert [entry.name for entry in tmp_path.iterdir()] == ["letters.txt"]


def test_a_planted_bug_is_gone_after_its_run():
    was = vars(fetcher_thread)["follower_truncation"]

    with with_planted("KIP-101"):
        planted = vars(fetcher_thread)["follower_truncation"]

    assert planted is not was
    assert vars(fetcher_thread)["follower_truncation"] is was


def test_a_run_of_which_lines_are_missing_is_not_checked():
    rows = recorded(CampaignRun(0, 1, "none", "-"), steps=20, brokers=2)

    verdict = judged([row for row in rows if row["line"] != 7])

    assert verdict["verdict"] == str(Verdict.NOT_CHECKED)
    assert "gap" in verdict["why"]


def test_the_command_keeps_what_it_did_and_a_failure_comes_back_as_a_small_story(tmp_path):
    command = [
        "simulate", "--seeds", "1..2", "--steps", "60", "--planted", "KIP-101",
        "--engine", "local", "--out", str(tmp_path / "night"), "--shrink", "--json", "-",
    ]  # fmt: skip

    first = CliRunner().invoke(main, command)
    again = CliRunner().invoke(main, command)

    one, two = json.loads(first.stdout), json.loads(again.stdout)
    assert (first.exit_code, one["verdict"]) == (1, "broken")
    assert one["runs"] == two["runs"]
    assert one["small"] == two["small"]
    (small,) = one["small"]
    story, trace = map(Path, small["files"])
    assert len(small["steps"]) < 25
    assert play(parse(story.read_text(), story.name)).failed is None
    assert check_trace(trace).verdict is Verdict.BROKEN

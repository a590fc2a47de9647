"""Reports as data: every field or what it says instead; and the keys that people's files keep."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from conformance.campaign.plan import CampaignPlan
from conformance.campaign.summary import SummaryLine
from conformance.chaos.history import ClientHistory
from conformance.chaos.run import ChaosPlan, ChaosReport
from conformance.cli.bugs import EntryReport
from conformance.cli.claim_answer import ClaimAnswer
from conformance.cli.lockstep import WalkCampaign
from conformance.coverage import CoreCoverage, Missing
from conformance.disks.compare_replicas import InspectedPartition
from conformance.disks.inspect_directories import Inspection
from conformance.disks.read_directories import InspectedDirectory
from conformance.edges import EdgeReport
from conformance.ingest.growing import ReadOffsets
from conformance.kafka.mixed import MixedReport
from conformance.mutants.trial import MutantTrial
from conformance.trace_report import TraceReport
from conformance.verify import ClaimRow
from conformance.web.compare import ComparedRow, Comparison
from specs.exploration import Exploration
from specs.growth import FieldGrowth
from specs.induction_counterexamples import InductionCounterexample
from specs.obligations import Obligation
from specs.refinement.by_exploration import RefinementExploration
from specs.rendering import (
    COUNTED,
    FLAT,
    HIDDEN,
    as_data,
    at,
    keys_of,
    only_attribute,
    parts,
    picked,
    rounded,
    rows,
    under_key,
)
from specs.runs import Run, RunStep
from specs.surgery import GuardTrial
from specs.verdict import ClaimReport, Finding, Verdict


@dataclass
class WalkedReport:
    ALSO: ClassVar = parts("verdict", kept=at("where.name"))

    steps: int
    where: Path = field(metadata=HIDDEN)
    seconds: float | None = field(default=None, metadata=rounded(2))
    by: str = field(default="claim", metadata=under_key("noticed_by"))
    lines: tuple[str, ...] = field(default=("a", "b"), metadata=COUNTED)
    fired: Counter[str] = field(default_factory=lambda: Counter(b=1, a=2))
    open: tuple[SimpleNamespace | Any, ...] = field(default=(), metadata=picked("steps"))
    first: SimpleNamespace | None = field(default=None, metadata=only_attribute("label"))
    more: dict[str, object] = field(default_factory=dict, metadata=FLAT)

    @property
    def verdict(self) -> Verdict:
        return Verdict.HOLDS


def test_a_report_is_its_fields_as_they_say_and_what_it_shows_beside():
    inner = WalkedReport(1, Path("x"), 0.5)

    data = as_data(WalkedReport(
        3, Path("/there/file"), 1.2345, open=(inner,), first=SimpleNamespace(label="one"),
        more={"extra": {"b", "a"}},
    ))  # fmt: skip

    assert data == {
        "verdict": "holds", "kept": "file", "steps": 3, "seconds": 1.23, "noticed_by": "claim",
        "lines": 2, "fired": {"a": 2, "b": 1}, "open": [{"steps": 1}], "first": "one",
        "extra": ["a", "b"],
    }  # fmt: skip
    assert list(data)[:2] == ["verdict", "kept"]
    assert list(data["fired"]) == ["a", "b"]


def test_what_is_not_there_stays_none():
    data = as_data(WalkedReport(0, Path("x")))

    assert (data["seconds"], data["first"], data["open"]) == (None, None, [])


def test_rows_have_what_stands_beside_every_report_first():
    found = rows([WalkedReport(1, Path("x")), WalkedReport(2, Path("y"))], claim="c")

    assert [(one["claim"], one["steps"]) for one in found] == [("c", 1), ("c", 2)]
    assert next(iter(found[0])) == "claim"


def test_what_json_does_not_know_is_refused_and_not_guessed():
    with pytest.raises(TypeError, match="no JSON form for object"):
        as_data({"value": object()})


KEYS = {
    Finding: "kind cluster file line rule why allowed positions",
    ClaimReport: "claim sentence label system version without verdict brokers obligations "
    "solver_calls seconds open contradictory assumes counterexample",
    Obligation: "step invariant result seconds",
    RunStep: "step args changes",
    Run: "format claim sentence system version without bounds verdict depth steps loop replay",
    GuardTrial: "verdict guard noticed_by who after redundant unknown more_states "
    "more_steps within",
    FieldGrowth: "field bound share_at_bound values",
    InductionCounterexample: "obligation step args state changes",
    Exploration: "system version without bounds symmetry engine workers complete stopped distinct "
    "generated depth seconds setup_seconds peak_memory_mb bytes_per_state claims levels pruned "
    "dead_ends ghosts_dropped fired never_fired refusals_never_first replay",
    RefinementExploration: "claim system version without bounds verdict symmetry states edges "
    "rules transitions failure stopped seconds",
    ClaimAnswer: "shown_run depth kind why ruled_out replay more",
    ClaimRow: "claim words system version without verdict expected as_expected bounds distinct "
    "counts seconds note show",
    EntryReport: "number id sources title story fixed_in flag remark system base without bounds "
    "claim quick verdict steps loop distinct seconds replay fixed",
    WalkCampaign: "system faults release runs steps silent writes requests seconds fired mismatch "
    "story verdict",
    EdgeReport: "verdict system bounds complete states edges covered fired not_walked steps "
    "mismatches",
    CoreCoverage: "format share modules missing walked",
    Missing: "module function lines why",
    MutantTrial: "mutant key caught by why seconds",
    Inspection: "verdict rules_of directories partitions findings rules",
    InspectedDirectory: "path broker cluster clean_shutdown replicas",
    InspectedPartition: "topic partition replicas cuts findings",
    Comparison: "format left right alike first diagnosis rows",
    ComparedRow: "left right words differs",
    CampaignPlan: "first last profiles planted steps brokers",
    SummaryLine: "planted profile verdict runs events broken not_checked first why",
    ClientHistory: "sends reads commits restored final clients",
    ChaosPlan: "seed version brokers partitions min_isr unclean trace minutes clients",
    ChaosReport: "verdict plan rounds faults counts by_client allowed anomalies unfinished trace",
    TraceReport: "verdict events accepted silent hidden fired findings details",
    MixedReport: "format verdict version kafka ours steps acknowledged refused consumed "
    "bytes_compared wrong seconds",
    ReadOffsets: "quiet size files",
}


@pytest.mark.parametrize("report", KEYS, ids=lambda one: one.__name__)
def test_the_keys_that_peoples_files_have_stay(report):
    """Of what is flat in a report its own name stands here: its keys are among the report's."""
    assert set(keys_of(report)) == set(KEYS[report].split())


def test_a_run_is_written_and_names_its_format():
    run = Run("c", "s", "election", "2.3", {}, {"brokers": 2}, Verdict.BROKEN,
              [RunStep("a", {"b": 1}, {"x": [0, 1]}, ["x: 0 → 1"])], "again")  # fmt: skip

    data = json.loads(json.dumps(as_data(run)))

    assert data["format"] == "insync.verdict/1"
    assert (data["depth"], data["verdict"]) == (2, "broken")
    assert data["steps"] == [{"step": "a", "args": {"b": 1}, "changes": {"x": [0, 1]}}]

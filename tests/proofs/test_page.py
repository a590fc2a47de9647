"""The page that says why nothing is lost names every invariant, and none that there is not."""

from __future__ import annotations

import re
from pathlib import Path

from specs.proofs.no_message_loss import GROUPS, PROOF
from specs.proofs.progress import progress

IN_THE_END = Path(__file__).parents[2] / "docs" / "what-happens-in-the-end.md"
PAGE = Path(__file__).parents[2] / "docs" / "why-nothing-is-lost.md"
HEADINGS = {"ISR writes under way": "ZooKeeper fencing"}
"""Groups that the page tells under another heading."""


def sections() -> dict[str, str]:
    """Heading -> text."""
    parts = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def names(text: str) -> set[str]:
    """What stands in code and looks like an invariant: words joined by underscores, no path."""
    return set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", text))


NOT_INVARIANTS = {
    "replication_history", "single_controller", "zk_writes_fenced", "lost_isr_answer_blocks",
    "follower_ends_reset_on_election", "known_ends_outlive_an_epoch", "sure_commits_are_kept",
    "lost_isr_answer_commits_with_another",
    "leader_answers_fetch_in_session",
}  # fmt: skip


def test_every_invariant_is_on_the_page_and_the_reverse():
    reported = names(PAGE.read_text(encoding="utf-8")) - NOT_INVARIANTS

    assert reported == {one.name for one in PROOF.invariants}


def test_every_invariant_is_reported_under_its_own_heading():
    reported = {heading.lower(): names(text) for heading, text in sections().items()}

    for group, members in GROUPS.items():
        heading = HEADINGS.get(group, group).lower()
        missing = {one.name for one in members} - reported[heading]
        assert missing <= {"what_is_committed_may_be"}, group  # explained where its notion is


# -- what happens in the end ----------------------------------------------------------------------


def test_the_page_of_progress_has_each_claim_and_counts_its_fair_steps():
    rows = re.findall(r"^\| `(\w+)` \|.*\| (\d+) \|$", IN_THE_END.read_text(encoding="utf-8"), re.M)

    assert {name: int(count) for name, count in rows} == {
        name: len(proof.ranking.fair) for name, proof in progress().items() if proof.ranking
    }


def test_the_page_of_progress_names_no_set_that_there_is_not():
    rankings = [proof.ranking for proof in progress().values() if proof.ranking]
    ranks = {rank.name for ranking in rankings for rank in ranking.ranks}
    others = {"replication_history", "faults_end", "taken_by", *progress()}

    reported = names(IN_THE_END.read_text(encoding="utf-8"))

    assert reported <= ranks | others
    assert reported & ranks

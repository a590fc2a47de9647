"""The page that says why nothing is lost names every invariant, and none that there is not."""

from __future__ import annotations

import re
from pathlib import Path

from specs.proofs.no_message_loss import GROUPS, PROOF

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
    "known_ends_forgotten", "known_ends_outlive_an_epoch", "sure_commits_are_kept",
    "lost_isr_answer_commits_with_another",
}  # fmt: skip


def test_every_invariant_is_on_the_page_and_the_reverse():
    told = names(PAGE.read_text(encoding="utf-8")) - NOT_INVARIANTS

    assert told == {one.name for one in PROOF.invariants}


def test_every_invariant_is_told_under_its_own_heading():
    told = {heading.lower(): names(text) for heading, text in sections().items()}

    for group, members in GROUPS.items():
        heading = HEADINGS.get(group, group).lower()
        missing = {one.name for one in members} - told[heading]
        assert missing <= {"what_is_committed_may_be"}, group  # told where its notion is

"""What a few lines of a story tell."""

from __future__ import annotations

from specs.story import parse, play


def played(lines: str, opening: str = "system election version 2.3 brokers 2\n") -> list[str]:
    """The output of one scene; it plays to its end."""
    outcome = play(parse(f"{opening}{lines}----\n"))
    assert outcome.failed is None, outcome.failed
    return outcome.lines[0]

"""Errors in a story: the file, the line, the word, and what would be right."""

from __future__ import annotations

from model.language import ProtocolError


class StoryError(ProtocolError):
    """A line of a story that cannot be read: `FILE:LINE: what is wrong, and what is right`."""

    def __init__(self, source: str, line: int, what: str) -> None:
        super().__init__(f"{source}:{line}: {what}")
        self.source, self.line, self.what = source, line, what

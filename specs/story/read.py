"""Reads the text of a story: comments, the heading, and scenes of lines and their output.

# comments: what happens, and `# Shows:` what one sees by it
system ...                   the heading (specs.story.heading)
line                         a step, or a word with what it takes (specs.story.commands);
line   # comment             blank lines and comments may stand between lines
----                         ends the lines of a scene
output                        the recorded output, up to a blank line
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from model.former_names import line_now
from model.language import ProtocolError
from specs.story.commands import WORDS, StoryCommand, read_command
from specs.story.heading import StoryHeading, read_heading

RULE = "----"

TO_PLAY = re.compile(rf"(({'|'.join(WORDS)}) )?\w+( \w+=\S+)*")
"""What a line to play looks like, and nothing that is ever output."""


class StoryError(ProtocolError):
    """A line of a story that cannot be read: `FILE:LINE: what is wrong, and what is right`."""

    def __init__(self, source: str, line: int, what: str) -> None:
        super().__init__(f"{source}:{line}: {what}")
        self.source, self.line, self.what = source, line, what


@dataclass
class StoryScene:
    """Some lines and the output below them; `above` is their text, rule included."""

    above: list[str]
    commands: list[StoryCommand]
    output: list[str] = field(default_factory=list)


@dataclass
class Story:
    """A story as read; `source` names it in messages, `tail` is what follows the last scene.

    A text without a single line to play has no heading: `heading` is None.
    """

    source: str
    title: str
    heading: StoryHeading | None
    scenes: list[StoryScene]
    tail: list[str]

    @property
    def commands(self) -> list[StoryCommand]:
        """Every line to play, in order."""
        return [command for scene in self.scenes for command in scene.commands]


def read_story(path: Path) -> Story:
    """Reads a story's file. Raises StoryError for invalid lines, OSError for a missing file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise StoryError(str(path), 1, "is not text; a story is a text file in UTF-8") from error
    return parse(text, str(path))


def parse(text: str, source: str = "story") -> Story:
    """Parses the text of a story."""
    return _StoryReader(source).read(text)


class _StoryReader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.title = ""
        self.heading: StoryHeading | None = None
        self.scenes: list[StoryScene] = []
        self.above: list[str] = []
        self.commands: list[StoryCommand] = []
        self.marked: set[str] = set()
        self.is_telling = False

    def read(self, text: str) -> Story:
        """Reads the text line by line."""
        for number, raw in enumerate(text.splitlines(), 1):
            line = raw.rstrip()
            if self.is_telling and line:
                self._output(number, line)
                continue
            self.is_telling = False
            self.above.append(line)
            try:
                self._line(number, line)
            except StoryError:
                raise
            except ProtocolError as error:
                raise StoryError(self.source, number, str(error)) from error
        if self.commands:
            raise StoryError(
                self.source, self.commands[-1].line,
                f"no {RULE} stands below this line; write one: the output goes below it "
                "(insync story FILE --accept puts it there)",
            )  # fmt: skip
        tail = self.above
        while tail and not tail[-1]:
            tail.pop()
        return Story(self.source, self.title, self.heading, self.scenes, tail)

    def _output(self, number: int, line: str) -> None:
        # Else --accept would take the next scene for old output, and write over it.
        if line == RULE or TO_PLAY.fullmatch(line.split("#", 1)[0].rstrip()):
            raise StoryError(
                self.source, number,
                f"{line!r} is to be played, and stands in the output; leave a blank line above",
            )  # fmt: skip
        if self.heading is not None:
            line = line_now(self.heading.recorded.system.name, line)
        self.scenes[-1].output.append(line)

    def _line(self, number: int, line: str) -> None:
        content = line.split("#", 1)[0].strip()
        if not content:
            if line.startswith("#") and not self.title:
                self.title = line.lstrip("# ")
        elif self.heading is None:
            self.heading = read_heading(content)
        elif content == RULE:
            if not self.commands:
                raise StoryError(self.source, number, f"nothing to play stands above this {RULE}")
            self.scenes.append(StoryScene(self.above, self.commands))
            self.above, self.commands, self.is_telling = [], [], True
        else:
            command = read_command(number, content, self.heading)
            if command.verb == "same" and command.what not in self.marked:
                raise StoryError(
                    self.source, number,
                    f"nothing is marked {command.what} above; write `mark {command.what}` there",
                )  # fmt: skip
            if command.verb == "mark":
                self.marked.add(command.what)
            self.commands.append(command)

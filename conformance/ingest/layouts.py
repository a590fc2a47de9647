"""Converts lines in other log4j layouts to Kafka's own `[%d] %p %m (%c)`.

Text that a container or a service manager adds around a line is removed: Docker's JSON files, the
Kubernetes runtime's and `docker compose`'s and `kubectl`'s prefixes, the journal's and syslog's
(RFC 3164 and 5424), a console's colours. Then the layout is recognised, a log4j pattern or JSON; or
it is given as a pattern. One line stays one line, so that places are those of the file. Sources:
PatternLayout and JsonTemplateLayout of log4j 2, Docker's json-file driver, Kubernetes' CRI log
format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice

from conformance.ingest.json_lines import Path, json_layout, packed_paths, value_at
from conformance.ingest.message_prefixes import split_prefix
from conformance.ingest.prefixes import prefixes
from conformance.ingest.record_parts import (
    LEVEL,
    LEVELS,
    LOGGER,
    OWN,
    TIME,
    full_name,
    names_kafka,
    stamp,
)

Plain = Callable[[Iterable[str]], Iterator[str]]

PEEKED = 400  # lines by which a layout is recognised
_MOST = 10_000  # lines of which none was written by Kafka, before a file is left as it is
_LIKELY = re.compile(r"kafka|state\.change|\[(?:Controller|Broker|Partition) ")
_FEW = 5  # lines that all begin with brackets, as messages of Kafka may do as well
_DEEPEST = 3  # layouts in one another, as a console shows a shipper's JSON of a pattern
_WRAPPERS = tuple(
    re.compile(form)
    for form in (
        r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) (?:stdout|stderr) (?P<part>[FP])(?: |$)",
        r"<\d{1,3}>1 (?:\S+ ){5}(?:-|(?:\[[^\]]*\])+) ",  # RFC 5424
    )
)
_PATTERNS = (
    "%d %p %m (%c)", "%d %p %m (%c) [%t]", "[%d] %p %m (%c) [%t]", "[%d] %p [%t] %m (%c)",
    "[%d] [%t] %p %m (%c)", "%d [%t] %p %m (%c)", "[%t] %d %p %m (%c)", "[%t] [%d] %p %m (%c)",
    "%d [%t] %p %c - %m", "%d %p [%t] %c - %m", "%d %p %c - %m", "%d %p [%t] %c: %m",
    "%d %p %c: %m", "%d [%t] %p %c: %m", "[%t] %d %p %c - %m", "[%d] %p %c - %m",
    "[%d] %p [%t] %c - %m", "[%d] [%t] %p %c - %m", "%p %d %c - %m", "%d %p (%c) [%t] %m",
    "%d %p %c %m", "%d %p [%t] %c %m", "%d [%t] %p %c %m",
    "%p [%d] %m (%c)", "%p [%d] [%t] %m (%c)", "%p %d %m (%c)",
    "[%d] [%p] %m (%c)", "[%d] [%p] [%t] %c - %m", "[%d] [%p] [%t] [%c] %m", "[%d] [%p] %c - %m",
    "%d %p %x --- [%t] %c : %m", "%d | %p | %t | %c | %m", "%d [%p] [%t] %c - %m",
    "%d [%p] %c - %m", "[%d] %p %m (%c)", "[%d] %p %c: %m", "[%d] %p %c %m",
)  # fmt: skip
_FORMS = ("ISO8601", "DEFAULT", "yyyy-MM-dd", "yyyy/MM/dd", "yy/MM/dd", "dd.MM.yyyy", "dd MMM yyyy")
_COLOUR = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")  # and what else a terminal obeys
_IN_BRACKETS = re.compile(OWN.pattern + r"\[[^\]]+\] ")
_CSV_TAIL = re.compile(r'"(?:,(?:"[^"]*"|[^",]*))*\s*$')
_TOKEN = re.compile(r"%(?P<pad>-?\d*(?:\.-?\d+)?)(?P<name>[a-zA-Z]+|%)(?P<more>(?:\{[^}]*\})*)")
_NAMES = {
    **dict.fromkeys(("d", "date"), "date"),
    **dict.fromkeys(("p", "level", "le"), "level"),
    **dict.fromkeys(("c", "logger", "lo"), "logger"),
    **dict.fromkeys(("m", "msg", "message"), "message"),
    **dict.fromkeys(("n", "ex", "xEx", "throwable", "xThrowable", "rEx"), ""),
}
_FIELDS = re.compile(r"y+|M+|d+|H+|m+|s+|S+|X+|x+|Z+|'[^']*'|.", re.DOTALL)


class LayoutError(Exception):
    """A pattern cannot be read; the message says what is missing."""


@dataclass(frozen=True)
class Pattern:
    """A log4j pattern: the parts before the message, and those after it."""

    text: str
    head: re.Pattern[str]
    tail: re.Pattern[str]

    def plain(self, lines: Iterable[str]) -> Iterator[str]:
        """The lines in Kafka's own layout; lines that do not match stay as they are."""
        opened: dict[str, str] | None = None
        for line in lines:
            found = self.head.match(line)
            head = _said(found) if found is not None else None
            if head is not None and found is not None:
                opened, line = head, line[found.end() :]
                begun = f"[{head['date']}] {head.get('level', 'INFO')} "
            else:
                begun = ""
            if opened is None:
                yield line
                continue
            end = self.tail.search(line)
            if end is None:
                yield begun + line  # the message goes on
                continue
            logger = (opened | end.groupdict()).get("logger") or ""
            opened = None
            yield f"{begun}{line[: end.start()]} ({full_name(logger)})"


def pattern(text: str) -> Pattern:
    """A log4j pattern such as `%d{ISO8601} %p %m (%c) [%t]%n`. Raises LayoutError."""
    parts: dict[str, list[str]] = {"head": [], "tail": []}
    where, at = "head", 0
    seen: set[str] = set()
    for token in _TOKEN.finditer(text):
        parts[where].append(_literal(text[at : token.start()]))
        at = token.end()
        name = "%" if token["name"] == "%" else _NAMES.get(token["name"], "other")
        if name in seen - {"other", "", "%"}:
            raise LayoutError(f"{token[0]} stands there twice")
        seen.add(name)
        if name == "message":
            where = "tail"
        elif name == "date":
            parts[where].append(f"(?P<date>{_date(token['more'])})")
        elif name == "level":
            parts[where].append(rf"(?P<level>{LEVEL})\s*?")
        elif name == "logger":
            # The line in its source may follow it, as `%c:%L` has it.
            parts[where].append(rf"\s*(?P<logger>{LOGGER})(?::\d+)?\s*?")
        elif name:
            parts[where].append("%" if name == "%" else r".*?")
    parts[where].append(_literal(text[at:]))
    missing = [sign for name, sign in (("date", "%d"), ("logger", "%c"), ("message", "%m"))
               if name not in seen]  # fmt: skip
    if missing or "(?P<date>" not in "".join(parts["head"]):
        need = ", ".join(missing) or "%d before %m"
        raise LayoutError(f"has no {need}; name a pattern like `%d{{ISO8601}} %p %m (%c) [%t]%n`")
    head, tail = ("".join(parts[name]) for name in ("head", "tail"))
    return Pattern(text, re.compile(head), re.compile(rf"{tail}\s*$"))


def _literal(text: str) -> str:
    return re.sub(r"(?:\\ | )+", r"\\s+", re.escape(text)).replace("\\\n", "")


def _date(more: str) -> str:
    form = more[1:-1].split("}")[0] if more else "ISO8601"
    if form in ("ABSOLUTE", "UNIX", "HH:mm:ss,SSS", "HH:mm:ss"):
        raise LayoutError(f"%d{{{form}}} has no day; lines of several days could not be ordered")
    if form.startswith(_FORMS):
        return TIME
    if form == "UNIX_MILLIS":
        return r"\d{13}"
    raise LayoutError(f"%d{{{form}}} is not known; known are {', '.join(_FORMS)}")


def _said(found: re.Match[str]) -> dict[str, str] | None:
    said = {name: value for name, value in found.groupdict().items() if value is not None}
    date = stamp(said["date"])
    if date is None:
        return None
    level = said.get("level", "INFO")
    return said | {"date": date, "level": LEVELS.get(level, level)}


# --- what is put around lines


def _packed(path: Path, cuts: bool) -> Plain:
    """Lines of JSON objects, of which one value is the log line.

    Docker cuts a long line into several, of which only the last has a line feed (`cuts`; other
    tools pass lines on without); the other parts become empty lines.
    """

    def each(line: str) -> tuple[str, bool]:
        text = value_at(line, path)
        if not isinstance(text, str):
            return line, True
        return text.removesuffix("\n").removesuffix("\r"), not cuts or text.endswith("\n")

    return lambda lines: _joined(each(line) for line in lines)


def _out_of(wrapper: re.Pattern[str]) -> Plain:
    """Removes the text before lines; if it ends with a quote, so do the lines: it is CSV."""
    if wrapper.pattern.endswith('"'):
        return lambda lines: (
            _CSV_TAIL.sub("", wrapper.sub("", line, count=1)).replace('""', '"') for line in lines
        )

    def each(line: str) -> tuple[str, bool]:
        found = wrapper.match(line)
        if found is None:
            return line, True
        return line[found.end() :], found.groupdict().get("part") != "P"

    return lambda lines: _joined(each(line) for line in lines)


def without_colours(lines: Iterable[str]) -> Iterator[str]:
    """Removes the colour codes of consoles, as `docker compose up` prints them."""
    return (_COLOUR.sub("", line) if "\x1b" in line else line for line in lines)


def _joined(parts: Iterable[tuple[str, bool]]) -> Iterator[str]:
    waiting: list[str] = []
    failed: Exception | None = None
    try:
        for text, whole in parts:
            waiting.append(text)
            if whole:
                yield "".join(waiting)
                yield from [""] * (len(waiting) - 1)
                waiting = []
    except Exception as error:  # of the reader: what was read before it stands
        failed = error
    if waiting:
        yield "".join(waiting)
        yield from [""] * (len(waiting) - 1)
    if failed is not None:
        raise failed


# --- which it is


def recognised(lines: list[str]) -> Plain | None:
    """The function that converts lines of a file, given its first ones, to Kafka's own layout.

    None if they are in it, or if no layout is known.
    """
    some = [line for line in lines if line.strip()]
    if any("\x1b" in line and _COLOUR.search(line) for line in some):
        change = recognised([_COLOUR.sub("", line) for line in lines])
        return without_colours if change is None else _both(without_colours, change)
    own = filter(names_kafka, some)
    first = next(own, None)
    if first is not None:
        return _threads_of([first, *own]) if _IN_BRACKETS.match(first) else None
    found = _of_lines(some)
    return None if found is None else found[1]


def _threads_of(kafkas: list[str]) -> Plain | None:
    """A pattern for Kafka's own layout with a thread in brackets before each message.

    A message of Kafka may begin with such a prefix, but not every message does.
    """
    if not all(_IN_BRACKETS.match(line) for line in kafkas):
        return None
    with_thread = pattern("[%d] %p [%t] %m (%c)")

    def headed(lines: Iterable[str]) -> int:
        return sum(bool(split_prefix(OWN.sub("", line, count=1))[0]) for line in lines)

    own = headed(kafkas)
    more = headed(with_thread.plain(kafkas)) > own or (own == 0 and len(kafkas) >= _FEW)
    return with_thread.plain if more else None


def _of_lines(lines: list[str], deep: int = 0) -> tuple[tuple[int, bool], Plain] | None:
    """The conversion of lines in the best layout to Kafka's own, and its score.

    The score is the number of lines of Kafka's loggers after it, and whether they were in Kafka's
    own layout rather than a pattern, to which a time before each line would look like a thread. A
    layout may be inside another; the first layout here wins if two are as good.
    """
    best = _pattern_of(lines)
    of_json = json_layout(lines)
    ways = [] if of_json is None else [of_json]
    ways += [_packed(path, cuts) for path, cuts in packed_paths(lines)]
    ways += [_out_of(each) for each in _wrappers(lines)]
    for way in ways:
        inside = [line for line in way(lines) if line]
        count = sum(map(names_kafka, inside))
        found = ((count, True), way) if count else None
        if found is None and deep < _DEEPEST:
            within = _of_lines(inside, deep + 1)
            found = None if within is None else (within[0], _both(way, within[1]))
        if found is not None and (best is None or found[0] > best[0]):
            best = found
    return best


def _wrappers(lines: list[str]) -> list[re.Pattern[str]]:
    """Known forms of text before a line, and those that these lines show."""
    known = [each for each in _WRAPPERS if sum(map(bool, map(each.match, lines))) * 2 > len(lines)]
    return known + prefixes(lines)


def _both(wrapper: Plain, layout: Plain) -> Plain:
    return lambda lines: layout(wrapper(lines))


def _pattern_of(lines: list[str]) -> tuple[tuple[int, bool], Plain] | None:
    scores = []
    for number, each in enumerate(_known()):
        kafkas = [line for line in each.plain(lines) if names_kafka(line)]
        # A head of Kafka's own, `[Broker id=1]`, is no thread.
        headed = sum(bool(split_prefix(OWN.sub("", line, count=1))[0]) for line in kafkas)
        scores.append((-len(kafkas), -headed, number, each))
    least, _, _, best = min(scores)
    return ((-least, False), best.plain) if least < 0 else None


@cache
def _known() -> tuple[Pattern, ...]:
    return tuple(pattern(text) for text in _PATTERNS)


def in_kafkas_layout(lines: Iterable[str], layout: str | None = None) -> Iterator[str]:
    """Lines of a file in Kafka's own layout, by the pattern `layout` or the recognised one.

    Errors of the reader pass through, after the lines before them. Raises LayoutError.
    """
    feed = iter(lines)
    change: Plain | None = pattern(layout).plain if layout is not None else None
    first: list[str] = []
    failed: Exception | None = None
    while change is None and failed is None and len(first) < _MOST:
        window: list[str] = []
        try:
            for line in islice(feed, PEEKED):
                window.append(line)
        except Exception as error:
            failed = error
        # Another process may write first into what a console shows of several.
        if not first or any(map(_LIKELY.search, window)):
            change = recognised(window)
        first += window
        if len(window) < PEEKED or any(map(names_kafka, window)):
            break
    rest = chain(first, _failing(failed) if failed is not None else feed)
    return iter(rest) if change is None else change(rest)


def change_for(head: str, layout: str | None = None) -> Plain | None:
    """The conversion of a file's lines to Kafka's own layout, by the pattern or its beginning.

    None if they are in it, or if no layout is known. Raises LayoutError.
    """
    if layout is not None:
        return pattern(layout).plain
    return recognised(head.split("\n")[:PEEKED])


def plain_text(text: str) -> str:
    """The beginning of a file in Kafka's own layout, to identify the file."""
    return text if OWN.match(text) else "\n".join(in_kafkas_layout(text.split("\n")))


def _failing(error: Exception) -> Iterator[str]:
    raise error
    yield ""

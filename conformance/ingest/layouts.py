"""Lines in other layouts than Kafka's own `[%d] %p %m (%c)`, read as if they were in that one.

What a container or a service manager puts around a line is taken off: Docker's JSON files, the
Kubernetes runtime's and `docker compose`'s and `kubectl`'s prefixes, the journal's and syslog's
(RFC 3164 and 5424), a console's colours. Then the layout is recognised, a log4j pattern or JSON; or
it is given as a pattern. One line stays one line, so that places are those of the file. Sources:
PatternLayout and JsonTemplateLayout of log4j 2, Docker's json-file driver, Kubernetes' CRI log
format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import chain
from typing import Any

from conformance.ingest.heads import split
from conformance.ingest.statements import statements

PEEKED = 400  # lines by which a layout is recognised
_OWN = re.compile(
    r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d{3}\] +(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) "
)
_LEVELS = {"WARNING": "WARN", "CRITICAL": "FATAL", "SEVERE": "ERROR", "NOTICE": "INFO"}
_LEVEL = "TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL"
_LOGGER = r"[A-Za-z_][\w.$/-]*"
_KAFKA = re.compile(
    r"(?:\w\.)*(?:kafka|org\.apache\.\w+|o\.a\.\w|state\.change|s\.c|k\.\w+)\.[\w.$/-]*"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_STAMP = re.compile(  # Hadoop's has two digits of the year
    r"(?:(?P<y>\d{4}|\d\d(?=/))[-/](?P<M>\d\d)[-/](?P<d>\d\d)"
    rf"|(?P<day>\d\d)(?:\.(?P<month>\d\d)\.| (?P<name>{'|'.join(_MONTHS)}) )(?P<year>\d{{4}}))"
    r"[ T](?P<H>\d\d):(?P<m>\d\d):(?P<s>\d\d)"
    r"(?:[.,](?P<S>\d{1,9}))?(?P<z> ?Z| ?(?:UTC|GMT)| ?[+-]\d\d:?\d\d)?"
)
_UTC = ("", "Z", "UTC", "GMT")
_WRAPPERS = tuple(
    re.compile(form)
    for form in (
        r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) (?:stdout|stderr) (?P<part>[FP])(?: |$)",
        r"\[pod/[\w./-]+\] (?:\d{4}-\d\d-\d\dT[\d:.]+Z )?",
        r"[\w.-]+(?:@[\w.-]+)? +\| (?:\d{4}-\d\d-\d\dT[\d:.]+Z )?",
        r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) [\w.-]+ [\w./@-]+(?:\[\d+\])?: ",
        r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) ",
        r"<\d{1,3}>1 (?:\S+ ){5}(?:-|\[[^\]]*\]) ",
        r"(?:<\d{1,3}>)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [\w./@-]+(?:\[\d+\])?: ",
        r"[\w.:\\/-]+\.(?:log|out|txt)[\w.-]*:(?:\d+:)?(?=\[?\d{4}-)",  # by grep
        r"(?:\s+|> ?)(?=\[?\d{4}-)",  # as quoted in a mail or an issue
        r"[\w.@/:-]+ (?=\[\d{4}-\d\d-\d\d )",  # a host or a thread
        r"\S+\t\S+\t(?=\{)",  # Fluentd's time and tag
    )
)
_PATTERNS = (
    "%d %p %m (%c)", "%d %p %m (%c) [%t]", "[%d] %p %m (%c) [%t]", "[%d] %p [%t] %m (%c)",
    "[%d] [%t] %p %m (%c)", "%d [%t] %p %m (%c)", "[%t] %d %p %m (%c)", "[%t] [%d] %p %m (%c)",
    "%d [%t] %p %c - %m", "%d %p [%t] %c - %m", "%d %p %c - %m", "%d %p [%t] %c: %m",
    "%d %p %c: %m", "%d [%t] %p %c: %m", "[%t] %d %p %c - %m", "[%d] %p %c - %m",
    "[%d] %p [%t] %c - %m", "[%d] [%t] %p %c - %m", "%p %d %c - %m", "%d %p (%c) [%t] %m",
    "%d %p %c %m", "%d %p [%t] %c %m", "%d [%t] %p %c %m",
    "[%d] [%p] %m (%c)", "[%d] [%p] [%t] %c - %m", "[%d] [%p] [%t] [%c] %m", "[%d] [%p] %c - %m",
    "%d %p %x --- [%t] %c : %m", "%d | %p | %t | %c | %m", "%d [%p] [%t] %c - %m",
    "%d [%p] %c - %m", "[%d] %p %m (%c)", "[%d] %p %c: %m", "[%d] %p %c %m",
)  # fmt: skip
_FORMS = ("ISO8601", "DEFAULT", "yyyy-MM-dd", "yyyy/MM/dd", "yy/MM/dd", "dd.MM.yyyy", "dd MMM yyyy")
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_TOKEN = re.compile(r"%(?P<pad>-?\d*(?:\.-?\d+)?)(?P<name>[a-zA-Z]+|%)(?P<more>(?:\{[^}]*\})*)")
_NAMES = {
    **dict.fromkeys(("d", "date"), "date"),
    **dict.fromkeys(("p", "level", "le"), "level"),
    **dict.fromkeys(("c", "logger", "lo"), "logger"),
    **dict.fromkeys(("m", "msg", "message"), "message"),
    **dict.fromkeys(("n", "ex", "xEx", "throwable", "xThrowable", "rEx"), ""),
}
_FIELDS = re.compile(r"y+|M+|d+|H+|m+|s+|S+|X+|x+|Z+|'[^']*'|.", re.DOTALL)
_JSON = {  # where JSON layouts have what; the first that is there
    "date": ("@timestamp", "timestamp", "time", "timeMillis", "datetime", "date", "instant", "ts"),
    "level": ("level", "log.level", "severity", "loglevel"),
    "logger": ("logger_name", "loggerName", "log.logger", "logger", "category", "loggername"),
    "message": ("message", "msg"),
}


class LayoutError(Exception):
    """A pattern that cannot be read; the message says what is missing."""


@dataclass(frozen=True)
class Pattern:
    """A log4j pattern: what stands before the message, and what after it."""

    text: str
    head: re.Pattern[str]
    tail: re.Pattern[str]

    def plain(self, lines: Iterable[str]) -> Iterator[str]:
        """The lines in Kafka's own layout; those that fit nothing stay as they are."""
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
            parts[where].append(rf"(?P<level>{_LEVEL})\s*?")
        elif name == "logger":
            # The line in its source may follow it, as `%c:%L` has it.
            parts[where].append(rf"\s*(?P<logger>{_LOGGER})(?::\d+)?\s*?")
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
        return re.sub(r"\?P<\w+>", "?:", _STAMP.pattern)
    if form == "UNIX_MILLIS":
        return r"\d{13}"
    raise LayoutError(f"%d{{{form}}} is not known; known are {', '.join(_FORMS)}")


def _said(found: re.Match[str]) -> dict[str, str] | None:
    said = {name: value for name, value in found.groupdict().items() if value is not None}
    date = stamp(said["date"])
    if date is None:
        return None
    level = said.get("level", "INFO")
    return said | {"date": date, "level": _LEVELS.get(level, level)}


def stamp(text: str) -> str | None:
    """A time as Kafka's layout has it, `2024-03-01 10:00:00,000`; with a zone, in UTC."""
    if text.isdigit() and len(text) == 13:
        moment = datetime.fromtimestamp(int(text) / 1000, UTC)
        return f"{moment:%Y-%m-%d %H:%M:%S},{int(text) % 1000:03d}"
    found = _STAMP.fullmatch(text.strip())
    if found is None:
        return None
    day, time = _day(found), ":".join(found[name] for name in "Hms")
    thousandths = (found["S"] or "").ljust(3, "0")[:3]
    zone = (found["z"] or "").strip()
    if zone not in _UTC:
        try:
            moment = datetime.fromisoformat(f"{day} {time}{zone}").astimezone(UTC)
        except ValueError:
            return None
        day, time = f"{moment:%Y-%m-%d}", f"{moment:%H:%M:%S}"
    return f"{day} {time},{thousandths}"


def _day(found: re.Match[str]) -> str:
    if found["y"] is None:
        name = found["name"]
        month = found["month"] or f"{_MONTHS.index(name) + 1:02d}"
        return f"{found['year']}-{month}-{found['day']}"
    year = found["y"] if len(found["y"]) == 4 else f"20{found['y']}"
    return f"{year}-{found['M']}-{found['d']}"


@cache
def _short_names() -> dict[str, str]:
    found: dict[str, set[str]] = {"logger": {"state.change.logger"}}
    for each in statements():
        found.setdefault(each.logger.rpartition(".")[2], set()).add(each.logger)
    found["AppInfoParser"] = {"org.apache.kafka.common.utils.AppInfoParser"}
    for name in ("KafkaServer", "KafkaConfig"):
        found[name] = {f"kafka.server.{name}"}
    found["KafkaZkClient"] = {"kafka.zk.KafkaZkClient"}
    return {name: min(full) for name, full in found.items()}


def full_name(logger: str) -> str:
    """A logger's whole name where the layout shortens it: `%c{1}`, `%c{1.}`."""
    last = logger.rpartition(".")[2]
    shortened = "." not in logger or re.match(r"(?:\w{1,2}\.)+\w+", logger) is not None
    return _short_names().get(last, logger) if shortened else logger


# --- JSON


def _of_json(line: str) -> str | None:
    """A line of a JSON layout in Kafka's own; None if it is none."""
    if not line.startswith("{"):
        return None
    try:
        said = json.loads(line)
    except ValueError:
        return None
    if not isinstance(said, dict):
        return None
    found = {name: _first(said, keys) for name, keys in _JSON.items()}
    date, message, logger = found["date"], found["message"], found["logger"]
    if isinstance(date, dict):
        date = f"{date.get('epochSecond', '')}{int(date.get('nanoOfSecond', 0)) // 1_000_000:03d}"
    when = stamp(str(date))
    if when is None or not isinstance(message, str) or not isinstance(logger, str):
        return None
    level = str(found["level"] or "INFO").upper()
    return f"[{when}] {_LEVELS.get(level, level)} {message} ({full_name(logger)})"


def _first(said: dict[str, Any], keys: Iterable[str]) -> Any:
    for key in keys:
        if key in said:
            return said[key]
        outer, _, inner = key.partition(".")
        if inner and isinstance(said.get(outer), dict) and inner in said[outer]:
            return said[outer][inner]
    return None


def _plain_json(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        found = _of_json(line)
        yield line if found is None else found


# --- what is put around lines


def _out_of_docker(cuts: bool) -> Plain:
    """Docker's JSON files, and Google's; others pass the former on without line feeds.

    Docker cuts a long line into several, of which the last has a line feed (`cuts`); the rest of
    it leaves empty lines.
    """

    def each(line: str) -> tuple[str, bool]:
        text = _packed_text(line)
        if text is None:
            return line, True
        return text.removesuffix("\n").removesuffix("\r"), not cuts or text.endswith("\n")

    return lambda lines: _joined(each(line) for line in lines)


def _packed_text(line: str) -> str | None:
    """The line that a shipper has put into a JSON object; None if it is none."""
    if not line.startswith("{"):
        return None
    try:
        said = json.loads(line)
    except ValueError:
        return None
    found = _first(said, ("log", "textPayload")) if isinstance(said, dict) else None
    return found if isinstance(found, str) else None


def _out_of(wrapper: re.Pattern[str]) -> Plain:
    def each(line: str) -> tuple[str, bool]:
        found = wrapper.match(line)
        if found is None:
            return line, True
        return line[found.end() :], found.groupdict().get("part") != "P"

    return lambda lines: _joined(each(line) for line in lines)


def _without_colours(lines: Iterable[str]) -> Iterator[str]:
    """What consoles show in colours, as `docker compose up` does."""
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

Plain = Callable[[Iterable[str]], Iterator[str]]


def recognised(lines: list[str]) -> Plain | None:
    """What makes these lines (the first of a file) and those after them Kafka's own layout.

    None where they are in it, or where no layout is known.
    """
    some = [line for line in lines if line.strip()]
    if any(_COLOUR.search(line) for line in some):
        change = recognised([_COLOUR.sub("", line) for line in lines])
        return _without_colours if change is None else _both(_without_colours, change)
    if not some or any(_names_kafka(line) for line in some):
        return None
    best = _layout(some)
    if best is not None:
        return best
    packed = [text for text in map(_packed_text, some) if text is not None]
    cuts = any(text.endswith("\n") for text in packed)
    wrappers: list[Plain] = [_out_of_docker(cuts)] if packed else []
    wrappers += [
        _out_of(each) for each in _WRAPPERS if sum(map(bool, map(each.match, some))) * 2 > len(some)
    ]
    for wrapper in wrappers:
        inside = [line for line in wrapper(some) if line]
        if any(_OWN.match(line) for line in inside):
            return wrapper
        layout = recognised(inside)
        if layout is not None:
            return _both(wrapper, layout)
    return None


def _both(wrapper: Plain, layout: Plain) -> Plain:
    return lambda lines: layout(wrapper(lines))


def _layout(lines: list[str]) -> Plain | None:
    if any(_of_json(line) is not None for line in lines):
        return _plain_json
    scores = []
    for number, each in enumerate(_known()):
        kafkas = [line for line in each.plain(lines) if _names_kafka(line)]
        # A head of Kafka's own, `[Broker id=1]`, is no thread.
        headed = sum(bool(split(_OWN.sub("", line, count=1))[0]) for line in kafkas)
        scores.append((-len(kafkas), -headed, number, each))
    least, _, _, best = min(scores)
    return best.plain if least < 0 else None


def _names_kafka(line: str) -> bool:
    if not _OWN.match(line) or not line.endswith(")"):
        return False
    logger = line[line.rfind(" (") + 2 : -1]
    return _KAFKA.fullmatch(logger) is not None or logger in _short_names()


@cache
def _known() -> tuple[Pattern, ...]:
    return tuple(pattern(text) for text in _PATTERNS)


def plain(lines: Iterable[str], layout: str | None = None) -> Iterator[str]:
    """Lines of a file in Kafka's own layout, from the pattern `layout` or from what they show.

    Errors of the reader pass through, after the lines before them. Raises LayoutError.
    """
    feed = iter(lines)
    given = pattern(layout) if layout is not None else None
    first: list[str] = []
    failed: Exception | None = None
    try:
        for line in feed:
            first.append(line)
            if len(first) >= PEEKED:
                break
    except Exception as error:
        failed = error
    change = recognised(first) if given is None else given.plain
    rest = chain(first, _failing(failed) if failed is not None else feed)
    return iter(rest) if change is None else change(rest)


def change_for(head: str, layout: str | None = None) -> Plain | None:
    """What makes lines of a file Kafka's own layout, from the pattern or from how the file begins.

    None where they are in it, or where no layout is known. Raises LayoutError.
    """
    if layout is not None:
        return pattern(layout).plain
    return recognised(head.split("\n")[:PEEKED])


def plain_text(text: str) -> str:
    """The beginning of a file in Kafka's own layout, to tell what the file is."""
    return text if _OWN.match(text) else "\n".join(plain(text.split("\n")))


def _failing(error: Exception) -> Iterator[str]:
    raise error
    yield ""

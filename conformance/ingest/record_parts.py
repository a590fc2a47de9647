"""Parts of a log record in any layout: its time, its level, its logger."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache

from conformance.ingest.statements import statements

OWN = re.compile(
    r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d{3}\] +(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) "
)
LEVELS = {"WARNING": "WARN", "CRITICAL": "FATAL", "SEVERE": "ERROR", "NOTICE": "INFO"}
LEVEL = "TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL"
LOGGER = r"[A-Za-z_][\w.$/-]*"
KAFKA = re.compile(
    r"(?:\w\.)*(?:kafka|org\.apache\.\w+|o\.a\.\w|state\.change|s\.c|k\.\w+)\.[\w.$/-]*"
)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
STAMP = re.compile(  # Hadoop's has two digits of the year
    r"(?:(?P<y>\d{4}|\d\d(?=/))[-/](?P<M>\d\d)[-/](?P<d>\d\d)"
    rf"|(?P<day>\d\d)(?:\.(?P<month>\d\d)\.| (?P<name>{'|'.join(MONTHS)}) )(?P<year>\d{{4}}))"
    r"[ T](?P<H>\d\d):(?P<m>\d\d):(?P<s>\d\d)"
    r"(?:[.,](?P<S>\d{1,9}))?(?P<z> ?Z| ?(?:UTC|GMT)| ?[+-]\d\d:?\d\d)?"
)
TIME = re.sub(r"\?P<\w+>", "?:", STAMP.pattern)  # to be put into another expression
_UTC = ("", "Z", "UTC", "GMT")


def stamp(text: str) -> str | None:
    """A time in Kafka's layout, `2024-03-01 10:00:00,000`; times with a zone become UTC."""
    if text.isdigit() and len(text) == 13:
        moment = datetime.fromtimestamp(int(text) / 1000, UTC)
        return f"{moment:%Y-%m-%d %H:%M:%S},{int(text) % 1000:03d}"
    found = STAMP.fullmatch(text.strip())
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
        month = found["month"] or f"{MONTHS.index(name) + 1:02d}"
        return f"{found['year']}-{month}-{found['day']}"
    year = found["y"] if len(found["y"]) == 4 else f"20{found['y']}"
    return f"{year}-{found['M']}-{found['d']}"


@cache
def short_names() -> dict[str, str]:
    """The full names of loggers by their last part."""
    found: dict[str, set[str]] = {"logger": {"state.change.logger"}}
    for each in statements():
        found.setdefault(each.logger.rpartition(".")[2], set()).add(each.logger)
    found["AppInfoParser"] = {"org.apache.kafka.common.utils.AppInfoParser"}
    for name in ("KafkaServer", "KafkaConfig"):
        found[name] = {f"kafka.server.{name}"}
    found["KafkaZkClient"] = {"kafka.zk.KafkaZkClient"}
    return {name: min(full) for name, full in found.items()}


def full_name(logger: str) -> str:
    """A logger's full name, if the layout shortens it: `%c{1}`, `%c{1.}`."""
    last = logger.rpartition(".")[2]
    shortened = "." not in logger or re.match(r"(?:\w{1,2}\.)+\w+", logger) is not None
    return short_names().get(last, logger) if shortened else logger


def names_kafka(line: str) -> bool:
    """Whether a line is in Kafka's own layout and written by a logger of Kafka."""
    if not OWN.match(line) or not line.endswith(")"):
        return False
    logger = line[line.rfind(" (") + 2 : -1]
    return KAFKA.fullmatch(logger) is not None or logger in short_names()

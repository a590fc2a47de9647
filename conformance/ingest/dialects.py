"""Selects the log templates that apply to each release of Kafka.

A dialect is a table of templates. Most lines were never changed, so the older dialect has the
newer forms too. Without a release, all forms are understood.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from conformance.ingest import (
    message_prefixes,
    request_log,
    templates_3,
    templates_before_2,
    templates_broker,
    templates_controller,
    templates_data_plane,
    templates_details,
    templates_failures,
    templates_kraft,
    templates_losses,
    templates_requests,
)
from conformance.ingest.notation import Template
from conformance.ingest.statements import NOTE as NOTE
from conformance.ingest.statements import is_note, is_protocol, short_name

_START = 16  # characters by which most templates are distinguished
_STARTS = 20_000  # of them are remembered; names of topics are among them
_MESSAGES = 16_384  # of them are remembered: of real logs every second one was written before
_NUMBER = re.compile(r"-?\d+")
_NAMED_PARTITION = re.compile(r"[\w.-]+-\d+\b")
_WORDS_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


Matched = tuple[Template, dict[str, Any], tuple[str, ...]]
"""A message's template, what its head says, and what stands in the template's holes."""


@dataclass(frozen=True)
class Dialect:
    """Templates by logger; `releases` describes the releases, for the report."""

    name: str
    releases: tuple[str, ...]
    templates: tuple[Template, ...]

    @cached_property
    def by_logger(self) -> dict[str, tuple[Template, ...]]:
        """The templates that a logger may have written, in table order."""
        table: dict[str, list[Template]] = {}
        for template in self.templates:
            table.setdefault(template.logger, []).append(template)
        return {logger: tuple(found) for logger, found in table.items()}

    def _candidates(self, logger: str, start: str) -> tuple[Template, ...]:
        """The templates of a logger that may match a text with this beginning, in table order.

        A companion object logs as `kafka.log.UnifiedLog$`, with the templates of its class.
        """
        known = self._by_start.get((logger, start))
        if known is None:
            known = tuple(
                template
                for template in self.by_logger.get(logger.removesuffix("$"), ())
                if start.startswith(template.prefix[:_START])
            )
            if len(self._by_start) < _STARTS:
                self._by_start[logger, start] = known
        return known

    @cached_property
    def _by_start(self) -> dict[tuple[str, str], tuple[Template, ...]]:
        return {}

    def read(self, logger: str, message: str) -> tuple[str, str, dict[str, Any]] | None:
        """Kind, template and columns of a message; None when a protocol line is not known."""
        known = self.match(logger, message)
        if known is None:
            return None
        template, said, values = known
        return template.kind, template.name, said | template.columns(values)

    @cached_property
    def match(self) -> Callable[[str, str], Matched | None]:
        """The function from a logger and a message to the content of the message.

        It returns the template, the columns from the prefix, and the values of the template's
        holes, which take precedence over the prefix. Lines with the same content share one object,
        which must not be changed. None when a protocol line is not known.
        """
        return lru_cache(_MESSAGES)(self._match)

    def _match(self, logger: str, message: str) -> Matched | None:
        said, text = message_prefixes.split_prefix(message)
        for template in self._candidates(logger, text[:_START]):
            values = template.match(text)
            if values is not None:
                return template, said, values
        kraft = templates_kraft.kind_of(logger)
        if kraft is not None:
            return _without_holes(kraft, kraft), {}, ()
        # A layout, or who ships logs, may have taken the blank before an empty last value.
        if is_protocol(logger) and not is_note(logger, text) and not is_note(logger, f"{text} "):
            return None
        broker = said.get("broker")
        return _without_holes(NOTE, NOTE), {} if broker is None else _writer(broker), ()

    def without_columns(self, template: Template) -> Template:
        """A template of the same name and kind that fills no column."""
        return _without_holes(template.kind, template.name)


@lru_cache(maxsize=1024)
def _without_holes(kind: str, name: str) -> Template:
    return Template(name, kind, "", "")


@lru_cache(maxsize=65536)
def _writer(broker: int) -> dict[str, Any]:
    return {"broker": broker}


KAFKA_2 = Dialect(
    "2.x",
    tuple(f"2.{minor}" for minor in range(9)),
    templates_controller.TEMPLATES
    + templates_requests.TEMPLATES
    + templates_broker.TEMPLATES
    + templates_data_plane.TEMPLATES
    + templates_details.TEMPLATES
    + request_log.TEMPLATES
    + templates_kraft.TEMPLATES
    + templates_losses.TEMPLATES
    + templates_failures.TEMPLATES,
)
KAFKA_BEFORE_2 = Dialect(
    "before 2.0",
    ("0.9", "0.10", "0.11", "1.0", "1.1"),
    # The older forms first: a few look like a newer one, and mean something else.
    templates_before_2.TEMPLATES + KAFKA_2.templates,
)
KAFKA_3 = Dialect(
    "3.x",
    tuple(f"3.{minor}" for minor in range(10)),
    templates_3.TEMPLATES + KAFKA_2.templates,
)
ANY = Dialect("any", (), templates_3.TEMPLATES + KAFKA_BEFORE_2.templates)
DIALECTS: dict[str, Dialect] = {each.name: each for each in (KAFKA_2, KAFKA_BEFORE_2, KAFKA_3)}


@lru_cache
def dialect_for(release: str | None) -> Dialect:
    """The dialect of a release such as "2.7" or 2.7.2; all forms of lines when none is named.

    Raises KeyError, which lists the known releases, for any other.
    """
    if release is None:
        return ANY
    lines = (release, *(release.rsplit(".", cut)[0] for cut in range(1, release.count("."))))
    for dialect in DIALECTS.values():
        if release == dialect.name or any(one in dialect.releases for one in lines):
            return dialect
    known = [each for dialect in DIALECTS.values() for each in dialect.releases]
    raise KeyError(f"no dialect for release {release}; there is one of: {', '.join(known)}")


def skeleton(logger: str, message: str) -> str:
    """A message without its numbers, partitions and lists, to count unknown messages."""
    text = _WORDS_IN_BRACKETS.sub("(..)", message[:400])
    text = _NUMBER.sub("N", _NAMED_PARTITION.sub("T-P", text))
    return f"{short_name(logger)}: {text[:160]}"

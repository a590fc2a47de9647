"""Finds the prefixes that containers, service managers and log shippers put before each line.

Without a list of tools: the text before the first time of the lines has one form, of words, spaces,
marks: `broker-1  | `, `[pod/kafka-0/kafka] 2024-03-01T10:00:00.1Z `, `Mar 1 10:00:00 host kafka: `.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from conformance.ingest.record_parts import TIME

_BEGINS = re.compile(rf'\[?(?:{TIME})|\{{(?=")')
_TOKEN = re.compile(r"(?P<word>[\w.@/:+-]+)|(?P<spaces> +)|.", re.DOTALL)
_WORD = r"[\w.@/:+-]+"
_LONGEST = 240  # characters of a prefix
_STARTS = 3  # of one line: a time may be part of the prefix
_FORMS = 4  # that are tried


def prefixes(lines: list[str]) -> list[re.Pattern[str]]:
    """Forms of the text before the records of these lines, the most frequent first.

    Each word of a form is a group.
    """
    forms: Counter[str] = Counter()
    for line in lines:
        starts = [found.start() for found in _BEGINS.finditer(line[:_LONGEST])]
        for start in [each for each in starts if each][:_STARTS]:
            forms[_form(line[:start])] += 1
    some = [form for form, count in forms.most_common(_FORMS) if count * 2 > max(forms.values())]
    return [re.compile(form) for form in some]


@lru_cache(maxsize=4096)
def _form(prefix: str) -> str:
    """A regular expression for prefixes like this one."""
    parts = []
    for token in _TOKEN.finditer(prefix):
        if token["word"]:
            parts.append(f"({_WORD})")
        elif token["spaces"]:
            # Names are padded; what stands right before the record may be of the record.
            last = token.end() == len(prefix)
            parts.append(re.escape(token[0]) if last and len(parts) > 1 else " +")
        else:
            parts.append(re.escape(token[0]))
    return "".join(parts)

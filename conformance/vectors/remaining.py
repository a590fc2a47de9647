"""Reads expectations that cases write in words: what exists, and what is gone.

"topic znode, delete znode and all logs gone" is about three things; "topic fully deleted, no logs
of the added partition" about everything of a topic, and about some of its logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

TOPIC, REQUEST, LOGS, ADDED_LOGS = (
    "topic znode", "delete znode", "logs", "logs of the added partition"
)  # fmt: skip
"""What may be left of a topic, as answers call it."""

_THINGS = {
    r"logs? of (the )?(added|new) partitions?": (ADDED_LOGS,),
    r"topic znode|topic node|topic path|/brokers/topics\S*": (TOPIC,),
    r"delete znode|deletion znode|delete request|deletion request|request|/admin/delete_topics\S*":
        (REQUEST,),
    r"(replica |partition )?(logs?|director(y|ies))": (LOGS,),
    r"topic|everything|all|deletion": (TOPIC, REQUEST, LOGS),
}  # fmt: skip
_GONE = r"gone|deleted|removed|absent|missing|completed?|completes|done|finished"
_THERE = r"there|stays?|stayed|remains?|kept|present|exists?|left|pending|queued"
_WORD = re.compile(
    "|".join(
        [
            r"(?P<none>\bno\b)",
            *(rf"(?P<thing{at}>\b(?:{one})(?!\w))" for at, one in enumerate(_THINGS)),
            rf"(?P<gone>\b(?:{_GONE})\b)",
            rf"(?P<there>\b(?:{_THERE})\b)",
            r"(?P<not>\bnot\b|n't\b|\bnever\b)",
        ]
    ),
    re.IGNORECASE,
)


class Remaining(dict[str, bool]):
    """By thing (``TOPIC`` and its like) whether it still exists."""

    def agrees(self, text: str) -> bool:
        """Whether a text's statements are true; a text without any is not understood."""
        said = list(_claims(text))
        return bool(said) and all(self.get(thing) is is_there for thing, is_there in said)


def _claims(text: str) -> Iterator[tuple[str, bool | None]]:
    """Things in the order of a text, each with whether it is said to be there (None: neither)."""
    about: list[str] = []
    negated = denied = False
    for found in _WORD.finditer(text.replace("all logs", "logs")):
        kind = found.lastgroup or ""
        if kind.startswith("thing"):
            things = list(_THINGS.values())[int(kind.removeprefix("thing"))]
            if denied:  # "no logs" says all that there is to say
                yield from ((one, False) for one in things)
            else:
                about += things
            denied = False
        elif kind == "none":
            denied = True
        elif kind == "not":
            negated = True
        else:
            whole = (kind == "there") is not negated
            # A topic that is there is one whose znode is: its logs come and go by themselves.
            read = about if not whole or set(about) != {TOPIC, REQUEST, LOGS} else [TOPIC]
            yield from ((one, whole) for one in read)
            about, negated = [], False
    yield from ((one, None) for one in about)

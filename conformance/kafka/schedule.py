"""A schedule: what happens to messages, processes and disks, as lines of text.

    hold Fetch from 2 to 1               # requests; with `answer`, the answers to them
    hold Fetch answer from 2 to 1 nth 3  # the third one that fits, and no other
    drop LeaderAndIsr from controller to 2 epoch 1
    delay SetData from 1 to zookeeper path /brokers/topics by 500
    duplicate StopReplica from controller to 2
    pass Fetch from 2 to 1               # ends the rules for such messages
    release Fetch from 2 to 1            # lets go the oldest that is held
    await SetData from 3 to zookeeper path /brokers/topics    # until such a message is held
    claim StopReplica to 2               # delivered when released, even if its sender has timed out
    kill 1 | start 1 | pause 1 | resume 1 | expire 1
    controller 3                         # /controller is deleted while the others are paused
    keep 1 before                        # a copy of the disk of broker 1
    restore 1 before                     # the broker must not run
    topic t 1,2                          # a topic of one partition, on these brokers
    assign t 1,3                         # a request to move it, which a controller takes up
    until isr t 1,2                      # or replicas, or leader: until ZooKeeper has it so

A message falls under the first rule that fits. `drop` closes the connection: a message that is lost
on TCP is lost with its connection.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.kafka.messages import ANSWER, OPERATIONS, REQUEST, Message
from impl.wire import UnknownApi, api_key

RULES = ("hold", "drop", "delay", "duplicate")
PROCESSES = ("kill", "start", "pause", "resume", "expire", "controller")
DISKS = ("keep", "restore")
OPERATOR = ("topic", "assign", "until")
LOOKED_AT = ("isr", "replicas", "leader")
WORDS = ("from", "to", "topic", "epoch", "nth", "by", "path")
VERBS = (*RULES, "release", "pass", "await", "claim", *PROCESSES, *DISKS, *OPERATOR)


class WrongSchedule(ValueError):
    """The line is no line of a schedule; the message has the line and what is right."""


@dataclass
class MessageFilter:
    """Which messages a line is about: None fits any."""

    api: str
    kind: str = REQUEST
    sender: str | None = None
    to: str | None = None
    topic: str | None = None
    epoch: int | None = None
    path: str | None = None

    def fits(self, message: Message) -> bool:
        """Whether the line is about this message."""
        return (
            self.api in ("any", message.api)
            and self.kind == message.kind
            and self.sender in (None, message.sender)
            and self.to in (None, message.to)
            and (self.topic is None or self.topic in message.topics)
            and (self.epoch is None or self.epoch in message.epochs)
            and (self.path is None or str(message.details.get("path", "")).startswith(self.path))
        )


@dataclass
class MessageRule:
    """An action on messages; ``nth`` selects one of them; ``seen`` counts those that fit."""

    action: str
    which: MessageFilter
    nth: int | None = None
    delay_ms: int = 0
    seen: int = 0

    def takes(self, message: Message) -> bool:
        """Whether the rule applies to this message; counts it."""
        if not self.which.fits(message):
            return False
        self.seen += 1
        return self.nth is None or self.nth == self.seen


@dataclass(frozen=True)
class BrokerAction:
    """A line that is carried out at once: a broker and, for disks, the name of the copy."""

    verb: str
    broker: int
    name: str = ""


@dataclass
class ReleaseMessage:
    """Releases the oldest message that is held and fits (`release`), ends the rules for such
    messages (`pass`), waits until one is held (`await`), or makes sure that one arrives when it is
    released, though its sender has closed the connection (`claim`)."""

    verb: str
    which: MessageFilter


@dataclass(frozen=True)
class Operate:
    """An operation on the one partition of a topic, or a wait for its state: ``looks_at`` is empty,
    or one of `LOOKED_AT`."""

    verb: str
    topic: str
    brokers: tuple[int, ...]
    looks_at: str = ""


Line = MessageRule | BrokerAction | ReleaseMessage | Operate


def parse_schedule(text: str, source: str = "schedule") -> list[Line]:
    """Parses a schedule; WrongSchedule names the line and what would be right."""
    found: list[Line] = []
    for number, raw in enumerate(text.splitlines(), 1):
        words = raw.partition("#")[0].split()
        if words:
            try:
                found.append(parse_line(words))
            except WrongSchedule as error:
                raise WrongSchedule(f"{source}:{number}: {error}") from None
    return found


def parse_line(words: Sequence[str]) -> Line:
    """One line, in words."""
    verb, *rest = words
    if verb in PROCESSES or verb in DISKS:
        return _act(verb, rest)
    if verb in OPERATOR:
        return _operate(verb, rest)
    if verb not in VERBS:
        raise WrongSchedule(f"{verb!r} is no word of a schedule; write one of: {', '.join(VERBS)}")
    if not rest:
        raise WrongSchedule(f"{verb} what? write: {verb} Fetch from 2 to 1")
    which, given = _message_filter(verb, rest)
    if verb not in RULES:
        _refuse_other_words(verb, given, ())
        return ReleaseMessage(verb, which)
    _refuse_other_words(verb, given, ("nth", "by") if verb == "delay" else ("nth",))
    if verb == "delay" and "by" not in given:
        raise WrongSchedule("delay by how many milliseconds? write: delay Fetch by 500")
    return MessageRule(verb, which, given.get("nth"), given.get("by", 0))


def _refuse_other_words(verb: str, given: dict[str, int], allowed: Sequence[str]) -> None:
    for word in given:
        if word not in allowed:
            raise WrongSchedule(f"{verb} takes no {word!r}")


def _act(verb: str, rest: Sequence[str]) -> BrokerAction:
    if not rest or not rest[0].isdecimal():
        raise WrongSchedule(f"{verb} which broker? write: {verb} 1")
    wanted = 2 if verb in DISKS else 1
    if len(rest) != wanted:
        example = f"{verb} 1 before" if verb in DISKS else f"{verb} 1"
        raise WrongSchedule(f"{verb} takes {wanted} words; write: {example}")
    name = rest[1] if verb in DISKS else ""
    if name and not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise WrongSchedule(f"{name!r} is no name of a copy; write letters and digits")
    return BrokerAction(verb, int(rest[0]), name)


def _operate(verb: str, rest: Sequence[str]) -> Operate:
    example = "until isr t 1,2" if verb == "until" else f"{verb} t 1,2"
    looks_at = ""
    if verb == "until":
        if not rest or rest[0] not in LOOKED_AT:
            raise WrongSchedule(f"until what? write one of {', '.join(LOOKED_AT)}: {example}")
        looks_at, *rest = rest
    if len(rest) != 2 or not re.fullmatch(r"\d+(,\d+)*", rest[1]):
        raise WrongSchedule(f"{verb} takes a topic and brokers; write: {example}")
    if not re.fullmatch(r"[A-Za-z0-9._-]+", rest[0]):
        raise WrongSchedule(f"{rest[0]!r} is no name of a topic; write letters and digits")
    brokers = tuple(int(one) for one in rest[1].split(","))
    if len(set(brokers)) < len(brokers):
        raise WrongSchedule(f"{rest[1]} names a broker twice; write: {example}")
    return Operate(verb, rest[0], brokers, looks_at)


def _message_filter(verb: str, rest: Sequence[str]) -> tuple[MessageFilter, dict[str, int]]:
    api, *words = rest
    if api != "any" and api not in (*OPERATIONS.values(), "Connect", "Event"):
        try:
            api_key(api)
        except UnknownApi:
            raise WrongSchedule(
                f"{api!r} is no API; write Kafka's name, such as Fetch, OffsetForLeaderEpoch, "
                "LeaderAndIsr, or ZooKeeper's, such as SetData, or any"
            ) from None
    which = MessageFilter(api)
    if words and words[0] in (ANSWER, REQUEST):
        which.kind = words.pop(0)
    numbers: dict[str, int] = {}
    while words:
        word = words.pop(0)
        if word not in WORDS:
            raise WrongSchedule(f"{word!r} is not understood after {verb} {api}; write one of: "
                                f"answer, {', '.join(WORDS)}")  # fmt: skip
        if not words:
            raise WrongSchedule(f"{word} what? a word is missing")
        value = words.pop(0)
        if word in ("epoch", "nth", "by"):
            if not value.isdecimal():
                raise WrongSchedule(f"{word} {value}: write a whole number")
            if word == "epoch":
                which.epoch = int(value)
            else:
                numbers[word] = int(value)
        else:
            setattr(which, "sender" if word == "from" else word, value)
    return which, numbers

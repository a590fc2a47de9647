"""Collects from Kafka's source which lines its protocol loggers write, in which releases.

    python -m conformance.ingest.collect KAFKA_GIT > conformance/ingest/statements.tsv

KAFKA_GIT is a clone of apache/kafka with its tags. The tool finds every logger call in the classes
of `FILES` at every release. It keeps the logger, the level, the first and last release with the
call, the kind of event that a template makes of it, and the shape of the message (`{}` for inserted
values). The shape is read from the call itself: literals joined by `+`, `format`, interpolation,
SLF4J's `{}`, `if` in between, and values that are defined in the same file, or in `_ELSEWHERE`. A
call whose text is made elsewhere has the shape `{}`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product

from conformance.ingest.dialects import ANY
from conformance.ingest.samples import FORMS, heads_of, samples
from conformance.ingest.statements import HOLE, NOTE, STATE_CHANGE

FILES = re.compile(
    r"(?:core/src/main/scala/kafka|storage/src/main/java/org/apache/kafka/storage/internals)/(?:"
    r"controller/(?:ControllerChannelManager|ControllerContext|ControllerEventManager|Election"
    r"|KafkaController|PartitionLeaderSelector|PartitionStateMachine|ReplicaStateMachine"
    r"|StateChangeLogger|TopicDeletionManager)"
    r"|cluster/(?:Partition|Replica)"
    r"|log/(?:Log|LocalLog|LogLoader|LogManager|UnifiedLog)"
    r"|server/(?:AbstractFetcher(?:Manager|Thread)|MetadataCache|metadata/ZkMetadataCache"
    r"|Replica(?:Manager|FetcherManager|FetcherThread|AlterLogDirsManager|AlterLogDirsThread"
    r"|FetcherBlockingSend)|ZookeeperLeaderElector|Alter(?:Isr|Partition)Manager"
    r"|ZkAlterPartitionManager|ZkIsrManager|epoch/LeaderEpochFileCache)"
    r"|epoch/LeaderEpochFileCache"
    r"|coordinator/transaction/ProducerIdManager"
    r"|server/(?:Local|Remote)LeaderEndPoint|utils/ShutdownableThread"
    r")\.(?:scala|java)"
)
SHARED = re.compile(  # moved out of `core` in 3.x
    r"server-common/src/main/java/org/apache/kafka/server/util/ShutdownableThread\.java"
)
# What they say of a log is written by the log itself.
_REASONS = ("LogDeletion", "LogRecovery", "LogRoll", "LogTruncation", "RetentionMsBreach",
            "RetentionSizeBreach", "StartOffsetBreach")  # fmt: skip
_COORDINATOR = "kafka.coordinator.transaction"
_FOR_CALLERS = {"ZkProducerIdManager": "KafkaController"}  # from 3.0 it logs where it is asked
# Texts that a class is handed by another one: a warning of `LogConfig`, and what `ZkMetadataCache`
# finds in the full UpdateMetadata request of a KRaft controller (KIP-866).
_ELSEWHERE = {
    "messageFormatVersion.topicWarningMessage(topicName)": [
        "Topic configuration {} with value `{}` is ignored for `{}` because the inter-broker "
        "protocol version `{}` is greater or equal than 3.0. {}"
    ],
    "logMessage": [
        "Error: topic {} appeared in currentMetadata.topicNames, but not in "
        "currentMetadata.partitionStates.",
        "Removing topic {} with ID {} from the metadata cache since the full UMR did not include "
        "it.",
        "Removing {} partition(s) from topic {} with ID {} from the metadata cache since the full "
        "UMR did not include them.",
        "Error: {}",
    ],
}
_MOST = 24  # forms of one call that are distinguished
_RELEASE = re.compile(r"(0\.\d+|[123]\.\d+)\.\d+(?:\.\d+)?(?:-rc\d+)?")
_LAST = (3, 9)

_CALL = re.compile(
    r"(?<![\w.])(?:(?P<to>(?:stateChange(?:Logger|Log)|stateLogger|logger|log|LOG|this)"
    r"(?:\.(?:withControllerEpoch\([^()]*(?:\([^()]*\))?[^()]*\)|underlying))?)\s*\.\s*)?"
    r"(?P<level>trace|debug|info|warn|error|fatal)\s*(?P<open>[({])"
)
_TYPE = re.compile(
    r"\b(?P<abstract>abstract\s+)?(?P<kind>class|object|trait|interface)\s+(?P<name>[A-Z]\w*)"
)
_ENDS_HEAD = re.compile(r"\b(?:class|object|trait|def|val|var|case|sealed|abstract|@\w+)\b|\}")
_LOGGING = frozenset(  # who inherits of these has a logger of its own
    ("Logging", "ShutdownableThread", "ControllerZkChildListener", "ControllerZkDataListener")
)
_PARENT = re.compile(r"\b(?:extends|with|implements)\s+([A-Z]\w*)")
_VALUE = (
    r"\b(?:(?:private|lazy|final|override|protected)\s+)*(?:val|var|String)\s+{name}\b[^=\n]*=\s*"
)
_CONVERSION = re.compile(r"%(?:\d+\$)?[-#+ 0,(]*\d*(?:\.\d+)?[a-zA-Z]")
_STRING = re.compile(r'(?P<how>[sf]|raw)?(?P<quote>"""|")')


@dataclass(frozen=True, order=True)
class CollectedStatement:
    """One message that a class can write: its logger, its shape, and the level."""

    logger: str
    shape: str
    level: str


@dataclass
class _Source:
    """The content of one file: statements by class, and the superclasses of each class."""

    statements: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    parents: dict[str, set[str]] = field(default_factory=dict)
    concrete: set[str] = field(default_factory=set)


# --- reading Scala and Java


def statements_of(sources: Iterable[tuple[str, str]]) -> set[CollectedStatement]:
    """The statements of the files (path and text) of one release."""
    read = [(_package(path, text), _read(text)) for path, text in sources]
    parents: dict[str, set[str]] = {}
    loggers: dict[str, str] = {}
    for package, source in read:
        for name, above in source.parents.items():
            parents.setdefault(name, set()).update(above)
        for name in source.concrete:
            loggers[name] = f"{package}.{name}"
    heirs: dict[str, set[str]] = {}
    for heir in parents:
        for ancestor in _ancestors(heir, parents):
            heirs.setdefault(ancestor, set()).add(heir)
    found = set()
    for package, source in read:
        for name, said in source.statements.items():
            writers = {name, *heirs.get(name, ())} & set(loggers)
            if package == _COORDINATOR:
                writers = {_FOR_CALLERS.get(name, "")} & set(loggers)
            if name in _REASONS:
                writers = {"Log", "LocalLog", "UnifiedLog"} & set(loggers)
            where = {STATE_CHANGE} if name == STATE_CHANGE else {loggers[each] for each in writers}
            found |= {
                CollectedStatement(logger, shape, level)
                for logger in where
                for shape, level in said
            }
    return found


def _ancestors(name: str, parents: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for above in parents.get(waiting.pop(), ()):
            if above not in found:
                found.add(above)
                waiting.append(above)
    return found


def _package(path: str, text: str) -> str:
    found = re.search(r"^package\s+([\w.]+)", text, re.MULTILINE)
    return found[1] if found else path


@lru_cache(maxsize=512)
def _read(text: str) -> _Source:
    text = _without_comments(text)
    source = _Source()
    types = list(_types(text, source))
    for call in _CALL.finditer(text):
        if re.search(r"\bdef\s+$", text[max(0, call.start() - 20) : call.start()]):
            continue
        argument = _first_argument(text, call.end() - 1)
        if not argument.strip() or re.fullmatch(r"\s*\w+\s*:.*", argument):
            continue
        to = call["to"] or ""
        name = STATE_CHANGE if to.startswith("state") else _around(call.start(), types)
        if name is None:
            continue
        for shape in _shapes(argument, text[: call.start()], 0):
            source.statements.setdefault(name, set()).add((_tidy(shape), call["level"]))
    return source


def _types(text: str, source: _Source) -> Iterator[tuple[int, int, str]]:
    """Where each class or object with a logger begins and ends, with its name in the JVM.

    An inner class that is no `Logging` itself logs as the outer class.
    """
    around: list[tuple[int, str]] = []  # where those end that stand open, and their names
    for found in _TYPE.finditer(text):
        while around and around[-1][0] <= found.start():
            around.pop()
        head, opened = _head(text, found.end())
        parents = _PARENT.findall(head)
        own = not around or not _LOGGING.isdisjoint(parents)
        name = "$".join((*(outer for _, outer in around[-1:]), found["name"]))
        if not own:
            name = around[-1][1]
        source.parents.setdefault(name, set()).update(parents)
        if own and found["kind"] in ("class", "object") and not found["abstract"]:
            source.concrete.add(name)
        if opened is not None:
            around.append((_closing(text, opened), name))
            yield found.start(), around[-1][0], name
    source.concrete -= set(re.findall(r"\b(?:abstract\s+class|trait)\s+(\w+)", text))


def _head(text: str, start: int) -> tuple[str, int | None]:
    """The text between a class's name and its body, and the start of the body, if any."""
    at = start
    while at < len(text):
        if text[at] in "([":
            at = _closing(text, at)
        elif text[at] == "{":
            return text[start:at], at
        elif _ENDS_HEAD.match(text, at):
            break
        else:
            at += 1
    return text[start:at], None


def _around(at: int, types: list[tuple[int, int, str]]) -> str | None:
    inner = [name for start, end, name in types if start <= at < end]
    return inner[-1] if inner else None


def _without_comments(text: str) -> str:
    parts, at = [], 0
    token = re.compile(r'//[^\n]*|/\*.*?\*/|"""|"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
    while (found := token.search(text, at)) is not None:
        if found[0].startswith("/"):
            parts.append(text[at : found.start()])
            at = found.end()
        elif found[0].startswith('"'):
            end = _string_end(text, found.start())
            parts.append(text[at:end])
            at = end
        else:
            parts.append(text[at : found.end()])
            at = found.end()
    parts.append(text[at:])
    return "".join(parts)


def _string_end(text: str, start: int) -> int:
    """The end of the string that begins at `start` (its quote), including interpolated values."""
    quote = '"""' if text.startswith('"""', start) else '"'
    interpolated = start > 0 and text[start - 1] in "sf"
    at = start + len(quote)
    while at < len(text):
        if text.startswith(quote, at):
            while quote == '"""' and text.startswith('"', at + 3):
                at += 1
            return at + len(quote)
        if text[at] == "\\" and quote == '"':
            at += 2
        elif interpolated and text.startswith("${", at):
            at = _closing(text, at + 1)
        else:
            at += 1
    return len(text)


def _closing(text: str, opened: int) -> int:
    """The place after the bracket that closes the one at `opened`."""
    depth, at = 0, opened
    while at < len(text):
        each = text[at]
        if each == '"':
            at = _string_end(text, at)
            continue
        if each == "'" and re.match(r"'(?:\\.|[^'\\\n])'", text[at : at + 4]):
            at = text.index("'", at + 2) + 1
            continue
        if each in "([{":
            depth += 1
        elif each in ")]}":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return len(text)


def _split(text: str, separator: str) -> list[str]:
    """Splits at a separator outside brackets and strings."""
    parts, start, at = [], 0, 0
    while at < len(text):
        each = text[at]
        if each == '"':
            at = _string_end(text, at)
        elif each in "([{":
            at = _closing(text, at)
        elif each == separator:
            parts.append(text[start:at])
            start = at = at + 1
        else:
            at += 1
    parts.append(text[start:])
    return parts


def _first_argument(text: str, opened: int) -> str:
    inside = text[opened + 1 : _closing(text, opened) - 1]
    if text[opened] == "{":
        return inside
    return _split(inside, ",")[0]


# --- from an expression to shapes


def _shapes(expression: str, before: str, depth: int) -> list[str]:
    """The forms of a string expression; `before` is the text of the file up to it."""
    expression = expression.strip()
    parts = _split(expression, "+")
    if len(parts) > 1:
        every = [_shapes(part, before, depth) for part in parts if part.strip()]
        return ["".join(one) for one in _some(product(*every))]
    if expression.startswith("(") and _closing(expression, 0) == len(expression):
        return _shapes(expression[1:-1], before, depth)
    if expression.startswith("{") and _closing(expression, 0) == len(expression):
        return _shapes(expression[1:-1], before, depth)
    chosen = re.match(r"if\s*\(", expression)
    if chosen:
        end = _closing(expression, chosen.end() - 1)
        rest = expression[end:]
        first, second = _at_else(rest)
        return _shapes(first, before, depth) + _shapes(second, before, depth)
    formatted = re.match(r"String\.format\(", expression)
    if formatted:
        first, *_ = _split(expression[formatted.end() : -1], ",")
        return [_CONVERSION.sub(HOLE, shape) for shape in _shapes(first, before, depth)]
    inner = _formatted(expression)
    if inner is not None:
        return [_CONVERSION.sub(HOLE, shape) for shape in _shapes(inner, before, depth)]
    literal = _STRING.match(expression)
    if literal:
        end = _string_end(expression, literal.start("quote"))
        if re.fullmatch(r"(?:\s*\.\s*(?:stripMargin|trim|toString)(?:\(\))?)*", expression[end:]):
            return _literal(expression[literal.end() : end - len(literal["quote"])], literal["how"])
        return [HOLE]
    if re.fullmatch(r"[a-z]\w*", expression) and depth < 3:
        return _named(expression, before, depth) or _ELSEWHERE.get(expression, [HOLE])
    lines = [line for line in re.split(r"\n\s*(?=\S)", expression) if line.strip()]
    if len(lines) > 1 and _STRING.match(lines[-1].strip()):
        return _shapes(lines[-1], before, depth)  # the value of a block
    return _ELSEWHERE.get(expression, [HOLE])


def _some(forms: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    found = []
    for form in forms:
        found.append(form)
        if len(found) >= _MOST:
            break
    return found


def _at_else(text: str) -> tuple[str, str]:
    at = 0
    while at < len(text):
        if text[at] == '"':
            at = _string_end(text, at)
        elif text[at] in "([{":
            at = _closing(text, at)
        elif re.match(r"\belse\b", text[at : at + 5]) and not text[at - 1 : at].isalnum():
            return text[:at], text[at + 4 :]
        else:
            at += 1
    return text, '""'


def _formatted(expression: str) -> str | None:
    """The text before a `.format(...)` at the end."""
    at = 0
    while at < len(expression):
        if expression[at] == '"':
            at = _string_end(expression, at)
        elif expression[at] in "([{":
            at = _closing(expression, at)
        else:
            found = re.match(r"\.\s*format\s*\(", expression[at:])
            if found and _closing(expression, at + found.end() - 1) == len(expression):
                return expression[:at].strip()
            at += 1
    return None


def _literal(text: str, how: str | None) -> list[str]:
    if how is None:
        return [_unescaped(text)]
    pieces: list[list[str]] = []
    at, start = 0, 0
    while at < len(text):
        if text.startswith("$$", at):
            pieces.append([_unescaped(text[start:at]) + "$"])
            start = at = at + 2
        elif text[at] == "$":
            pieces.append([_unescaped(text[start:at])])
            if text.startswith("${", at):
                end = _closing(text, at + 1)
                inside = text[at + 2 : end - 1].strip()
                chosen = inside.startswith("if") and '"' in inside
                pieces.append(_shapes(inside, "", 9) if chosen else [HOLE])
            else:
                found = re.match(r"\$\w+", text[at:])
                end = at + (found.end() if found else 1)
                pieces.append([HOLE])
            if how == "f":
                conversion = _CONVERSION.match(text, end)
                end = conversion.end() if conversion else end
            start = at = end
        else:
            at += 1
    pieces.append([_unescaped(text[start:])])
    return ["".join(form) for form in _some(product(*pieces))]


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), text)


def _named(name: str, before: str, depth: int) -> list[str]:
    """The forms of a value that is defined before the call."""
    every = list(re.finditer(_VALUE.format(name=re.escape(name)), before))
    if not every:
        return []
    found = every[-1]
    rest = before[found.end() :]
    if not re.match(r'(?:[sf]?"|\(\s*[sf]?"|if\b|String\.format|\{\s*[sf]?")', rest):
        return []
    return _shapes(_expression(rest), before[: found.start()], depth + 1)


def _expression(text: str) -> str:
    """The expression at the start of a text, up to the end of a line that is not continued."""
    at = 0
    while at < len(text):
        each = text[at]
        if each == '"':
            at = _string_end(text, at)
        elif each in "([{":
            at = _closing(text, at)
        elif each == ";" or (
            each == "\n"
            and not text[:at].rstrip().endswith(("+", "else", ")") if "if" in text[:3] else "+")
            and not re.match(r"\s*(?:\.|\+|else\b)", text[at:])
        ):
            break
        else:
            at += 1
    return text[:at]


def _tidy(shape: str) -> str:
    """The message as `split_prefix` returns it: no bracketed prefix, partitions as since 1.0."""
    shape = re.sub(r"(?:\{\}){2,}", HOLE, shape)
    shape = re.sub(r"^\[[^\[\]]*\][:,]? ", "", shape)
    shape = shape.replace("artition [{},{}]", "artition {}-{}")
    return shape.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").rstrip()


# --- all releases of a repository


def release_of(tag: str) -> tuple[int, ...] | None:
    """The minor release of a tag, such as (2, 8); None for any other tag."""
    found = _RELEASE.fullmatch(tag)
    if found is None:
        return None
    release = tuple(int(part) for part in found[1].split("."))
    return release if (0, 9) <= release <= _LAST else None


def _git(repository: str, *arguments: str, given: str | None = None) -> str:
    return subprocess.run(
        ["git", "-C", repository, *arguments],
        input=given, capture_output=True, text=True, check=True, errors="replace",
    ).stdout  # fmt: skip


def collect(repository: str) -> dict[CollectedStatement, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every statement of every release, with the first and the last minor release that has it."""
    found: dict[CollectedStatement, tuple[tuple[int, ...], tuple[int, ...]]] = {}
    seen: set[tuple[str, ...]] = set()
    blobs: dict[str, str] = {}
    tags = _git(repository, "tag", "--sort=v:refname").split()
    for tag in tags:
        release = release_of(tag)
        if release is None or ("-rc" in tag and tag.split("-rc", 1)[0] in tags):
            continue
        tree = [line.split(None, 3) for line in _git(repository, "ls-tree", "-r", tag).splitlines()]
        files = [
            (blob, path)
            for _, _, blob, path in tree
            if FILES.fullmatch(path) or SHARED.fullmatch(path)
        ]
        key = (str(release), *(blob for blob, _ in files))
        if key in seen:
            continue
        seen.add(key)
        for blob, _ in files:
            if blob not in blobs:
                blobs[blob] = _git(repository, "cat-file", "blob", blob)
        sources = [(path, blobs[blob]) for blob, path in files]
        for statement in statements_of(sources):
            first, last = found.get(statement, (release, release))
            found[statement] = min(first, release), max(last, release)
        print(f"{tag}: {len(found)}", file=sys.stderr)
    return found


def _kind(statement: CollectedStatement, releases: tuple[tuple[int, ...], ...]) -> str:
    """The kind of event that a template makes of the message, in the form of any release."""
    for release in (*releases, *sorted(FORMS)):
        if releases[0] <= release <= releases[1]:
            head = heads_of(statement.logger, release)
            for text in samples(statement.shape, release):
                known = ANY.read(statement.logger, head + text)
                if known is not None and known[0] != NOTE:
                    return known[0]
    return NOTE


def main() -> None:
    """Writes the table to standard output."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m conformance.ingest.collect KAFKA_GIT, a clone of apache/kafka")
    for statement, releases in sorted(collect(sys.argv[1]).items()):
        names = (".".join(map(str, each)) for each in releases)
        kind = _kind(statement, releases)
        print(statement.logger, statement.level, *names, kind, statement.shape, sep="\t")


if __name__ == "__main__":
    main()

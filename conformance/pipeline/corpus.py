"""The result of ingestion by any engine: tables, and figures about them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

from conformance.ingest.files import LogSources, Skipped
from conformance.pipeline.clocks import Clock
from conformance.pipeline.rules import Finding


@dataclass(frozen=True)
class UnknownShape:
    """Rejected lines of one shape in one cluster, and the first of them."""

    cluster: str
    reason: str
    template: str
    count: int
    file: str
    line: int


@dataclass
class Figures:
    """Counts over all files. `kinds` counts lines, `distinct` events after merging repeats."""

    kinds: Counter[str] = field(default_factory=Counter)
    distinct: int = 0
    unknown: list[UnknownShape] = field(default_factory=list)


@dataclass
class Corpus:
    """Ingested logs. `events` and `rejected` are tables of the engine's own type."""

    logs: list[dict[str, Any]]  # rows of `LogFile`
    files: list[dict[str, Any]]  # rows of `FILES`
    events: Any  # of `MERGED`; with its notes, unless these are held apart
    rejected: Any  # of `REJECTS`
    figures: Figures
    skipped: tuple[Skipped, ...] = ()
    closed: tuple[Skipped, ...] = ()
    notes: Any = None


def corpus_without_logs(found: LogSources) -> Corpus:
    """The corpus of paths without logs, which needs no engine."""
    return Corpus([], [], None, None, Figures(), found.skipped, found.closed)


@dataclass
class JudgedCorpus:
    """Findings, comparisons per rule, steps that fit, and the number of sequences."""

    findings: list[Finding] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)  # steps of the model that writes fit
    election_steps: Counter[str] = field(default_factory=Counter)  # of `election`
    sequences: int = 0
    clocks: list[tuple[str, Clock]] = field(default_factory=list)
    """Cluster, and how far apart two of its brokers' clocks are."""

    def add(self, other: JudgedCorpus) -> None:
        """Takes in what was judged of other clusters."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


class Engine(Protocol):
    """Runs the same plain functions in this process, or on Spark."""

    def ingest(self, found: LogSources, release: str | None, layout: str | None = None) -> Corpus:
        """Read and merge the lines of the logs that were found."""

    def save(self, corpus: Corpus, folder: str) -> None:
        """Write the tables `events` and `rejected` as Parquet into an empty folder."""

    def load(self, folder: str) -> Corpus:
        """Read what `save` (of any engine) and `store.keep` have written."""

    def judge(self, corpus: Corpus) -> JudgedCorpus:
        """Apply every rule to every cluster."""

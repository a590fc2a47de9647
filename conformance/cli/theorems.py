"""The further claims of `insync prove --all`: theorems, each with a label of what it covers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.cli.chosen_system import Variant, described, refusals, system_named
from conformance.cli.common import Progress, WrongUse, say, show_table
from model.language import RecordedSystem
from specs.verdict import ClaimReport

if TYPE_CHECKING:
    from specs.theorems import TheoremResult

NAMES = (
    "controller_epoch_never_falls",
    "nobody_takes_over_the_controllership",
    "one_write_at_a_time",
    "a_lost_disk_is_survived",
    "visible_records_are_committed",
    "sent_high_watermark_never_falls",
    "batches_are_steps",
    "state_changes_are_valid",
    "deposed_controllers_write_nothing",
    "controllers_without_session_do_nothing",
    "cluster_has_a_single_writer",
    "leader_epoch_never_falls",
    "dead_brokers_do_not_join_the_isr",
    "cluster_leader_unique",
    "cluster_leader_in_isr",
    "registered_brokers_stay_registered",
    "resigned_controllers_write_nothing",
    "no_event_is_missed",
    "dead_leaders_are_noticed",
    "topics_leader_in_isr",
    "stopped_brokers_do_nothing",
    "only_controllers_have_tasks",
    "replica_lists_are_valid",
    "topics_are_deleted_only_on_request",
    "idle_controller_knows_zookeeper",
    "brokers_shutting_down_are_not_elected",
    "state_writes_are_conditional",
    "no_leader_and_isr_for_topics_being_deleted",
    "deleted_data_is_never_served",
    "deleted_data_returns_only_after_reassignment",
    "deleted_topics_leave_no_data",
    "ids_prevent_resurrection",
    "placement_is_distinct",
    "placement_is_balanced",
    "epoch_cache_is_the_logs",
)
"""The theorems of `specs.theorems`, said here so that help needs no Z3; a test holds them equal."""

CONTRADICTION = (
    "not proved: no small state obeys the invariants and what is assumed of it; from a "
    "contradiction everything follows"
)


@dataclass
class TheoremAttempt:
    """The result of a theorem; `recorded` is its system, if it is about one."""

    result: TheoremResult
    recorded: RecordedSystem | None

    def report(self) -> ClaimReport:
        """One entry of `claims`."""
        result, recorded, theorem = self.result, self.recorded, self.result.theorem
        return ClaimReport(
            claim=theorem.claim, sentence=theorem.sentence, label=theorem.label,
            system=theorem.system, version=None if recorded is None else recorded.version,
            without={} if recorded is None else recorded.without, verdict=result.verdict,
            obligations=len(result.obligations), solver_calls=len(result.obligations),
            seconds=result.seconds, open=result.open, contradictory=result.contradictory,
            assumes=theorem.assumes,
        )  # fmt: skip


def theorems_among(
    claims: tuple[str, ...], everything: bool, brokers: str, smt2_target: str | None
) -> tuple[str, ...]:
    """The theorems that a line asks for; WrongUse for what does not go with them."""
    asked = tuple(dict.fromkeys(name for name in claims if name in NAMES))
    if claims and everything:
        return ()  # refused where the proofs are chosen
    asked = NAMES if everything else asked
    if asked and brokers != "any":
        raise WrongUse(f"--brokers {brokers}: {asked[0]} is proved for any number; leave it out")
    if asked and smt2_target is not None:
        raise WrongUse(
            f"--smt2 is for the claims that are proved by induction, and {asked[0]} is a theorem; "
            "leave it (or --all) out"
        )
    return asked


def try_theorems(
    names: tuple[str, ...], variant: Variant, solvers: tuple[str, ...], progress: Progress
) -> list[TheoremAttempt]:
    """Every theorem of these names, tried."""
    if not names:
        return []
    from specs.theorems import THEOREMS
    from specs.theorems.theorem import prove_theorem

    tried = []
    for theorem in (THEOREMS[name] for name in names):
        recorded = None
        if theorem.system is not None:
            recorded = variant.recorded(system_named(theorem.system))
        with refusals():
            result = prove_theorem(
                theorem,
                None if recorded is None else recorded.version,
                {} if recorded is None else recorded.without,
                solvers,
                lambda one: progress(f"{one.step}: {one.invariant} {one.answer}"),
            )
        tried.append(TheoremAttempt(result, recorded))
    return tried


def show_theorems(
    tried: list[TheoremAttempt], solvers: tuple[str, ...], each: bool, json_target: str | None
) -> None:
    """A table, a row each; then what each is about, and what is open."""
    if not tried:
        return
    solved = f"by {' and '.join(solvers)}"
    show_table(
        ["theorem", "verdict", "obligations", solved, "seconds"],
        [
            (
                one.result.theorem.claim,
                one.result.verdict,
                len(one.result.obligations),
                len(one.result.obligations) - len(one.result.open),
                f"{one.result.seconds:.1f}",
            )
            for one in tried
        ],
        json_target,
        right=["obligations", solved, "seconds"],
    )
    for one in tried:
        for line in _theorem_lines(one, each):
            say(line, json_target)


def _theorem_lines(tried: TheoremAttempt, each: bool) -> list[str]:
    result = tried.result
    about = "" if tried.recorded is None else f" of {described(tried.recorded)}"
    lines = [
        f"{result.theorem.claim}{about}: {result.theorem.label}",
        f"  {result.theorem.sentence}",
        *(f"  (assumed: {one})" for one in result.theorem.assumes),
        *([f"  {CONTRADICTION}"] if result.contradictory else []),
    ]
    shown = result.obligations if each else result.open
    return lines + [
        f"  {one.step} · {one.invariant}: "
        + ", ".join(f"{answer} by {solver}" for solver, answer in one.answers.items())
        for one in shown
    ]

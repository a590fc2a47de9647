"""Faults in the implementation are caught by conformance alone; the judge itself is judged too."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance import verify_brokers
from conformance.cli.mutants import mutants as mutants_command
from conformance.mutants import (
    MODULES,
    NOT_PLANTED,
    PLANTED,
    KeptScore,
    KeptTrials,
    Mutant,
    MutantTrial,
    MutationScore,
    NoScore,
    NoSuchTrials,
    interval,
    keep_score,
    kept_score,
    mutants_of,
    sample,
    score,
    survivors,
    try_planted,
    try_sample,
)
from conformance.mutants.changes import DifferenceRecorder
from conformance.mutants.judges import (
    JUDGES,
    OF_ONE_PARTITION,
    OF_RULES,
    CaughtByModule,
    DifferingJudges,
    Judge,
    in_order,
    reach,
)
from conformance.mutants.kept_reach import KeptReach
from conformance.mutants.kept_score import digest_of, digest_of_text
from conformance.mutants.mutate import function_named
from conformance.plain_rules.compare import RulesDiffer, compare_rules
from conformance.story_lockstep import route, tour, tours
from impl.core.partition_machine import PartitionMachine
from impl.core.reassigner import Reassigner
from impl.log.leader_epoch_cache import LeaderEpochFileCache
from model.bugs import HISTORIC_BUGS
from specs.verdict import Verdict
from tests.impl.planted import plant


def every() -> list[Mutant]:
    return [mutant for module in MODULES for mutant in mutants_of(module)]


def of_one_partition(mutants: list[Mutant]) -> DifferingJudges:
    """As if they differed before every judge of one partition."""
    return DifferingJudges({one.key: OF_ONE_PARTITION for one in mutants})


@pytest.mark.parametrize("name", sorted(tours()))
def test_a_story_is_driven_on_both_sides(name: str) -> None:
    """An old release's story may end early; one of today's release goes to its end."""
    assert tour(name) > 0


def test_the_regressions_are_driven_to_their_end() -> None:
    for name in ("older_controller_is_refused", "deposed_election_is_fenced"):
        assert tour(name) == len(route(name)[1])


def test_every_old_bug_is_caught() -> None:
    trials = list(try_planted())

    assert [trial.label for trial in trials if not trial.caught] == []
    assert len(trials) == len(PLANTED)


def test_what_is_planted_and_what_is_not_are_entries_of_the_zoo() -> None:
    known = {entry.id for entry in HISTORIC_BUGS}

    assert {one.id for one in PLANTED} | set(NOT_PLANTED) <= known
    assert not {one.id for one in PLANTED} & set(NOT_PLANTED)


def test_what_is_planted_is_caught_by_the_rules_where_it_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The rules agree as they are, and a cut at the high watermark is named with its input."""
    assert compare_rules() > 25_000
    monkeypatch.setattr(
        "conformance.plain_rules.compare.follower_truncation", lambda r, e, hw, *_: (hw, True)
    )

    with pytest.raises(RulesDiffer, match=r"a log \[0\] with HW 0, answered .* the rule says"):
        compare_rules()


@pytest.mark.parametrize(
    ("replaced", "wrong", "named"),
    [
        ("valid_target", lambda target, *_: "NONE", r"from \(\) to \(\), alive \(1, 2\)"),
        ("fetcher_id", lambda *_: 0, r"t-0 of "),
        ("request_version", lambda *_: 0, r"LeaderAndIsr under 1\.0"),
        ("impl_names.collide", lambda one, other: one == other, r"'\.' beside '_'"),
        ("placement.added_from", lambda *_: (0, 1), r"up to 2 partitions beside \(2, 1\)"),
    ],
)
def test_a_wrong_rule_of_the_implementation_is_named_with_its_input(
    monkeypatch: pytest.MonkeyPatch, replaced: str, wrong: object, named: str
) -> None:
    monkeypatch.setattr(f"conformance.plain_rules.compare.{replaced}", wrong)

    with pytest.raises(RulesDiffer, match=named):
        compare_rules()


def test_every_survivor_that_is_explained_is_a_mutant_of_the_text_as_it_is() -> None:
    keys = [one.key for one in every()]

    assert len(keys) == len(set(keys)) >= 400
    assert set(survivors()) <= set(keys)
    assert all(len(reason) > 10 for reason in survivors().values())


def test_trials_are_kept_as_they_are_made_and_a_cut_line_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "trials.ndjson"
    first, second = (MutantTrial(key, key, "rules", "why", 0.5) for key in ("one", "two"))
    kept = KeptTrials(path)
    kept.add(first)
    kept.add(second)

    path.write_bytes(path.read_bytes()[:-5])
    again = KeptTrials(path)
    again.add(second)

    assert again.trials == {"one": first, "two": second}
    assert KeptTrials(path).trials == again.trials


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"format": "insync.trace/1"}\n', ":1: is no insync.mutants/1"),
        (
            '{"format": "insync.mutants/1", "implementation": "?"}\n',
            ":1: its trials are of another",
        ),
        ("\n", ":1: is no JSON object"),
    ],
)
def test_trials_of_something_else_are_refused(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "trials.ndjson"
    path.write_text(text)

    with pytest.raises(NoSuchTrials, match=why):
        KeptTrials(path)


def test_a_line_that_is_no_trial_is_named(tmp_path: Path) -> None:
    path = tmp_path / "trials.ndjson"
    KeptTrials(path)
    path.write_text(path.read_text() + '{"key": "one"}\n')

    with pytest.raises(NoSuchTrials, match=r"trials\.ndjson:2: has no 'mutant'"):
        KeptTrials(path)


def test_all_and_a_sample_at_once_are_wrong_use(tmp_path: Path) -> None:
    bad = tmp_path / "bad.ndjson"
    bad.write_text("{}\n")

    both = CliRunner().invoke(mutants_command, ["--all", "--sample", "3"])
    other = CliRunner().invoke(mutants_command, ["--resume", str(bad)])

    assert both.exit_code == other.exit_code == 64
    assert "is no insync.mutants/1" in other.output


@pytest.mark.deep
def test_a_mutant_that_changes_nothing_survives() -> None:
    (mutant,) = [
        one for one in mutants_of("impl.log.leader_epoch_cache")
        if one.key.endswith("start >= self.entries[-1][1] → start > self.entries[-1][1]")
    ]  # fmt: skip

    (trial,) = try_sample([mutant], of_one_partition([mutant]))

    assert not trial.caught


def test_a_mutant_changes_its_process_only() -> None:
    before = function_named("impl.core.partition", "Partition.may_join").__code__
    mutants = [m for m in mutants_of("impl.core.partition") if m.function.endswith("may_join")]

    trials = list(try_sample(mutants[:2], of_one_partition(mutants)))

    assert all(trial.caught for trial in trials)
    assert function_named("impl.core.partition", "Partition.may_join").__code__ is before


def test_a_mutant_names_its_line_and_both_texts() -> None:
    labels = [one.label for one in mutants_of("impl.core.partition")]

    assert any(
        "Partition.may_join: self.remotes[replica].end >= self.hw → " in label for label in labels
    )
    assert len(labels) == len(set(labels))


def test_what_is_only_logged_is_no_mutant() -> None:
    reported = [one.label for one in every() if one.before.startswith(("journal", "self.journal"))]

    assert [label for label in reported if "=" not in label] == []


def test_a_sample_is_the_same_for_the_same_seed_and_takes_from_every_file() -> None:
    population = every()

    drawn = sample(population, 120, seed=3)

    assert [one.label for one in drawn] == [one.label for one in sample(population, 120, seed=3)]
    assert len(drawn) == 120
    assert len({one.module for one in drawn}) >= 7


def test_the_interval_is_wilsons_and_nothing_tried_says_nothing() -> None:
    low, high = interval(90, 100)

    assert (round(low, 3), round(high, 3)) == (0.826, 0.945)
    assert interval(0, 0) == (0.0, 1.0)
    assert score([]).tried == 0


def test_every_mutant_can_be_planted() -> None:
    """Its code is compiled, and has the free variables of the function that it replaces."""
    for mutant in every()[::40]:
        before = function_named(mutant.module, mutant.function).__code__
        assert mutant.make().co_freevars == before.co_freevars, mutant.label


def test_a_mutant_of_a_line_that_no_walk_runs_is_a_survivor() -> None:
    (mutant,) = mutants_of("impl.core.requests")[:1]

    (trial,) = try_sample([mutant], DifferingJudges())

    assert not trial.caught
    assert trial.why == "no walk runs its line to another effect"


def test_judges_of_every_kind_look_first_and_all_the_others_afterwards() -> None:
    mutant = next(one for one in mutants_of("impl.core.partition") if "may_join" in one.function)
    names = tuple(JUDGES)

    here = DifferingJudges({mutant.key: names}, dict.fromkeys(names, 0.01))
    first, rest = in_order(mutant, here, CaughtByModule())

    assert sorted([*first, *rest]) == sorted(names)
    kinds = {one.kind for one in JUDGES.values()}
    assert {JUDGES[one].kind for one in first} == kinds - set(OF_RULES)
    assert {JUDGES[one].kind for one in rest[-2:]} == set(OF_RULES)
    assert len(first) < len(rest)


def test_a_survivor_is_put_before_no_more_judges_than_there_is_time_for() -> None:
    mutant = next(one for one in mutants_of("impl.core.partition") if "may_join" in one.function)
    names = tuple(JUDGES)
    here = DifferingJudges({mutant.key: names}, dict.fromkeys(names, 1.0))

    first, rest = in_order(mutant, here, CaughtByModule())

    assert len({JUDGES[one].kind for one in [*first, *rest]}) == len(
        {one.kind for one in JUDGES.values()}
    )
    assert len(first) + len(rest) < len(names)


def test_who_notices_most_of_a_module_looks_first() -> None:
    mutant = next(one for one in mutants_of("impl.core.partition") if "may_join" in one.function)
    names = ("story m2_is_lost", "cases", "replication, seed 1")
    here = DifferingJudges({mutant.key: names}, dict.fromkeys(names, 0.5))
    catches = CaughtByModule()

    before = in_order(mutant, here, catches)[0]
    for _ in range(3):
        catches.note(mutant.module, before[-1])

    assert in_order(mutant, here, catches)[0][0] == before[-1]


def test_mutants_that_are_tried_at_once_are_reported_as_they_end() -> None:
    mutants = [m for m in mutants_of("impl.core.partition") if m.function.endswith("may_join")]

    trials = list(try_sample(mutants[:4], of_one_partition(mutants), at_once=2))

    assert {trial.key for trial in trials} == {one.key for one in mutants[:4]}
    assert all(trial.caught for trial in trials)


def test_in_which_judge_a_mutant_differs_is_measured_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    few = {name: JUDGES[name] for name in ("rules", "story m2_is_lost")}
    monkeypatch.setattr("conformance.mutants.judges.JUDGES", few)

    said, found = reach(file=tmp_path / "reach")
    again = reach(file=tmp_path / "reach")

    assert said == ("", "")
    assert any(key.startswith("impl.core.truncation ") for key in found.judges)
    assert set().union(*found.judges.values()) == set(found.seconds) == set(few)
    assert again[1].judges == found.judges


def test_a_measure_of_other_code_or_a_cut_line_of_one_is_made_again(tmp_path: Path) -> None:
    file = tmp_path / "reach"
    one = KeptReach(file).add("rules", 0.5, {"impl.core.partition": {3, 1}, "impl.core.api": set()})
    with file.open("a") as more:
        more.write('{"judge": "cut')

    assert KeptReach(file).measured == {"rules": one}
    file.write_text(file.read_text().replace('"code": "', '"code": "of another '))
    assert KeptReach(file).measured == {}


def test_a_mutant_differs_where_what_it_changes_has_another_value() -> None:
    """Of an order: where both are equal; of a condition: where it is what it never is before."""
    module = "impl.log.leader_epoch_cache"
    keys = [one.key.removeprefix(f"{module} LeaderEpochFileCache.") for one in mutants_of(module)]

    def differ(end: int) -> set[str]:
        with DifferenceRecorder([module]) as notes:
            LeaderEpochFileCache(((0, 0), (1, 5))).truncate_from_end(end)
            return {keys[number] for number in notes.take()[module]}

    limit = "self.entries[-1][1] >= end"
    cut_above, cut_at, kept = differ(4), differ(5), differ(6)

    def named(change: str) -> list[bool]:
        key = f"truncate_from_end: {change}"
        assert key in keys
        return [key in one for one in (cut_above, cut_at, kept)]

    assert named(f"{limit} → self.entries[-1][1] > end") == [False, True, False]
    assert named(f"{limit} → self.entries[-1][1] < end") == [True, True, True]
    assert named("end >= 0 → end > 0") == [False, False, False]


def test_a_judge_that_notices_what_is_there_already_ends_the_measure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = {"always": Judge("always", "rules", lambda: "it differs")}
    monkeypatch.setattr("conformance.mutants.judges.JUDGES", few)

    assert reach() == (("always", "it differs"), DifferingJudges())


def test_any_target_replica_in_the_isr_is_not_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(
        monkeypatch, Reassigner.caught_up, "return set(target) <= set(state.isr)",
        "return bool(set(target) & set(state.isr))",
    )  # fmt: skip

    by, why = JUDGES["edges of reassignment, two_targets"].judge()

    assert by, why


def trials() -> list[MutantTrial]:
    return [
        MutantTrial(one.key, one.label, "rules" * (number % 10 > 0), "why", 0.1)
        for number, one in enumerate(every())
    ]


def test_a_kept_score_is_of_code_whose_comments_may_be_rewritten() -> None:
    text = '"""What."""\n\ndef f():\n    """How."""  # why\n    return 1\n'

    assert digest_of_text(text) == digest_of_text(text.replace("How", "Thus").replace("why", "y"))
    assert digest_of_text(text) != digest_of_text(text.replace("1", "2"))
    assert digest_of_text(text) != digest_of_text(text.replace("return 1", 'return "1"'))


def test_a_kept_score_is_of_modules_that_are_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "score.json"
    keep_score(trials(), len(every()), file)

    whole = kept_score(file)
    file.write_text(file.read_text().replace(digest_of("impl.core.partition"), "0123"))
    some = kept_score(file)

    assert whole.changed == ()
    assert whole.score.tried == whole.population == len(every())
    assert 0.89 < whole.score.caught / whole.score.tried < 0.91
    assert some.changed == ("impl.core.partition",)
    assert some.score.tried == whole.score.tried - len(mutants_of("impl.core.partition"))


@pytest.mark.parametrize("text", [None, "{", "[]", '{"format": "insync.mutants/1"}'])
def test_without_a_score_the_row_says_that_nothing_was_checked(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "score.json"
    if text is not None:
        file.write_text(text)

    with pytest.raises(NoScore, match="insync mutants --all --save-score writes it"):
        kept_score(file)


def test_the_row_of_verify_is_as_good_as_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    names = tuple(str(number) for number in range(10))

    def row(low: float, changed: int) -> Verdict:
        found = KeptScore(MutationScore(9, 10, low, 1.0), names[:changed], names[changed:], 100)
        monkeypatch.setattr("conformance.mutants.kept_score", lambda: found)
        return verify_brokers.mutants_row().verdict

    assert row(verify_brokers.NOTICED, 0) is Verdict.HOLDS
    assert row(verify_brokers.NOTICED, 3) is Verdict.HOLDS
    assert row(verify_brokers.NOTICED - 0.01, 0) is Verdict.BROKEN
    assert row(verify_brokers.NOTICED, 6) is Verdict.NOT_CHECKED


def test_what_is_kept_in_the_tree_can_be_read() -> None:
    kept = kept_score()

    assert 0 <= kept.score.caught <= kept.score.tried < kept.population
    assert kept.score.tried > 0 or kept.changed
    assert kept.population >= 2_500


def test_the_first_of_a_sample_are_a_smaller_sample() -> None:
    population = every()

    assert sample(population, 200, seed=2)[:50] == sample(population, 50, seed=2)


def test_a_story_of_any_system_is_replayed_in_its_release_before_a_mutant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = JUDGES["replayed preferred_election"]
    assert (one.kind, one.judge()) == ("stories of cluster", ("", ""))

    plant(monkeypatch, PartitionMachine._elect_once, "state.leader_epoch + 1", "state.leader_epoch")

    assert one.judge()[0] == "replayed preferred_election"

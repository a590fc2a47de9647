"""The export to TLA+: whole, readable, always the same, and what a grammar of TLA+ accepts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from model.language import (
    ALL,
    BOOL,
    Bound,
    Bounded,
    Enumeration,
    Log,
    Names,
    Numbers,
    ProtocolError,
    Record,
    RecordedSystem,
    Relation,
    SetOf,
    System,
    Version,
    always,
    always_step,
    any_of,
    below,
    budget,
    eventually,
    every,
    how_many,
    implies,
    lam,
    least,
    not_,
    per,
    require,
    sometimes,
    transition,
    when,
)
from model.systems import SYSTEMS
from specs.tla import Export, exported

VARIANTS = [(system, version) for system in SYSTEMS.values() for version in system.versions]
NAMED = [f"{system.name}-{version}" for system, version in VARIANTS]
all_variants = pytest.mark.parametrize(("system", "version"), VARIANTS, ids=NAMED)


made: dict[tuple[str, str | None], Export] = {}


def export_of(system: System, version: str | None = None) -> Export:
    if (system.name, version) not in made:
        made[system.name, version] = exported(system.recorded(version), system.limits({}))
    return made[system.name, version]


def code(text: str) -> str:
    """The module without its comments, its white space evened out."""
    return " ".join(re.sub(r"\\\*[^\n]*", "", text).split())


def comments(text: str) -> str:
    """The text of the comments, as one line."""
    return " ".join(" ".join(re.findall(r"\\\*([^\n]*)", text)).split())


def errors_in(module: str) -> list[str]:
    grammar = pytest.importorskip(
        "tree_sitter_tlaplus", reason="tree-sitter-tlaplus, a grammar of TLA+, is not installed"
    )
    tree_sitter = pytest.importorskip("tree_sitter", reason="tree-sitter is not installed")
    spoken = tree_sitter.Language(grammar.language())
    found: list[str] = []

    def look(node: Any) -> None:
        if node.type == "ERROR" or node.is_missing:
            line = node.start_point[0]
            found.append(f"line {line + 1}: {module.splitlines()[line]}")
        for child in node.children:
            look(child)

    look(tree_sitter.Parser(spoken).parse(module.encode()).root_node)
    return found


# -- every system, every version -------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:int argument support is deprecated:DeprecationWarning")
@all_variants
def test_every_export_is_grammatical(system: System, version: str):
    assert errors_in(export_of(system, version).module) == []


@pytest.mark.filterwarnings("ignore:int argument support is deprecated:DeprecationWarning")
def test_the_grammar_does_find_a_broken_line():
    module = export_of(SYSTEMS["election"]).module

    broken = module.replace("Init ==", "Init == /\\ (", 1)

    assert errors_in(module) == []
    assert errors_in(broken)


@all_variants
def test_there_is_one_action_a_transition_and_next_takes_each_once(system: System, version: str):
    recorded, module = system.recorded(version), export_of(system, version).module

    heads = re.findall(r"^(\w+)(?:\([^)]*\))? ==$", module, re.MULTILINE)
    following = module.split("Next ==")[1].split("Spec ==")[0]

    for step in recorded.steps:
        name = step.transition.name
        assert heads.count(name) == 1
        assert len(re.findall(rf"\b{name}\b", following)) == 1
    assert following.count("\\/ ") == len(recorded.steps)


@all_variants
def test_every_reason_and_every_docstring_is_a_comment(system: System, version: str):
    recorded, module = system.recorded(version), export_of(system, version).module
    said = comments(module)

    for step in recorded.steps:
        assert step.transition.summary in said
        head = re.search(rf"^{step.transition.name}(\([^)]*\))? ==$", module, re.MULTILINE)
        assert head is not None
        action = module[head.end() :].split("\n\n")[0]
        for requirement in step.requires:
            assert requirement.reason in comments(action)


@all_variants
def test_every_claim_is_defined_and_every_always_is_listed(system: System, version: str):
    recorded, made = system.recorded(version), export_of(system, version)
    listed = made.configuration.split("INVARIANTS")[1].split("\n\n")[0].split()

    for claim, _ in recorded.claims.values():
        assert re.search(rf"^{claim.name} ==", made.module, re.MULTILINE)
        assert claim.sentence in comments(made.module)
        assert (claim.name in listed) == (claim.kind == "always")
        if claim.kind == "sometimes":
            assert f"never_{claim.name} == ~{claim.name}" in made.module
            assert f"never_{claim.name}" not in listed
    assert listed[0] == "TypeOK"


@all_variants
def test_each_action_gives_every_variable_a_next_value_once(system: System, version: str):
    made = export_of(system, version)
    variables = made.module.split("\nvars ==")[1].split(">>")[0].replace("<<", "")
    names = [name.strip() for name in variables.split(",")]
    rests = dict(re.findall(r"^(all_but_\w+) ==\s*<<([^>]*)>>", made.module, re.MULTILINE))
    rests["vars"] = ", ".join(names)

    for step in system.recorded(version).steps:
        head = re.search(rf"^{step.transition.name}(\([^)]*\))? ==$", made.module, re.MULTILINE)
        assert head is not None
        action = made.module[head.end() :].split("\n\n")[0]
        written = re.findall(r"/\\ (\w+)' =", action)
        kept = re.findall(r"UNCHANGED (<<[^>]*>>|\w+)", action)
        left = ", ".join(rests.get(one, one.strip("<>")) for one in kept)
        assert sorted([*written, *(n.strip() for n in left.split(",") if n.strip())]) == (
            sorted(names)
        )


@all_variants
def test_two_exports_are_the_same_bytes(system: System, version: str):
    again = exported(system.recorded(version), system.limits({}))

    assert again == export_of(system, version)


@all_variants
def test_no_line_is_wider_than_a_page_and_no_name_of_the_recording_is_left(
    system: System, version: str
):
    module = export_of(system, version).module

    # The command that writes the module again may be longer: it is there to be copied.
    # In these, places are maps in maps, and elections loop over both: a place may be wider.
    page = 160 if system.name in ("cluster", "topics") else 120
    assert [one for one in module.splitlines() if len(one) > page and "insync" not in one] == []
    assert not re.search(r"[$]|#\d|@\d", code(module))


def test_the_order_in_which_systems_were_recorded_does_not_matter():
    script = (
        "import sys; from model.systems import SYSTEMS; from specs.tla import exported\n"
        "for name in sys.argv[1:]:\n"
        "    one = SYSTEMS[name]; text = exported(one.recorded(), one.limits({})).module\n"
        "print(text)"
    )

    alone, after = (_python(script, *names) for names in (
        ["classic"], ["replication", "election", "classic"]))  # fmt: skip

    assert alone == after
    assert "MODULE classic_kip_320" in alone


def _python(script: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


# -- how it reads ----------------------------------------------------------------------------------


def test_an_action_reads_as_its_author_wrote_it():
    module = export_of(SYSTEMS["classic"], "kip_101").module

    assert (
        r"""
\* The true leader drops a follower that is not caught up to the end of its log.
leader_shrinks_isr(leader, follower) ==
    /\ leader # follower              \* a leader never drops itself
    /\ follower \in view[leader].isr  \* the follower is in the leader's ISR
    /\ is_true_leader(leader)         \* the leader is the registered one
    \* the follower is not caught up to the log's end
    /\ ~caught_up(leader, follower, Len(log[leader]))
    /\ view' = [view EXCEPT ![leader].isr = @ \ {follower}]
    /\ quorum' = [quorum EXCEPT !.isr = view[leader].isr \ {follower}]
    /\ UNCHANGED all_but_view_quorum
"""
        in module
    )
    assert "log' = [log EXCEPT ![follower] = Append(@, At(log[leader], Len(@)))]" in module


def test_records_keep_the_names_that_their_author_gave_them():
    module = export_of(SYSTEMS["replication"]).module

    action = module.split("\nfollower_truncates(follower, leader) ==")[1].split("\n\n")[0]

    assert "LET slot == fetch[follower][leader]\n        mine == replica[follower]" in action
    assert '/\\ slot.state = "epoch_is_answered"  \\* the leader answered' in action
    assert "/\\ log' = [log EXCEPT ![follower] = Cut(@, cut)]" in action


def test_no_side_of_a_disjunction_in_an_action_reads_below_the_first_record():
    module = code(export_of(SYSTEMS["classic"], "kip_320_first_try").module)

    # In an action TLC evaluates both sides of a disjunction, whatever the first one says.
    assert r"end # 0 => /\ has(leader, last)" in module


def test_what_goes_beyond_a_bound_is_no_step():
    module = export_of(SYSTEMS["election"]).module

    action = code(module.split("write_is_applied(broker) ==")[1].split("UNCHANGED")[0])

    assert "Within(zk.state_version + 1, MaxWrites)" in action
    assert "Within(" not in code(export_of(SYSTEMS["classic"]).module)  # its capacities are guards


def test_a_budget_without_a_bound_is_no_part_of_the_state():
    recorded = _toy_system().recorded()

    without = exported(recorded, {"brokers": 2, "epoch": 2, "log": 1}).module
    with_it = exported(recorded, {"brokers": 2, "epoch": 2, "log": 1, "crashes": 1}).module

    assert "spent" not in code(without)
    assert "Within(spent + 1, MaxCrashes)" in code(with_it)


# -- a system that uses every word of the notation -------------------------------------------------

BROKERS = Enumeration("broker", "brokers")
EPOCHS = Numbers("epoch", 0, Bounded("epoch"))
OFFSETS = Numbers("offset", 0, Bounded("log", -1))
ENDS = Numbers("end", 0, Bounded("log"))
STATES = Names("state", ("idle", "busy"))


@transition(chosen=SetOf(BROKERS), by=BROKERS)
def broker_chooses(now, new, chosen, by):
    """A broker chooses some others, and all of them become busy."""
    require(chosen.has(by), "it chooses itself")
    require(how_many(BROKERS, lambda one: chosen.has(one)) >= 2, "it chooses two at least")
    require(not_(now.members == chosen), "the choice is new")
    require(every(BROKERS, lambda one: implies(chosen.has(one), now.state[one] == "idle")),
            "all of them are idle")  # fmt: skip

    new.members = chosen
    new.state = lam(BROKERS, lambda one: when(chosen.has(one), "busy", now.state[one]))
    new.seen = now.seen.including(by, now.epoch).without(by, 0)
    new.epoch = now.epoch + 1
    new.spent = now.spent + 1


@transition(one=BROKERS)
def broker_logs(now, new, one):
    """A busy broker writes the epoch to its log, unless the log has it."""
    log = now.log[one]
    first = least(below(OFFSETS, log.end), lambda o: log[o].epoch == now.epoch, otherwise=log.end)
    require(now.state[one] == "busy", "the broker is busy")
    require(any_of(log.end == 0, log[log.end - 1].epoch != now.epoch), "the log has it not")

    new.log[one] = when(first == log.end, log.append(epoch=now.epoch), log.cut(first))
    new.state[one] = "idle"


@transition(one=BROKERS, other=BROKERS)
def broker_copies(now, new, one, other):
    """A broker takes another's log for its own."""
    require(one != other, "the other is another")
    require(now.log[one].end < now.log[other].end, "the other's log is longer")

    new.log[one] = now.log[other]


@transition(one=BROKERS, other=BROKERS)
def broker_copies_and_adds(now, new, one, other):
    """A broker takes another's log for its own, with the epoch at its end."""
    require(one != other, "the other is another")
    require(now.epoch > 0, "it is not the first epoch")

    new.log[one] = now.log[other].append(epoch=now.epoch)


@always("no log is longer than the epochs that were", companion="a_log_grows")
def logs_are_short(now):
    return every(BROKERS, lambda one: now.log[one].end <= now.epoch)


@sometimes("a log has a record")
def a_log_grows(now):
    return not_(every(BROKERS, lambda one: now.log[one].end == 0))


@always_step("no epoch comes back", companion="a_log_grows")
def epochs_never_fall(now, after):
    return after.epoch >= now.epoch


@eventually("somebody is chosen", fair=("broker_chooses",))
def somebody_is_chosen(now):
    return not_(now.members.is_empty())


def _initial(new):
    new.members = ALL


def _toy_system(initial: Any = _initial) -> System:
    state = Record(
        members=SetOf(BROKERS), state=per(BROKERS, STATES), epoch=EPOCHS,
        seen=Relation(BROKERS, EPOCHS), log=per(BROKERS, Log(OFFSETS, ENDS, Record(epoch=EPOCHS))),
        spent=budget("crashes"))  # fmt: skip
    return System(
        name="toy", about="every word", state=state, initial=initial,
        transitions=(broker_chooses, broker_logs, broker_copies, broker_copies_and_adds),
        claims=(logs_are_short, a_log_grows, epochs_never_fall, somebody_is_chosen),
        versions={"1": Version("1", {}, "the only one")}, default_version="1",
        bounds={"brokers": Bound(2, 1, "brokers"), "epoch": Bound(2, 1, "epochs"),
                "log": Bound(1, 1, "records"), "crashes": Bound(None, 0, "faults")})  # fmt: skip


def toy_module(**changed: Any) -> str:
    system = _toy_system(**changed)
    return exported(system.recorded(), system.limits({"crashes": 1})).module


@pytest.mark.filterwarnings("ignore:int argument support is deprecated:DeprecationWarning")
def test_every_word_of_the_notation_has_a_grammatical_form():
    assert errors_in(toy_module()) == []


def test_sets_logs_and_quantifiers_stay_what_they_are():
    module = code(toy_module())

    assert r"\E chosen \in SUBSET Brokers, by \in Brokers : broker_chooses(chosen, by)" in module
    assert r"/\ by \in chosen" in module
    assert "Cardinality(chosen) > 1" in module
    assert "chosen # members" in module
    assert r"\A one \in Brokers : one \in chosen => state[one]" in module
    assert "members' = chosen" in module
    assert r"(seen \cup {<<by, epoch>>}) \ {<<by, 0>>}" in module
    assert "Within(epoch + 1, MaxEpoch)" in module
    assert "IF Len(@) = first THEN Append(@, [epoch |-> epoch]) ELSE Cut(@, first)" in module
    assert "log' = [log EXCEPT ![one] = log[other]]" in module
    assert r"![one] = [position \in 1..(Len(log[other]) + 1) |->" in module
    assert "members = Brokers" in module.split("Init ==")[1].split("==")[0]
    assert "WF_vars(" in module
    assert "=> []<>(members # {})" in module


def test_a_claim_about_steps_is_a_property_and_one_about_the_end_waits_to_be_asked_for():
    system = _toy_system()

    made = exported(system.recorded(), system.limits({}))

    assert "epochs_never_fall == [][epoch <= epoch']_vars" in made.module
    assert "PROPERTIES\n    epochs_never_fall\n" in made.configuration
    assert "\n\\* PROPERTY somebody_is_chosen\n" in made.configuration


def test_what_cannot_be_said_in_tla_is_refused_by_name():
    reserved, only = Record(LET=BOOL), {"1": Version("1", {}, "the only one")}
    system = System(
        name="odd", about="odd", state=reserved, initial=lambda new: None, transitions=(),
        claims=(), versions=only, default_version="1", bounds={})  # fmt: skip

    with pytest.raises(ProtocolError, match="LET is no name in TLA"):
        exported(system.recorded(), {})


# -- symmetry --------------------------------------------------------------------------------------


@transition()
def first_broker_is_chosen(now, new):
    """The first broker is chosen, by its number."""
    require(not_(now.members.has(1)), "it is not chosen yet")

    new.members = now.members.including(1)


def _recorded_with(step: Any) -> RecordedSystem:
    system = System(
        name="small", about="small", state=Record(members=SetOf(BROKERS)),
        initial=lambda new: None, transitions=(step,), claims=(),
        versions={"1": Version("1", {}, "one")}, default_version="1",
        bounds={"brokers": Bound(2, 1, "brokers")})  # fmt: skip
    return system.recorded()


def test_symmetry_makes_brokers_model_values_and_changes_the_configuration_only():
    recorded, limits = SYSTEMS["classic"].recorded(), SYSTEMS["classic"].limits({})

    plain, symmetric = exported(recorded, limits), exported(recorded, limits, symmetry=True)

    assert "Brokers = {b1, b2, b3}" in symmetric.configuration
    assert "SYMMETRY Symmetry" in symmetric.configuration
    assert "SYMMETRY" not in plain.configuration
    assert code(plain.module) == code(symmetric.module)
    assert "Symmetry == Permutations(Brokers)" in plain.module


def test_symmetry_is_refused_where_a_broker_is_named():
    recorded = _recorded_with(first_broker_is_chosen)

    with pytest.raises(ProtocolError, match="names a broker"):
        exported(recorded, {"brokers": 2}, symmetry=True)
    assert "Permutations" not in exported(recorded, {"brokers": 2}).module

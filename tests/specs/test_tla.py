"""The export to TLA+: whole, readable, always the same, and what a grammar of TLA+ accepts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from model.language import System
from model.systems import SYSTEMS
from specs.tla import exported
from tests.specs.exported_tla import (
    code,
    comments,
    errors_in,
    export_of,
    newest_variants,
)

# -- every system, every version -------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:int argument support is deprecated:DeprecationWarning")
@newest_variants
def test_every_export_is_grammatical(system: System, version: str):
    assert errors_in(export_of(system, version).module) == []


@pytest.mark.filterwarnings("ignore:int argument support is deprecated:DeprecationWarning")
def test_the_grammar_does_find_a_broken_line():
    module = export_of(SYSTEMS["election"]).module

    broken = module.replace("Init ==", "Init == /\\ (", 1)

    assert errors_in(module) == []
    assert errors_in(broken)


@newest_variants
def test_there_is_one_action_a_transition_and_next_takes_each_once(system: System, version: str):
    recorded, module = system.recorded(version), export_of(system, version).module

    heads = re.findall(r"^(\w+)(?:\([^)]*\))? ==$", module, re.MULTILINE)
    following = module.split("Next ==")[1].split("Spec ==")[0]

    for step in recorded.steps:
        name = step.transition.name
        assert heads.count(name) == 1
        assert len(re.findall(rf"\b{name}\b", following)) == 1
    assert following.count("\\/ ") == len(recorded.steps)


@newest_variants
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


@newest_variants
def test_every_claim_is_defined_and_every_always_is_listed(system: System, version: str):
    recorded, made = system.recorded(version), export_of(system, version)
    listed = made.configuration.split("INVARIANTS")[1].split("\n\n")[0].split()

    for claim, _ in recorded.claims.values():
        assert re.search(rf"^{claim.name} ==", made.module, re.MULTILINE)
        assert claim.sentence in comments(made.module)
        assert (claim.name in listed) == (claim.kind == "always")
        if claim.kind == "sometimes":
            assert re.search(rf"^never_{claim.name} ==\s+~{claim.name}$", made.module, re.MULTILINE)
            assert f"never_{claim.name}" not in listed
    assert listed[0] == "TypeOK"


@newest_variants
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


@newest_variants
def test_two_exports_are_the_same_bytes(system: System, version: str):
    again = exported(system.recorded(version), system.limits({}))

    assert again == export_of(system, version)


@newest_variants
def test_no_line_is_wider_than_a_page_and_no_name_of_the_recording_is_left(
    system: System, version: str
):
    module = export_of(system, version).module

    # The command that writes the module again may be longer: it is there to be copied.
    # In these, places are maps in maps, and elections loop over both: a place may be wider; and
    # an event of `cluster` is put at the end of a queue that depends on whose watches fire.
    page = {"cluster": 340, "topics": 160}.get(system.name, 120)
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
    assert r"end # 0 => /\ has_record_at(leader, last)" in module


def test_what_goes_beyond_a_bound_is_no_step():
    module = export_of(SYSTEMS["election"]).module

    action = code(module.split("write_is_applied(broker) ==")[1].split("UNCHANGED")[0])

    assert "Within(zk.state_version + 1, MaxWrites)" in action
    assert "Within(" not in code(export_of(SYSTEMS["classic"]).module)  # its capacities are guards

"""`insync surgery`: exit codes, the table, and its JSON."""

from __future__ import annotations

EPOCH = '"/controller_epoch is as it was read"'
SESSION = '"the broker has a session"'


def test_a_guard_that_a_claim_needs_holds(insync):
    result = insync(f"surgery election --guard {EPOCH}")

    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "holds: 1 guards, 1 noticed, 0 marked redundant"


def test_the_json_names_each_guard_and_who_noticed(answer):
    code, payload = answer(f"surgery election --guard {EPOCH}")

    (guard,) = payload["guards"]
    assert (code, payload["format"], payload["verdict"]) == (0, "insync.surgery/1", "holds")
    assert guard["transition"] == "broker_wins_election"
    assert guard["noticed_by"] == "claim"
    assert guard["after"] > 0


def test_a_guard_beyond_max_states_is_unknown(insync):
    result = insync(f"surgery election --guard {SESSION} --max-states 5")

    assert result.exit_code == 2
    assert "unknown: the bound of 5 states is reached" in " ".join(result.stdout.split())

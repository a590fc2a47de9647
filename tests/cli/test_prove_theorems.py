"""`insync prove --all`, and theorems by name: rows with a label of what they are about."""

from __future__ import annotations


def test_a_theorem_is_proved_by_its_name_with_its_label(insync, answer):
    result = insync("prove placement_is_distinct one_write_at_a_time").stdout
    code, found = answer("prove placement_is_distinct one_write_at_a_time")

    claims = {one["claim"]: one for one in found["claims"]}
    assert (code, found["verdict"]) == (0, "holds")
    assert list(claims) == ["placement_is_distinct", "one_write_at_a_time"]
    assert claims["one_write_at_a_time"]["system"] == "election"
    assert claims["placement_is_distinct"]["system"] is None
    assert "the placement without racks, any number of brokers" in result
    assert "given the invariants of single_controller" in result
    assert {one["claim"] for one in found["obligations"]} == set(claims)


def test_a_theorem_stands_beside_a_claim_that_is_proved_by_induction(answer):
    code, found = answer("prove single_controller placement_is_balanced --solver both")

    assert code == 0
    assert [one["claim"] for one in found["claims"]] == [
        "single_controller", "placement_is_balanced",
    ]  # fmt: skip
    answers = [set(one["result"]) for one in found["obligations"]]
    assert {"z3", "cvc5"} in answers

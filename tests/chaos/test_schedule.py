from __future__ import annotations

from conformance.chaos.schedule import KINDS, faults


def test_faults_follow_from_the_seed_whatever_their_number():
    few, many = list(faults(5, 7, 3)), list(faults(400, 7, 3))

    assert many[:5] == few
    assert list(faults(5, 8, 3)) != few
    assert {one.kind for one in many} == set(KINDS)
    assert {one.broker for one in many} == {1, 2, 3}


def test_only_what_is_named_befalls():
    found = list(faults(50, 1, 2, ("cut", "slow")))

    assert {one.kind for one in found} == {"cut", "slow"}
    assert all(one.delay_ms > 0 for one in found if one.kind == "slow")

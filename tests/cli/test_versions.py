"""`insync versions`: the table is the model's own, and so is what it says can be written."""

from __future__ import annotations

from model.systems import SYSTEMS
from model.versions import RELEASES, SWITCHES


def test_every_release_and_switch_of_the_model_is_listed(answer):
    code, found = answer("versions")

    assert code == 0
    assert {one["name"]: one["switches"] for one in found["releases"]} == {
        name: switches for name, (_, switches) in RELEASES.items()
    }
    assert [one["name"] for one in found["switches"]] == list(SWITCHES)
    assert all(one["source"] for one in found["switches"])


def test_a_switch_names_the_systems_that_use_it(answer):
    _, found = answer("versions")

    users = {one["name"]: one["systems"] for one in found["switches"]}
    assert "election" in users["zk_writes_fenced"]
    assert users["truncation"] == ["replication"]


def test_every_system_lists_its_versions_and_bounds(answer):
    _, found = answer("versions")

    listed = {one["name"]: one for one in found["systems"]}
    assert list(listed) == list(SYSTEMS)
    for name, system in SYSTEMS.items():
        assert [one["name"] for one in listed[name]["versions"]] == list(system.versions)
        assert [
            (one["name"], one["default"], one["least"], one["what"])
            for one in listed[name]["bounds"]
        ] == [(name, one.default, one.least, one.what) for name, one in system.bounds.items()]


def test_the_table_shows_sources_defaults_and_claims(insync):
    told = insync("versions").stdout

    assert "KAFKA-6082 (2.1)" in told
    assert "version kip_320 (default): everything is fenced by the leader epoch (2.1)" in told
    assert "versions: the releases (default 2.3)" in told
    assert "claims: strong_isr, weak_isr" in told
    assert [name for name in [*RELEASES, *SWITCHES, *SYSTEMS] if name not in told] == []

"""Fingerprints: the same counts and the same bugs, and never a green verdict."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from conformance.cli import main
from model.language import ProtocolError
from model.systems import system
from specs.exploration import Exploration
from specs.explorer import explore
from specs.native.fingerprints import missed
from specs.verdict import Verdict


def visits(name: str, version: str | None = None, **options: object) -> list[Exploration]:
    chosen = system(name)
    return [
        explore(chosen.recorded(version), chosen.limits({}), fingerprints=kind, **options)  # type: ignore[arg-type]
        for kind in (False, True)
    ]


@pytest.mark.parametrize(
    ("name", "version"),
    [("classic", "kip_101"), ("classic", "kip_320"), ("election", "2.3"), ("election", "0.10")],
)
@pytest.mark.parametrize("symmetry", [False, True])
def test_counts_and_coverage_are_those_of_states(name: str, version: str, symmetry: bool) -> None:
    exact, hashed = visits(name, version, symmetry=symmetry)

    assert hashed.levels == exact.levels
    assert (hashed.generated, hashed.dead_ends) == (exact.generated, exact.dead_ends)
    assert (hashed.fired, hashed.pruned) == (exact.fired, exact.pruned)
    assert hashed.unseen_refusals == exact.unseen_refusals


def test_what_is_found_is_real_and_its_run_is_the_same() -> None:
    exact, hashed = visits("classic", "kip_101")
    settled = [name for name, one in exact.claims.items() if one.depth is not None]

    runs = [[one.run(name) for name in settled] for one in (exact, hashed)]

    assert "strong_isr" in settled
    assert runs[0] == runs[1]
    assert hashed.claims["strong_isr"].verdict is Verdict.BROKEN


def test_what_is_not_found_is_unknown_with_the_chance_that_it_was_missed() -> None:
    _, hashed = visits("classic", "kip_320")
    result = hashed.claims["strong_isr"]

    assert (hashed.complete, result.verdict) == (False, Verdict.UNKNOWN)
    assert result.why == (
        "fingerprints: among 39,619 states one was taken for another with a probability of at "
        "most 4.3e-11"
    )


def test_the_bound_on_collisions_is_that_of_birthdays() -> None:
    assert missed(1) == 0.0
    assert missed(2) == 1 / 2**64
    assert missed(2**33) == 1.0


def test_the_command_never_says_exhaustive_and_never_ends_with_0() -> None:
    result = CliRunner().invoke(main, ["explore", "classic", "--fingerprints"])

    assert result.exit_code == 2
    assert "exhaustive" not in result.stdout.lower()
    assert "probability of at most" in result.stdout
    assert " complete\n" not in result.stdout.replace("not complete", "")


def test_limits_end_it_after_a_whole_level() -> None:
    exact, hashed = visits("classic", "kip_320", max_states=5000)

    assert hashed.levels == exact.levels
    assert hashed.stopped == "the bound of 5000 states is reached"


def test_it_takes_less_memory_a_state() -> None:
    exact, hashed = visits("election", "0.10")

    assert hashed.engine.bytes_per_state is not None
    assert exact.engine.bytes_per_state is not None
    assert hashed.engine.bytes_per_state < exact.engine.bytes_per_state


def test_plain_python_has_none() -> None:
    with pytest.raises(ProtocolError, match="the python engine has no fingerprints"):
        visits("classic", engine="python")


def test_no_checkpoint_and_no_histogram_without_states(tmp_path) -> None:
    chosen = system("classic")

    with pytest.raises(ProtocolError, match="leave the checkpoint out"):
        explore(chosen.recorded(), chosen.limits({}), fingerprints=True, checkpoint=tmp_path / "c")
    result = CliRunner().invoke(main, ["explore", "classic", "--fingerprints", "--field-values"])
    assert (result.exit_code, "write one of --field-values, --fingerprints" in result.stderr) == (
        64,
        True,
    )

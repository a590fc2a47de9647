"""Machine code needs nothing that an old processor lacks: made for one, it is as good."""

from __future__ import annotations

import platform

import llvmlite.binding as llvm
import pytest

from model.classic import SYSTEM as CLASSIC
from model.replication import SYSTEM as REPLICATION
from specs.explorer import explore


@pytest.mark.skipif(platform.machine() != "x86_64", reason="is about processors of this family")
@pytest.mark.parametrize(
    ("system", "bounds", "symmetry"),
    [
        (CLASSIC, {"log": 2, "records": 2, "epoch": 1}, False),
        (CLASSIC, {"log": 2, "records": 2, "epoch": 1}, True),
        pytest.param(
            REPLICATION,
            {"crashes": 0, "expiries": 0, "epoch": 1, "versions": 1},
            True,
            marks=pytest.mark.deep,
        ),
    ],
    ids=["classic", "classic, modulo symmetry", "replication, modulo symmetry"],
)
def test_code_for_the_first_64_bit_processor_visits_the_same_states(
    system, bounds, symmetry, monkeypatch, tmp_path
):
    limits = system.limits(bounds)
    own = explore(system.recorded(), limits, symmetry=symmetry)

    monkeypatch.setenv("INSYNC_CACHE", str(tmp_path))
    monkeypatch.setattr(llvm, "get_host_cpu_name", lambda: "x86-64")
    monkeypatch.setattr(llvm, "get_host_cpu_features", llvm.FeatureMap)
    old = explore(system.recorded(), limits, symmetry=symmetry)

    assert list(tmp_path.rglob("*.o"))
    assert (old.distinct, old.generated, old.claims) == (own.distinct, own.generated, own.claims)

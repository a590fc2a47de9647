"""The benchmark of the lock-step runs, and tells each figure."""

from __future__ import annotations

import json

import pytest

from conformance.mapping import MAPPED
from tests.bench.lockstep import WALKED, main


def test_a_quick_run_tells_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--quick", "--json", "-"])

    reported = json.loads(capsys.readouterr().out)
    assert (code, reported["missed"]) == (0, [])
    assert [one["what"] for one in reported["figures"]] == [
        "seeded", "watched", "hypothesis", *(f"steps of {name}" for name in WALKED),
        *(f"edges of {name}" for name in MAPPED),
    ]  # fmt: skip
    assert all(one["counted"] > 0 and one["per_cpu_s"] > 0 for one in reported["figures"])

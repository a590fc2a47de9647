"""A search that is stopped, and what it left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from model.classic import SYSTEM as CLASSIC
from model.language import ProtocolError, RecordedSystem
from specs.explorer import explore
from specs.rendering import as_data
from tests.native.test_agreement import common

KIP_101 = CLASSIC.limits({"log": 1})
WHOLE = 12_217
"""States of kip_101 with logs of one record."""


def visited(
    folder: Path | None,
    recorded: RecordedSystem | None = None,
    bounds: dict[str, int] | None = None,
    **more: Any,
) -> dict[str, Any]:
    found = explore(
        recorded or CLASSIC.recorded("kip_101"), bounds or KIP_101, checkpoint=folder, **more
    )
    return common(as_data(found))


def refused(folder: Path, *given: Any, **more: Any) -> str:
    with pytest.raises(ProtocolError) as error:
        visited(folder, *given, **more)
    message = str(error.value)
    assert "\n" not in message
    return message

"""Imports the library kio without hypothesis, which kio would load for its own tests.

Loading hypothesis would delay the start of a broker by a third of a second.
"""

from __future__ import annotations

import sys


def _import_kio() -> None:
    if "hypothesis" in sys.modules:
        import kio.static.primitive
    else:
        sys.modules["hypothesis"] = None  # type: ignore[assignment]  # as if it were not installed
        try:
            import kio.static.primitive  # noqa: F401
        finally:
            del sys.modules["hypothesis"]


_import_kio()

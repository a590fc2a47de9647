"""The library kio, imported without hypothesis, which it would load for its own tests.

Whoever starts a broker would wait a third of a second longer for what brokers never use.
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

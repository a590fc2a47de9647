"""Whether a file is one of columns: its first bytes say so, and no library is loaded."""

from __future__ import annotations

from pathlib import Path

ARROW, PARQUET = b"ARROW1", b"PAR1"
FORMS = {"arrow": ARROW, "parquet": PARQUET}
"""Form, and ending of a file's name -> how its bytes begin."""

MARK = b"insync.columns/"
LOOKED_AT = 1 << 20
"""Bytes where the mark is: at the beginning of an Arrow file, at the end of a Parquet file."""


def form_of(path: str | Path) -> bytes | None:
    """How the file begins, if it is of one of the forms."""
    try:
        with open(path, "rb") as file:
            head = file.read(8)
    except OSError:
        return None
    return next((magic for magic in FORMS.values() if head.startswith(magic)), None)


def is_columns(path: str | Path) -> bool:
    """A run in columns. A Parquet file that is cut off has lost its mark: its name tells then."""
    form = form_of(path)
    if form is None:
        return False
    with open(path, "rb") as file:
        if form == ARROW:
            return MARK in file.read(LOOKED_AT)
        end = file.seek(0, 2)
        file.seek(max(0, end - LOOKED_AT))
        tail = file.read()
    return MARK in tail or (not tail.endswith(PARQUET) and Path(path).suffix == ".parquet")

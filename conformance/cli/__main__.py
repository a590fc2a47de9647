"""Runs the command line as `python -m conformance.cli`, for the launcher."""

import errno
import os
import sys

from conformance.cli.common import OUTPUT_FAILED, OutputFailedError
from conformance.cli.interrupts import INTERRUPTED, interrupts
from conformance.cli.main import main


def run() -> None:
    """The command line as a process of its own: it takes Ctrl-C for all that it starts."""
    _occupy_closed_streams()
    try:
        interrupts.install()
        main()
    except KeyboardInterrupt:  # it came while the end of the command was being settled
        interrupts.report()
        sys.exit(INTERRUPTED)


def _occupy_closed_streams() -> None:
    """Started as `insync … >&-`: the next file that is opened must not become standard output."""
    closed = sys.stdout is None
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - to the very end
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the least number that is free
    if closed:
        OutputFailedError(OSError(errno.EBADF, "is closed")).show()
        sys.exit(OUTPUT_FAILED)


if __name__ == "__main__":
    run()

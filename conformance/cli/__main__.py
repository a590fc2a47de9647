"""Lets `python -m conformance.cli` stand for `insync`; the launcher calls it so."""

from conformance.cli.interrupts import interrupts
from conformance.cli.main import main


def run() -> None:
    """The command line as a process of its own: it takes Ctrl-C for all that it starts."""
    interrupts.install()
    main()


if __name__ == "__main__":
    run()

"""Lets `python -m conformance.cli` stand for `insync`; the launcher calls it so."""

from conformance.cli.main import main

main()

"""The command line, `insync`. Each command lives in a module of its own and is loaded when used."""

from conformance.cli.main import main

__all__ = ["main"]

"""Runs one broker as a process.

    python -m impl.server BROKER.properties --version 2.3 --logs FOLDER

SIGTERM and SIGINT stop it cleanly. Exit codes: 0 after a clean stop, 1 if it cannot start (one line
says why), 64 for wrong usage.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path

from impl.disk import FillableDisk, Locked, RealDisk
from impl.log.errors import StorageError
from impl.log.meta_properties import InconsistentBrokerId, InconsistentClusterId
from impl.releases import DEFAULT, Release
from impl.server.broker import Broker
from impl.server.properties import WrongProperties, read_properties
from impl.zookeeper.errors import ZooKeeperError

WRONG_USE = 64


class _Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        print(f"impl.server: {message}; see --help", file=sys.stderr)
        raise SystemExit(WRONG_USE)


def main(arguments: list[str]) -> int:
    """Run a broker until it is stopped."""
    parser = _Arguments(prog="python -m impl.server", description="Run one broker.")
    parser.add_argument("properties", type=Path, help="its properties file, with Kafka's names")
    parser.add_argument("--version", default=DEFAULT, help="the release that it behaves like")
    parser.add_argument("--logs", type=Path, required=True, help="folder for server.log and others")
    parser.add_argument("--request-log", action="store_true", help="write kafka-request.log too")
    parser.add_argument("--trace", type=Path, help="folder to trace into what the broker does")
    parser.add_argument(
        "--full-marker", type=Path, metavar="FILE",
        help="while FILE is there, the directory whose name is in it has no space left",
    )  # fmt: skip
    given = parser.parse_args(arguments)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    try:
        config = read_properties(given.properties, Release.of(given.version))
        disk = RealDisk() if given.full_marker is None else FillableDisk(given.full_marker)
        broker = Broker(config, given.logs, given.request_log, given.trace, disk)
    except WrongProperties as error:
        print(f"impl.server: {error}", file=sys.stderr)
        return WRONG_USE
    except (
        ValueError, OSError, Locked, StorageError, ZooKeeperError, ImportError,
        InconsistentBrokerId, InconsistentClusterId,
    ) as error:  # fmt: skip
        print(f"impl.server: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    ended.wait()
    broker.stop()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

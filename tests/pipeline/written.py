"""Logs written by hand for the tests: a clock, three loggers, and the folders of brokers."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from conformance.cli.check import check
from conformance.ingest.files import discover
from conformance.pipeline.local import LocalEngine
from conformance.pipeline.report import check_result

REALLOGS = Path(__file__).parents[3] / "shared" / "reallogs"

STATE = "state.change.logger"
CONTROLLER = "kafka.controller.KafkaController"
THREAD = "kafka.controller.ControllerEventManager$ControllerEventThread"
SERVER = "kafka.server.KafkaServer"
PARTITION = "kafka.cluster.Partition"
ZK = "kafka.zk.KafkaZkClient"


def line(second: int, message: str, logger: str = STATE, level: str = "INFO") -> str:
    """A line stamped so many seconds after ten o'clock."""
    stamp = f"2024-03-01 {10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02},000"
    return f"[{stamp}] {level} {message} ({logger})"


def elected(second: int, broker: int, epoch: int, version: int | None = None) -> str:
    return line(
        second,
        f"[Controller id={broker}] {broker} successfully elected as the controller. Epoch "
        f"incremented to {epoch} and epoch zk version is now {version or epoch}",
        CONTROLLER,
    )


def changed(
    second: int,
    writer: tuple[int, int],
    leader: int,
    epoch: int,
    isr: str,
    frm: str = "OnlinePartition",
    tp: str = "orders-0",
) -> str:
    controller, controller_epoch = writer
    return line(
        second,
        f"[Controller id={controller} epoch={controller_epoch}] Changed partition {tp} from {frm} "
        f"to OnlinePartition with state LeaderAndIsr(leader={leader}, leaderEpoch={epoch}, "
        f"isr=List({isr}), zkVersion={epoch})",
    )


def obeys(second: int, broker: int, controller: int, epoch: int) -> str:
    return line(
        second,
        f"[Broker id={broker}] Add 1 partitions and deleted 0 partitions from metadata cache in "
        f"response to UpdateMetadata request sent by controller {controller} epoch {epoch} with "
        f"correlation id 3",
    )


def leads(second: int, broker: int, epoch: int, before: int, tp: str = "orders-0") -> str:
    return line(
        second,
        f"[Broker id={broker}] Leader {tp} starts at leader epoch {epoch} from offset 9 with high "
        f"watermark 9 ISR [{broker}] addingReplicas [] removingReplicas []. Previous leader epoch "
        f"was {before}.",
    )


def starting(second: int, broker: int) -> list[str]:
    return [
        line(second, "starting", SERVER),
        line(second, f"[KafkaServer id={broker}] started", SERVER),
    ]


def write(folder: Path, files: Mapping[str, Iterable[str]]) -> Path:
    """Write files by their names; `.gz` in a name compresses."""
    for name, lines in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = "".join(f"{each}\n" for each in lines).encode()
        path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    return folder


def checked(*paths: Path) -> dict[str, Any]:
    """The result of a check without Spark."""
    found = discover([str(path) for path in paths])
    engine = LocalEngine()
    corpus = engine.ingest(found, None)
    return check_result([corpus], engine.judge(corpus))


def state(tmp_path: Path, *lines: str, **others: list[str]) -> dict[str, Any]:
    """The check of one broker's state-change.log, and of files named like `b1__controller`."""
    files = {"b1/state-change.log": list(lines)}
    files |= {f"{name.replace('__', '/')}.log": more for name, more in others.items()}
    return checked(write(tmp_path, files))


def violations(result: dict[str, Any]) -> list[tuple[str, str, int]]:
    """Rule, file name and line of every violation."""
    return _of(result, "violation")


def incomplete(result: dict[str, Any]) -> list[tuple[str, str, int]]:
    """The same of every finding that is incomplete."""
    return _of(result, "incomplete")


def _of(result: dict[str, Any], kind: str) -> list[tuple[str, str, int]]:
    return [
        (finding["rule"], Path(finding["file"]).name, finding["line"])
        for finding in result["findings"]
        if finding["kind"] == kind
    ]


def run_check(*arguments: str) -> Result:
    """The command itself, without Spark."""
    return CliRunner().invoke(check, [*arguments, "--engine", "local"])


def json_of(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def five_wrong(size: int, partitions: int = 20) -> list[str]:
    """So many lines about so many partitions, of which five are wrong."""
    lines = [elected(0, 1, 9)]
    for n in range(1, size):
        state = (1, 9), 1, n // partitions, "1,2"
        about = f"orders-{n % partitions}"
        lines.append(obeys(n // 50, 2, 1, 9) if n % 2 else changed(n // 50, *state, tp=about))
    for place in (int(share * size) for share in (0.09, 0.25, 0.41, 0.7, 0.95)):
        state = (1, 9), 3, place // partitions, "1,2"
        lines[place] = changed(place // 50, *state, tp="other-0")
    return lines

"""How long each task of a Spark run took, from the event log that Spark writes of itself."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any


@dataclass
class StageTasks:
    """The tasks of one stage: their seconds, and the bytes that they wrote to be shuffled."""

    job: str
    seconds: list[float] = field(default_factory=list)
    shuffled: int = 0

    def as_json(self) -> dict[str, Any]:
        """The figures of the stage; `ratio` is the longest task by the median of all."""
        return {
            "job": self.job,
            "tasks": len(self.seconds),
            "longest_s": max(self.seconds),
            "median_s": median(self.seconds),
            "ratio": max(self.seconds) / max(median(self.seconds), 0.001),
            "total_s": sum(self.seconds),
            "shuffled_bytes": self.shuffled,
        }


def settings(folder: Path) -> str:
    """The lines of a spark-defaults.conf that make Spark write the log into `folder`."""
    return (
        "spark.eventLog.enabled true\n"
        f"spark.eventLog.dir file://{folder.resolve()}\n"
        "spark.eventLog.compress false\n"
        "spark.eventLog.rolling.enabled false\n"
    )


def stages(folder: Path) -> list[StageTasks]:
    """The stages that the newest log in `folder` tells of, in order."""
    (log,) = [path for path in folder.iterdir() if path.is_file()]
    jobs: dict[int, str] = {}
    found: dict[int, StageTasks] = defaultdict(lambda: StageTasks(""))
    for line in log.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event["Event"] == "SparkListenerStageSubmitted":
            said = event.get("Properties") or {}
            jobs[event["Stage Info"]["Stage ID"]] = said.get("spark.job.description", "")
        elif event["Event"] == "SparkListenerTaskEnd":
            stage = found[event["Stage ID"]]
            task = event["Task Info"]
            stage.seconds.append((task["Finish Time"] - task["Launch Time"]) / 1000)
            written = (event.get("Task Metrics") or {}).get("Shuffle Write Metrics", {})
            stage.shuffled += written.get("Shuffle Bytes Written", 0)
    for number, stage in found.items():
        stage.job = jobs.get(number, "")
    return [found[number] for number in sorted(found)]

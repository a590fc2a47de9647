"""A cluster whose controller writes its logs, and the lines that are in them."""

from __future__ import annotations

import re
from pathlib import Path

from impl.core.controller_parts import ControllerConfig
from impl.releases import Release
from impl.server.controller_lines import ControllerLines
from impl.server.log4j_files import CONTROLLER, Log4jFiles
from tests.impl.controller.controlled import ControlledCluster

LINE = re.compile(r"\[[^]]*\] (\w+) (.*) \((\S+)\)")


class LoggedCluster(ControlledCluster):
    """Brokers 1 to 3, ``t`` of one partition, and broker 1 as the controller, of epoch 1."""

    def __init__(self, folder: Path, release: str, *replicas: int, deletes: bool = True) -> None:
        self.folder = folder
        self.files = Log4jFiles(folder, 1, Release.of(release))
        config, lines = ControllerConfig(delete_topics=deletes), ControllerLines(self.files)
        super().__init__(release, replicas, config=config, journal=lines)

    def text(self, file: str) -> list[str]:
        """A file, line by line."""
        return (self.folder / file).read_text(encoding="utf-8").splitlines()

    def lines(self, file: str = CONTROLLER) -> list[tuple[str, str, str]]:
        """Level, message and logger of each line of controller.log, or of another file."""
        found = filter(None, map(LINE.fullmatch, self.text(file)))
        return [(one[1], one[2], one[3]) for one in found]

    def thrown(self, file: str) -> list[str]:
        """The lines of a file that are no log lines: what was thrown."""
        return [line for line in self.text(file) if LINE.fullmatch(line) is None]

"""How Kafka's admin tools end when they fail: the stream, the first words, the exit code.

Arguments that make no sense are usage: a line on standard error and exit code 1, in every release
(``CommandLineUtils.printUsageAndDie``). What fails at work is another matter, by tool and release.
Source: TopicCommand, ReassignPartitionsCommand, PreferredReplicaLeaderElectionCommand,
LeaderElectionCommand.
"""

from __future__ import annotations

from dataclasses import dataclass

from impl.admin.errors import AdminError, BrokerRefused, TerseReassignmentFailure
from impl.releases import Release

USAGE = 1
"""The exit code of ``printUsageAndDie``, and of an uncaught exception."""


@dataclass(frozen=True, slots=True)
class FailureOutput:
    """``before`` is printed before the message; ``traces``: the exception's own line follows.

    ``is_caught``: what the tool prints itself goes to standard output; what ends its main thread
    goes to standard error, by the name of the exception.
    """

    before: str = ""
    code: int = 1
    is_caught: bool = True
    traces: bool = False
    says_why: bool = True
    names_refusals: bool = False
    on_stderr: bool = False

    def lines(self, error: AdminError) -> list[str]:
        """What is printed for an error."""
        cause = error.__cause__
        because = (
            [f"Caused by: {cause.java_class}: {cause}"] if isinstance(cause, AdminError) else []
        )
        if not self.is_caught:
            return [f'Exception in thread "main" {error.java_class}: {error}', *because]
        if isinstance(error, TerseReassignmentFailure):
            return [str(error)]
        if self.names_refusals and isinstance(error, BrokerRefused):
            return [f"{self.before}{error.java_class}: {error}"]
        shown = [f"{self.before}{error}" if self.says_why else self.before]
        return [*shown, f"{error.java_class}: {error}", *because] if self.traces else shown


CONFIGS = FailureOutput(on_stderr=True)
"""kafka-configs prints an error alone, on standard error (ConfigCommand)."""


def of_topics(release: Release) -> FailureOutput:
    """Up to 2.6 what a broker refused is printed with the name of its exception."""
    before = "Error while executing topic command : "
    return FailureOutput(before, names_refusals=not release.since("2.7"))


def of_reassignments(release: Release) -> FailureOutput:
    """Up to 2.5 the tool says that it failed, and exits with 0."""
    if release.since("2.6"):
        return FailureOutput("Error: ", traces=True)
    return FailureOutput("Partitions reassignment failed due to ", 0, traces=True)


def of_elections(release: Release) -> FailureOutput:
    """Up to 2.1 the tool says that it failed, and exits with 0; since 2.2 the exception ends it."""
    if release.since("2.2"):
        return FailureOutput(is_caught=False)
    return FailureOutput(
        "Failed to start preferred replica election", 0, traces=True, says_why=False
    )


def unrecognized(option: str) -> str:
    """What the parser's exception says of an option that a release does not know."""
    what = f"{option} is not a recognized option"
    return f'Exception in thread "main" joptsimple.UnrecognizedOptionException: {what}'


def nobody_answers(release: Release) -> str:
    """What a tool ends with where no ZooKeeper answers, by the client that it has (1.1)."""
    if release.since("1.1"):
        why = "Timed out waiting for connection while in state: CONNECTING"
        thrown = f"kafka.zookeeper.ZooKeeperClientTimeoutException: {why}"
    else:
        why = "Unable to connect to zookeeper server within timeout: 30000"
        thrown = f"org.I0Itec.zkclient.exception.ZkTimeoutException: {why}"
    return f'Exception in thread "main" {thrown}'

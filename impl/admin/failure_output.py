"""The output of Kafka's admin tools when they fail: the stream, the first words, the exit code.

Invalid arguments print the usage: a line on standard error and exit code 1, in every release
(``CommandLineUtils.printUsageAndDie``). Other failures differ by tool and release.
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

    ``is_caught``: the tool prints the error to standard output; otherwise the exception ends its
    main thread and is printed to standard error with its name.
    """

    before: str = ""
    code: int = 1
    is_caught: bool = True
    traces: bool = False
    says_why: bool = True
    names_refusals: bool = False
    on_stderr: bool = False

    def lines(self, error: AdminError) -> list[str]:
        """The printed lines for an error."""
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
    """Up to 2.6 a broker's error is printed with the name of its exception."""
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
    """The message of the parser's exception for an option that a release does not know."""
    what = f"{option} is not a recognized option"
    return f'Exception in thread "main" joptsimple.UnrecognizedOptionException: {what}'


def no_zookeeper_answers(release: Release) -> str:
    """The tool's failure if no ZooKeeper answers, by its ZooKeeper client (1.1)."""
    if release.since("1.1"):
        why = "Timed out waiting for connection while in state: CONNECTING"
        thrown = f"kafka.zookeeper.ZooKeeperClientTimeoutException: {why}"
    else:
        why = "Unable to connect to zookeeper server within timeout: 30000"
        thrown = f"org.I0Itec.zkclient.exception.ZkTimeoutException: {why}"
    return f'Exception in thread "main" {thrown}'

"""ZooKeeper's errors, by ZooKeeper's names (``KeeperException.Code``)."""

from __future__ import annotations


class ZooKeeperError(Exception):
    """An operation that ZooKeeper refused; ``code`` is the number in its wire protocol.

    Errors are compared by value: two with the same content are equal.
    """

    code = -1

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.args == other.args

    def __hash__(self) -> int:
        return hash((type(self), self.args))


class NoNode(ZooKeeperError):
    """The znode (or the parent of a znode to be created) does not exist."""

    code = -101


class NoChildrenForEphemerals(ZooKeeperError):
    """A child was to be created below an ephemeral znode."""

    code = -108


class BadVersion(ZooKeeperError):
    """The expected version is not the data version of the znode."""

    code = -103


class NodeExists(ZooKeeperError):
    """The znode to be created exists already."""

    code = -110


class NotEmpty(ZooKeeperError):
    """A znode with children was to be deleted."""

    code = -111


class SessionExpired(ZooKeeperError):
    """The session of the caller is over; its ephemeral znodes are gone."""

    code = -112


class RuntimeInconsistency(ZooKeeperError):
    """An operation of a multi after the failed one: it was not tried."""

    code = -2


class RolledBack(ZooKeeperError):
    """An operation of a multi before the failed one: it succeeded, and was undone (code 0)."""

    code = 0


class ConnectionLoss(ZooKeeperError):
    """The connection broke before the response arrived: the write may or may not be done."""

    code = -4


class NoAuth(ZooKeeperError):
    """The ACL of the znode does not let this client do it."""

    code = -102


class BadArguments(ZooKeeperError):
    """An invalid operation for the path, such as deleting ``/``."""

    code = -8


class Unimplemented(ZooKeeperError):
    """An operation that the server's release does not know."""

    code = -6


BY_CODE: dict[int, type[ZooKeeperError]] = {
    error.code: error
    for error in (
        NoNode, NoChildrenForEphemerals, BadVersion, NodeExists, NotEmpty, SessionExpired,
        RuntimeInconsistency, RolledBack, ConnectionLoss, NoAuth, BadArguments,
        Unimplemented,
    )
}  # fmt: skip
"""The errors by their numbers, for who reads them from a wire."""

"""One-shot watches of the embedded ZooKeeper (``DataTree``'s two watch managers).

``get`` and ``exists`` (also of a missing znode) set a data watch; ``children`` sets a child watch.
A watch is removed when it fires. A session has at most one watch of each kind on a path.
"""

from __future__ import annotations

from impl.zookeeper.znode import EventType, WatchEvent, parent_of

SavedTable = tuple[tuple[str, tuple[int, ...]], ...]
SavedWatches = tuple[SavedTable, SavedTable, tuple[tuple[int, tuple[WatchEvent, ...]], ...]]

Change = tuple[EventType, str]
"""What a write did to one znode: created, deleted, or its data changed."""


class Watches:
    """The watches that sessions have set, and the events that each has not taken yet."""

    def __init__(self) -> None:
        self.data: dict[str, set[int]] = {}
        self.children: dict[str, set[int]] = {}
        self.pending: dict[int, list[WatchEvent]] = {}

    def watch_data(self, path: str, session: int) -> None:
        """Watch for the next change of the znode itself."""
        self.data.setdefault(path, set()).add(session)

    def watch_children(self, path: str, session: int) -> None:
        """Watch for the next created or deleted child, or for the znode's deletion."""
        self.children.setdefault(path, set()).add(session)

    def fire(self, changes: list[Change]) -> None:
        """Notify for the changes of one transaction, in their order.

        A session that watches both the data and the children of a deleted znode is notified once.
        For a created or deleted znode, the watchers of its parent's children are notified after its
        own.
        """
        if not self.data and not self.children:
            return
        for kind, path in changes:
            reported = self._fire(self.data, kind, path, frozenset())
            if kind is EventType.DELETED:
                self._fire(self.children, kind, path, reported)
            if kind is not EventType.DATA_CHANGED:
                parent = parent_of(path)
                self._fire(self.children, EventType.CHILDREN_CHANGED, parent, frozenset())

    def _fire(
        self, table: dict[str, set[int]], kind: EventType, path: str, reported: frozenset[int]
    ) -> frozenset[int]:
        waiting = table.pop(path, None)
        if waiting is None:
            return frozenset()
        for session in sorted(waiting - reported):
            self.pending.setdefault(session, []).append(WatchEvent(kind, path))
        return frozenset(waiting)

    def take(self, session: int) -> list[WatchEvent]:
        """Take the session's notifications in order; each is returned once."""
        return self.pending.pop(session, [])

    def forget(self, session: int) -> None:
        """Drop the watches and notifications of a session that is over."""
        self.pending.pop(session, None)
        for table in (self.data, self.children):
            for path in [path for path, waiting in table.items() if session in waiting]:
                table[path].discard(session)
                if not table[path]:
                    del table[path]

    # Plain data

    def save(self) -> SavedWatches:
        """Everything, as an immutable value."""
        pending = tuple((session, tuple(events)) for session, events in self.pending.items())
        return _saved(self.data), _saved(self.children), tuple(sorted(pending, key=_first))

    def load(self, saved: SavedWatches) -> None:
        """Restore what `save` returned."""
        data, children, pending = saved
        self.data = {path: set(sessions) for path, sessions in data}
        self.children = {path: set(sessions) for path, sessions in children}
        self.pending = {session: list(events) for session, events in pending}


def _saved(table: dict[str, set[int]]) -> SavedTable:
    return tuple((path, tuple(sorted(table[path]))) for path in sorted(table))


def _first(entry: tuple[int, tuple[WatchEvent, ...]]) -> int:
    return entry[0]

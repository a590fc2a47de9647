"""Draws a state as lanes: ZooKeeper, controllers, each broker with its log, clients.

The schema of the system determines the lanes. Fields under `zk` or without a key belong to
ZooKeeper and the world; fields whose key is one broker belong to that broker, or to the controllers
if they are a controller's memory; fields with more keys are knowledge of others, and are shown only
while they have a value. What is drawn as an arrow between lanes is in no lane.
"""

from __future__ import annotations

from typing import Any

from conformance.web.in_flight import CLIENTS, CONTROLLERS, SHOWN, ZOOKEEPER
from model.language.evaluate import Evaluator, SparseState
from model.language.schema import Field
from model.language.sorts import BOOL, Enumeration
from specs.state_text import keys_of, log_of, place_of, plain, text
from specs.story.leaves import value_of

Index = tuple[int, ...]

_OF_CONTROLLERS = frozenset({"belief", "campaign", "reply_lost", "cache", "kept", "read"})
_OF_CLIENTS = frozenset({"next_record", "acks", "acknowledged", "read", "read_differed"})
Rows = dict[str, dict[str, Any]]
Cut = dict[str, dict[int, dict[str, Any]]]
"""What is no longer in a log: by broker and offset, the record that stood there."""


class Picture:
    """Draws the states of one system."""

    def __init__(self, twin: Evaluator) -> None:
        self.twin = twin
        self.fields = twin.recorded.fields
        brokers = [
            sort
            for leaf in self.fields.values()
            for sort in leaf.dims[:1]
            if isinstance(sort, Enumeration)
        ]
        self.brokers = list(brokers[0].domain(twin.bounds)) if brokers else []
        self.sort = brokers[0] if brokers else None
        self.system = twin.recorded.system.name
        self.lanes = [ZOOKEEPER, CONTROLLERS, *map(str, self.brokers), CLIENTS]
        self._last: list[tuple[SparseState, dict[str, Rows]]] = []  # along a run, the two last

    def of(
        self, state: SparseState, before: SparseState | None = None, cut: Cut | None = None
    ) -> dict[str, Any]:
        """The lanes; `changed` marks what a step from `before` has changed.

        `cut`: what logs have lost on the way here, which is drawn as a ghost where it stood.
        """
        rows = self._rows(state)
        old = rows if before is None else self._rows(before)
        lanes: dict[str, Any] = {
            "lanes": self.lanes, "zookeeper": [], "world": [], "clients": [],
            "controllers": {str(b): [] for b in self.brokers},
            "brokers": {str(b): [] for b in self.brokers}, "flight": {},
        }  # fmt: skip
        for name, here in rows.items():
            was = old[name]
            for path, row in here.items():
                changed = here is not was and (path not in was or was[path]["text"] != row["text"])
                self._place(lanes, path, row, changed)
        lanes["flight"] = list(lanes["flight"].values())
        lanes["logs"] = self.logs(state)
        older = self.logs(before) if before is not None else {}
        for broker, log in lanes["logs"].items():
            was = older.get(broker, log)["records"]
            log["new"] = [
                offset for offset, record in enumerate(log["records"])
                if offset >= len(was) or was[offset] != record
            ]  # fmt: skip
            gone = (cut or {}).get(broker, {})
            log["cut"] = [
                {"offset": offset, "record": gone[offset],
                 "now": offset < len(was) and was[offset] == gone[offset]}
                for offset in sorted(gone)
            ]  # fmt: skip
        lanes["badges"] = {str(broker): self._badge(state, broker) for broker in self.brokers}
        lanes["committed"] = self._read(state, "committed.end", ()) or 0
        return lanes

    # -- rows -------------------------------------------------------------------------------------

    def _rows(self, state: SparseState) -> dict[str, Rows]:
        """By field, then by path: a leaf's value as text, its keys, and whether it is blank.

        A field that a step leaves alone keeps its rows.
        """
        for known, found in self._last:
            if known is state:
                return found
        last, kept = self._last[-1] if self._last else ({}, {})
        rows: dict[str, Rows] = {}
        for leaf in self.fields.values():
            if log_of(self.fields, leaf) is not None or leaf.budget is not None:
                continue
            if leaf.name.partition(".")[0] in SHOWN.get(self.system, ()):
                continue
            same = leaf.name in kept and last.get(leaf.name) is state.get(leaf.name)
            rows[leaf.name] = kept[leaf.name] if same else self._rows_of(leaf, state)
        self._last = [*self._last[-1:], (state, rows)]
        return rows

    def _rows_of(self, leaf: Field, state: SparseState) -> Rows:
        rows: Rows = {}
        keep = keys_of(self.fields, leaf)
        first, _, rest = leaf.name.partition(".")
        for keys in self._keys(leaf, state, keep):
            value = value_of(self.twin, leaf, keys, state)
            shown = [sort.show(k) for sort, k in zip(leaf.dims, keys, strict=False)]
            rows[place_of(self.fields, leaf, keys).path] = {
                "part": first, "name": rest or first, "keys": shown,
                "sorts": [sort.name for sort in leaf.dims[:keep]],
                "text": text(value, is_set=leaf.set_from is not None),
                "blank": value in (None, [], False, 0, "none", "idle"),
                "ghost": leaf.ghost,
            }  # fmt: skip
        return rows

    def _keys(self, leaf: Field, state: SparseState, keep: int) -> list[Index]:
        if all(isinstance(sort, Enumeration) for sort in leaf.dims[:keep]):
            found: list[Index] = [()]
            for sort in leaf.dims[:keep]:
                domain = sort.domain(self.twin.bounds)
                found = [(*index, part) for index in found for part in domain]
            return found
        return sorted({index[:keep] for index in state.get(leaf.name, {})})

    def _place(self, lanes: dict[str, Any], path: str, row: dict[str, Any], changed: bool) -> None:
        keys, part = row["keys"], row["part"]
        shown = {
            "path": path, "name": row["name"], "part": part, "text": row["text"],
            "changed": changed, "ghost": row["ghost"],
        }  # fmt: skip
        if part in _OF_CLIENTS and (not keys or row["sorts"][0] != self._broker_name):
            if keys and row["blank"] and not changed:
                return
            shown["name"] = shown["part"] = path
            lanes["clients"].append(shown)
        elif not keys:
            lanes["zookeeper" if part in ("zk", "quorum") else "world"].append(shown)
        elif len(keys) == 1 and row["sorts"][0] == self._broker_name:
            if row["blank"] and not changed:
                return
            of = "controllers" if part in _OF_CONTROLLERS else "brokers"
            lanes[of][keys[0]].append(shown)
        elif not row["blank"] or changed:
            self._add_message(lanes["flight"], shown, keys, row["sorts"])

    @staticmethod
    def _add_message(
        flight: dict[tuple[str, ...], Any], shown: dict[str, Any], keys: list[str], sorts: list[str]
    ) -> None:
        """What stands under the same keys is one message."""
        same = flight.setdefault(
            (shown["part"], *keys),
            {"part": shown["part"], "keys": keys, "sorts": sorts, "values": [], "changed": False},
        )
        name = "" if shown["name"] == shown["part"] else shown["name"]
        same["values"].append({"name": name, "text": shown["text"], "changed": shown["changed"]})
        same["changed"] = same["changed"] or shown["changed"]

    @property
    def _broker_name(self) -> str:
        return self.sort.name if self.sort is not None else ""

    # -- logs and badges --------------------------------------------------------------------------

    def logs(self, state: SparseState) -> dict[str, dict[str, Any]]:
        """By broker: its records in order of offset, and its high watermark; none without logs."""
        if "log.end" not in self.fields or len(self.fields["log.end"].dims) != 1:
            return {}
        return {str(broker): self._log(state, broker) for broker in self.brokers}

    def cut(self, before: SparseState, state: SparseState, known: Cut) -> Cut:
        """Records that logs lost so far, by broker and offset; a new record replaces a lost one.

        `known` is the same for the state before.
        """
        if "log.end" not in self.fields or all(
            state.get(name) is before.get(name) for name in self.fields if name.startswith("log.")
        ):
            return known
        was, now = self.logs(before), self.logs(state)
        found = {}
        for broker, log in now.items():
            end, records = len(log["records"]), was[broker]["records"]
            lost = {**known.get(broker, {}), **dict(enumerate(records))}
            found[broker] = {offset: one for offset, one in lost.items() if offset >= end}
        return found

    def _log(self, state: SparseState, broker: int) -> dict[str, Any]:
        end = self._read(state, "log.end", (broker,)) or 0
        parts = [leaf for leaf in self.fields.values() if leaf.log == "log"]
        records = [
            {
                leaf.name.removeprefix("log.at."): plain(
                    leaf.sort, self.twin.read(state, leaf.name, (broker, offset))
                )
                for leaf in parts
            }
            for offset in range(end)
        ]
        hw = next(
            (
                self._read(state, name, (broker,))
                for name in ("replica.hw", "view.hw", "hw")
                if name in self.fields
            ),
            None,
        )
        return {"records": records, "hw": hw}

    def _badge(self, state: SparseState, broker: int) -> dict[str, Any]:
        """What ZooKeeper says of a broker, and what the broker believes of itself."""
        role = self._read(state, "replica.role", (broker,))
        if "view.leader" in self.fields:  # `classic`: who presumes to lead follows itself
            followed = self._read(state, "view.leader", (broker,))
            role = "leader" if followed == broker else "none" if followed is None else "follower"
        registered = [self._read(state, name, ()) for name in ("zk.leader", "quorum.leader")]
        return {
            "up": self._boolean(state, ("up",), broker),
            "registered": self._boolean(state, ("zk.registered", "session"), broker),
            "controls": self._read(state, "zk.controller", ()) == broker,
            "believes": self._believes(state, broker),
            "leads": broker in registered,
            "role": role,
        }

    def _believes(self, state: SparseState, broker: int) -> bool | None:
        for name in ("belief.held", "belief"):
            if name in self.fields:
                return bool(self._read(state, name, (broker,)))
        return None

    def _boolean(self, state: SparseState, names: tuple[str, ...], broker: int) -> bool | None:
        for name in names:
            leaf = self.fields.get(name)
            if leaf is not None and len(leaf.dims) == 1 and leaf.sort is BOOL:
                return bool(self.twin.read(state, name, (broker,)))
        return None

    def _read(self, state: SparseState, name: str, keys: Index) -> Any:
        leaf = self.fields.get(name)
        if leaf is None or len(leaf.dims) != len(keys):
            return None
        return plain(leaf.sort, self.twin.read(state, name, keys))

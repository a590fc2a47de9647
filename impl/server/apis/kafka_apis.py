"""Dispatch of each request to its handler (``KafkaApis.handle``).

A response holds the fields of all its versions; the encoder writes those of the requested version.
A request that cannot be decoded closes the connection, as in Kafka: after a wrong frame nothing
that follows can be trusted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from impl.server.apis import admin, brokers, groups, offsets, produce_and_fetch, topics
from impl.server.apis.api_request import ApiRequest, BrokerParts, CloseConnection, no_throttle
from impl.server.apis.versions import newest, offered
from impl.wire import (
    API_VERSIONS,
    Fields,
    Header,
    Malformed,
    Request,
    UnknownVersion,
    api_name,
    decode_body,
    decode_header,
    encode_response,
    error_code,
)

Handler = Callable[[ApiRequest], Fields | None]

HANDLERS: dict[str, Handler] = {
    "Produce": produce_and_fetch.produce,
    "Fetch": produce_and_fetch.fetch,
    "ListOffsets": offsets.list_offsets,
    "OffsetForLeaderEpoch": offsets.offset_for_leader_epoch,
    "DeleteRecords": offsets.delete_records,
    "InitProducerId": produce_and_fetch.init_producer_id,
    "Metadata": topics.metadata,
    **groups.HANDLERS,
    **admin.HANDLERS,
    **brokers.HANDLERS,
}


class KafkaApis:
    """Dispatches the requests of one broker. ``answer`` may be called by any thread."""

    def __init__(self, shared: BrokerParts) -> None:
        self.shared = shared
        self.release = shared.release

    def answer(self, frame: bytes, host: str) -> list[Any] | None:
        """The response to a frame, in pieces; None if there is none to send. CloseConnection."""
        try:
            header, at = self._header(frame)
            latest = newest(header.key, self.release)
            if latest is None or not 0 <= header.version <= latest:
                if header.key == API_VERSIONS:
                    return self._versions(header, "UNSUPPORTED_VERSION")
                raise CloseConnection(f"{_named(header)} is not offered by {self.release}")
            request = decode_body(frame, header, at)
        except Malformed as error:
            raise CloseConnection(str(error)) from error
        return self._handled(request, host)

    def _header(self, frame: bytes) -> tuple[Header, int]:
        """The header, and where the body begins, which nobody reads of an unknown version."""
        try:
            return decode_header(frame)
        except UnknownVersion as error:
            return error.header, len(frame)

    def _handled(self, request: Request, host: str) -> list[Any] | None:
        header = request.header
        name = api_name(header.key)
        head = {"api": name, "version": header.version, "client_id": header.client_id or "",
                "correlation": header.correlation}  # fmt: skip
        self.shared.request_received(head)
        if header.key == API_VERSIONS:
            return self._versions(header, "NONE")
        asked = ApiRequest(self.shared, header, request.body, host)
        trace = self.shared.replicas.trace
        if trace is None:
            reply = HANDLERS[name](asked)
        else:
            with trace.on_behalf_of(head):
                reply = HANDLERS[name](asked)
        if reply is None:
            return None
        return encode_response(header.key, header.version, header.correlation, reply)

    def _versions(self, header: Header, error: str) -> list[Any]:
        """A client that asks in a version which is not known here is answered in version 0."""
        readable = error == "NONE" or self.release.since("2.4")  # KIP-511: which version to ask in
        known = [
            Fields(api_key=key, min_version=oldest, max_version=latest)
            for key, oldest, latest in offered(self.release)
            if readable and (error == "NONE" or key == API_VERSIONS)
        ]
        reply = Fields(
            error_code=error_code(error), api_keys=known, throttle_time=no_throttle(),
            supported_features=(), finalized_features_epoch=-1, finalized_features=(),
            zk_migration_ready=False,
        )  # fmt: skip
        version = header.version if error == "NONE" else 0
        return encode_response(API_VERSIONS, version, header.correlation, reply)


def _named(header: Header) -> str:
    return f"{api_name(header.key)} version {header.version}"

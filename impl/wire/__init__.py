"""Kafka's protocol as bytes: frames, headers, and messages of any API in any version.

``kio`` defines the messages (0.6.2: later versions dropped those between brokers). This package
finds them by API key and version, with their headers, and leaves record batches as bytes. It uses
no socket and no broker, so a proxy can use it as a broker does.
"""

import impl.wire.kio_without_hypothesis  # first: it imports kio as brokers need it  # noqa: F401
from impl.wire.frames import FrameTooLarge, frames_in, size_of
from impl.wire.messages import (
    API_VERSIONS,
    Fields,
    Header,
    Malformed,
    Request,
    Response,
    UnknownApi,
    UnknownVersion,
    api_key,
    api_name,
    decode_body,
    decode_header,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    error_code,
    error_name,
    versions_of,
)

__all__ = [
    "API_VERSIONS",
    "Fields",
    "FrameTooLarge",
    "Header",
    "Malformed",
    "Request",
    "Response",
    "UnknownApi",
    "UnknownVersion",
    "api_key",
    "api_name",
    "decode_body",
    "decode_header",
    "decode_request",
    "decode_response",
    "encode_request",
    "encode_response",
    "error_code",
    "error_name",
    "frames_in",
    "size_of",
    "versions_of",
]

"""Reads bytes as lines: plain or compressed, UTF-8 or UTF-16, up to the first damaged byte."""

from __future__ import annotations

import bz2
import codecs
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any

import pyarrow as pa

CHUNK = 1 << 20
LONGEST = 1 << 20  # characters; a longer line is cut, and the parser rejects it
EMPTY = "is empty; a log has lines"
BINARY = "is binary; a log is text, plain or packed by gzip, bzip2, xz, zstd or lz4"
PACKED = re.compile(r"\.(?:gz|bz2|xz|zst|lz4)$")
"""Ends of names by which log4j, logrotate and those who ship logs call packed files."""
_MAGIC = {
    "gzip": b"\x1f\x8b",
    "bzip2": b"BZh",
    "xz": b"\xfd7zXZ\0",
    "zstd": b"\x28\xb5\x2f\xfd",
    "lz4": b"\x04\x22\x4d\x18",
}
_MEMBERS: dict[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.decompressobj(wbits=31),
    "bzip2": bz2.BZ2Decompressor,
    "xz": lzma.LZMADecompressor,
}
_WHOLE = 6  # bytes that tell how a file is packed
_STAMP = re.compile(rb"(?:^|[\n\0])\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class UnreadableError(Exception):
    """Nothing can be read from this file; the message says why."""


class DamagedError(Exception):
    """The file could be read only up to here; the message says why."""


def lines_of(path: str) -> Iterator[str]:
    """The lines of a file without their ends, in order.

    A line longer than `LONGEST` is cut to one character more than that, so that it can be
    reported. Bytes that are not text become U+FFFD. Raises UnreadableError before the first line,
    DamagedError after the last complete one.
    """
    yield from split(_text(bytes_of(path)))


def bytes_of(path: str, *, checked: bool = True) -> Iterator[bytes]:
    """The bytes of a file's text, decompressed if necessary, in pieces.

    The checksums of a compressed file are checked first, unless `checked` is false. Raises
    UnreadableError before the first piece, DamagedError after the last good one.
    """
    try:
        with open(path, "rb") as file:
            yield from _bytes(file, checked)
    except OSError as error:
        raise UnreadableError(why_closed(error)) from error


def is_binary(head: bytes) -> bool:
    """Whether a file begins with NUL bytes and has no stamped line among them.

    A file system that lost power may leave a block of NUL bytes in a log, which is still a log.
    """
    return b"\0" in head and _STAMP.search(head) is None


def without_nuls(line: str) -> str:
    """A line without the NUL bytes in it: the text after the last of them, if it is stamped.

    Otherwise the text before the first one, if there is any: the text between is lost, and the
    two ends may belong to two lines.
    """
    first, last = line.partition("\0")[0], line.rpartition("\0")[2]
    return last if last.startswith("[") else first or line.replace("\0", "")


def is_packed(path: str) -> bool:
    """Whether a file is compressed. Raises UnreadableError."""
    try:
        with open(path, "rb") as file:
            return _packing(file.read(_WHOLE)) is not None
    except OSError as error:
        raise UnreadableError(why_closed(error)) from error


def _packing(first: bytes) -> str | None:
    return next((name for name, magic in _MAGIC.items() if first.startswith(magic)), None)


def why_closed(error: OSError) -> str:
    """Why a file or folder cannot be opened, and what would be right."""
    reason = (error.strerror or str(error)).lower()
    if isinstance(error, PermissionError):
        return f"{reason}; make it readable, or run as someone who may read it"
    return f"{reason}; name a log file that can be opened"


def head_of(path: str, limit: int = 1 << 16) -> str:
    """The first characters of a file, to identify it. Raises UnreadableError."""
    found = ""
    try:
        for piece in _text(bytes_of(path, checked=False)):
            found += piece
            if len(found) >= limit:
                break
    except DamagedError:
        pass
    return found[:limit].replace("\r\n", "\n")


def _bytes(file: IO[bytes], checked: bool) -> Iterator[bytes]:
    first = file.read(CHUNK)
    if not first:
        raise UnreadableError(EMPTY)
    if _packing(first) is not None:
        sound, error = _sound(first, file) if checked else (None, None)
        file.seek(0)
        yield from _inflated(file.read(CHUNK), file, sound)
        if error is not None:
            raise error
        return
    while first:
        yield first
        first = file.read(CHUNK)


def _sound(first: bytes, file: IO[bytes]) -> tuple[int | None, DamagedError | None]:
    """How many bytes of a compressed file's text are reliable, None for all; and why no more.

    A wrong byte changes text long before a checksum fails, or never stops the decoder: so a part
    (a gzip member) with a wrong checksum is not used at all. A part that only ends too early is.
    """
    size = good = 0
    try:
        for piece, ends in _members(first, file):
            size += len(piece)
            good = size if ends else good
    except DamagedError as error:
        cut = isinstance(error, _CutError)
        return (size if cut else good), error
    return None, None


def _inflated(data: bytes, file: IO[bytes], sound: int | None) -> Iterator[bytes]:
    """The reliable bytes."""
    some = False
    left = sound
    try:
        for piece, _ in _members(data, file):
            part = piece if left is None else piece[:left]
            left = None if left is None else left - len(part)
            if part:
                some = True
                yield part
            if left == 0:
                return
    except DamagedError:
        return
    if not some and sound is None:
        raise UnreadableError(EMPTY)


class _CutError(DamagedError):
    """A compressed file ends too early; the data before its end is right."""


def _members(data: bytes, file: IO[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Every byte before the damage, which Python's modules would hold back.

    Each piece comes with whether a member with a right checksum ends with it.
    """
    name = _packing(data)
    assert name is not None, "what is packed begins with a mark"
    if name not in _MEMBERS:
        yield from _frames(name, file)
        return
    magic, member = _MAGIC[name], _MEMBERS[name]()
    while data or not getattr(member, "needs_input", True):
        try:
            out = member.decompress(data, CHUNK)
        except (zlib.error, lzma.LZMAError, OSError) as error:
            raise DamagedError(f"{name} is damaged ({error})") from error
        if out or member.eof:
            yield out, member.eof
        if member.eof:
            data = member.unused_data.lstrip(b"\0") or file.read(CHUNK)
            if data and not data.startswith(magic[: len(data)]):
                raise DamagedError(f"{name} is followed by something that is not {name}")
            if not data:
                return
            member = _MEMBERS[name]()
        elif getattr(member, "needs_input", True):
            data = getattr(member, "unconsumed_tail", b"") or file.read(CHUNK)
        else:
            data = b""  # it holds what it was given
    left = member.flush() if hasattr(member, "flush") else b""  # zlib may hold back output
    if left:
        yield left, member.eof
    if not member.eof:
        raise _CutError(f"{name} ends too early")


def _frames(name: str, file: IO[bytes]) -> Iterator[tuple[bytes, bool]]:
    """The same with Arrow's decoders, which report damage and an early end by one error."""
    with pa.input_stream(file.name, compression=name) as stream:
        while True:
            try:
                out = stream.read(CHUNK)
            except OSError as error:
                if "Truncated" in str(error):
                    raise _CutError(f"{name} ends too early") from error
                raise DamagedError(f"{name} is damaged ({error})") from error
            if not out:
                return
            yield out, False  # a frame's checksum comes after all of it, if it has one


def text(chunks: Iterator[bytes], begins: bool = True) -> Iterator[str]:
    """Bytes as text: in the encoding of the byte order mark if there is one, else in UTF-8.

    `begins` is false for a later part of a file. Raises UnreadableError for binary data.
    """
    if begins:
        yield from _text(chunks)
        return
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for chunk in chunks:
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def _text(chunks: Iterator[bytes]) -> Iterator[str]:
    first = next(chunks, b"")
    encoding = next((name for mark, name in _MARKS if first.startswith(mark)), "utf-8")
    if encoding != "utf-16" and is_binary(first):
        raise UnreadableError(BINARY)
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    yield decoder.decode(first)
    for chunk in chunks:
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def split(pieces: Iterator[str]) -> Iterator[str]:
    """Splits a text that arrives in pieces into lines.

    Lines end at a line feed only: other separators occur inside messages.
    """
    rest, skipping = "", False
    while True:
        try:
            piece = next(pieces, None)
        except DamagedError:
            if rest and not skipping:
                yield rest  # cut by the damage; the parser makes of it what it can
            raise
        if piece is None:
            break
        *whole, last = piece.split("\n")
        if whole:
            if not skipping:
                yield _cut(rest + whole[0])
            if "\r" in piece or len(piece) > LONGEST:
                yield from map(_cut, whole[1:])
            else:
                yield from whole[1:]
            rest, skipping = last, False
        elif not skipping:
            rest += last
        if len(rest) > LONGEST and not skipping:
            yield rest[: LONGEST + 1]
            rest, skipping = "", True
        elif skipping:
            rest = ""
    if rest and not skipping:
        yield _cut(rest)


def _cut(line: str) -> str:
    line = line.removesuffix("\r")
    return line if len(line) <= LONGEST else line[: LONGEST + 1]

"""``/config``: configurations of topics, brokers, clients and users, and change notifications."""

from __future__ import annotations

from collections.abc import Mapping

from impl.releases import Release
from impl.znodes import paths
from impl.znodes.text import ZnodeFields, write


def encode_config(config: Mapping[str, str]) -> str:
    """The text of ``/config/topics/T`` and its like."""
    return write({"version": 1, "config": dict(config)})


def decode_config(entity_type: str, name: str, text: str) -> dict[str, str]:
    """The configs in a text; an empty text has none. MalformedZnode names the wrong part."""
    if not text:
        return {}
    return ZnodeFields.of(paths.config(entity_type, name), text, range(1, 2)).string_map("config")


def config_change_version(release: Release) -> int:
    """1 up to 0.10.0, then 2."""
    return 2 if release.since("0.10.1") else 1


def encode_config_change(entity_type: str, name: str, version: int = 2) -> str:
    """The text of a notification; ValueError for an unknown version."""
    if version == 1:
        return write({"version": 1, "entity_type": entity_type, "entity_name": name})
    if version != 2:
        raise ValueError(f"no config change of version {version}; there are 1 and 2")
    return write({"version": 2, "entity_path": f"{entity_type}/{name}"})


def decode_config_change(path: str, text: str) -> tuple[str, str]:
    """Type and name of the entity whose config changed; MalformedZnode names the wrong part."""
    reader = ZnodeFields.of(path, text, range(1, 3))
    if reader.whole("version") == 1:
        return reader.string("entity_type"), reader.string("entity_name")
    entity_type, slash, name = reader.string("entity_path").partition("/")
    if not slash:
        raise reader.wrong("entity_path", f"is {entity_type!r}, not such as topics/T")
    return entity_type, name

"""Every release that Kafka published from 0.10.0 to 2.8 is a name that is understood."""

from __future__ import annotations

import pytest

from impl.releases import PUBLISHED, Release


@pytest.mark.parametrize("line", PUBLISHED)
def test_a_line_and_each_of_its_patches_are_releases(line: str) -> None:
    for name in (line, *(f"{line}.{patch}" for patch in range(PUBLISHED[line] + 1))):
        assert Release.published(name).since(line)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0.9.0", "from 0.10.0 to 2.8"),
        ("3.0", "from 0.10.0 to 2.8"),
        ("2.3.7", "2.3 ends with 2.3.1"),
        ("2.3.1.1", "2.3 ends with 2.3.1"),
        ("0.10.2.3", "0.10.2 ends with 0.10.2.2"),
        ("two", "looks like"),
    ],
)
def test_what_was_not_published_is_refused_with_what_was(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Release.published(text)


def test_short_names_mean_the_last_of_their_line() -> None:
    assert Release.published("0.10") == Release.of("0.10.2")
    assert Release.published("0.11").since("0.11")
    assert not Release.published("0.10.1").since("0.10.2")


def test_a_lines_name_has_what_its_last_patch_mended() -> None:
    assert [Release.of(name).since("2.0.1") for name in ("2.0.0", "2.0", "2.0.1")] == [
        False, True, True,
    ]  # fmt: skip
    assert str(Release.of("2.0")) == "2.0"

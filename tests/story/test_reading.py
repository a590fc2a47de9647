"""Stories that cannot be read: the file, the line, the word, and the nearest right one."""

from __future__ import annotations

import pytest

from impl.releases import PUBLISHED
from model.language import ProtocolError
from specs.story import StoryError, parse, read_story
from specs.story.heading import heading_line, read_heading

ELECTION = "system election version 2.3 brokers 2\n"
CLASSIC = "system classic brokers 3 log 2 records 2 epoch 1\n"


def refusal(text: str) -> str:
    with pytest.raises(StoryError) as refused:
        parse(text, "a.story")
    return str(refused.value)


def line_refused(line: str, opening: str = ELECTION) -> str:
    return refusal(f"# A title.\n{opening}{line}\n----\n")


def test_comments_blank_lines_and_scenes_are_distinguished():
    story = parse(
        "# A title.\n# Shows: something.\n\n" + ELECTION + "\n"
        "broker_connects broker=1   # a remark\n----\n"
        "broker_connects(broker=1)\n    session[1]: false → true\n\n"
        "# And then:\ncheck single_writer\n----\nsingle_writer: holds\n\n# The end.\n"
    )

    assert story.title == "A title."
    assert [[one.label or one.what for one in scene.commands] for scene in story.scenes] == [
        ["broker_connects(broker=1)"],
        ["single_writer"],
    ]
    assert story.scenes[0].output == ["broker_connects(broker=1)", "    session[1]: false → true"]
    assert story.scenes[1].output == ["single_writer: holds"]
    assert story.tail == ["", "# The end."]


def test_a_text_without_a_line_has_nothing_to_play():
    assert parse("").commands == []
    assert parse("# Only a comment.\n").heading is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("broker_conects broker=1", ["a.story:3", "'broker_conects'", "'broker_connects'"]),
        ("chek single_writer", ["'chek'", "did you mean 'check'"]),
        ("broker_connects brokers=1", ["parameter of broker_connects 'brokers'", "'broker'"]),
        ("broker_connects 1", ["'1' has no name", "write: broker_connects broker=…"]),
        ("broker_connects", ["broker_connects also needs broker=…"]),
        ("broker_connects broker=1 broker=2", ["broker is given twice"]),
        ("broker_connects broker=7", ["no broker 7 (broker=7)", "one of: 1, 2"]),
        ("broker_connects broker=none", ["no broker none", "one of: 1, 2"]),
        ("broker_handles_request broker=1 sender=1 epoch=x", ["epoch=x", "no controller epoch"]),
        ("broker_handles_request broker=1 sender=1 epoch=0", ["epoch=0", "a number from 1 on"]),
        ("check single_writr", ["claim of election 'single_writr'", "'single_writer'"]),
        ("check single_writer now", ["check takes one claim", "'now' is too much"]),
        ("show zk.epok", ["field of election 'zk.epok'", "did you mean 'zk.epoch'"]),
        ("show zkk", ["field of election 'zkk'", "did you mean 'zk'"]),
        ("show zk..epoch", ["'zk..epoch' is no field", "replica[2].isr"]),
        ("same start", ["nothing is marked start above", "`mark start`"]),
        ("quietly", ["quietly what?", "write: quietly STEP"]),
        ("refused broker_conects broker=1", ["unknown step of election", "'broker_connects'"]),
    ],
)
def test_a_wrong_word_is_named_with_its_line_and_the_nearest_right_one(line, words):
    reported = line_refused(line)

    assert [word for word in ["a.story:3: ", *words] if word not in reported] == []


@pytest.mark.parametrize(
    ("opening", "words"),
    [
        ("broker_connects broker=1", ["a story begins with its system", "system replication"]),
        ("system", ["a story begins with its system"]),
        ("system elections", ["unknown system 'elections'", "'election'"]),
        ("system election version 2.33", ["version of election '2.33'", "'2.3'"]),
        ("system election broker 2", ["'broker'", "did you mean 'brokers'"]),
        ("system election brokers two", ["brokers two", "not a whole number"]),
        ("system election brokers 0", ["brokers=0 is too small"]),
        ("system election brokers", ["'brokers' has no value"]),
        ("system election without zk_write_fenced", ["'zk_write_fenced'", "'zk_writes_fenced'"]),
        ("system replication without truncation", ["truncation is one of hw", "truncation=hw"]),
        ("system replication with truncation=kip", ["value of truncation 'kip'", "kip_101"]),
        ("system replication with truncation", ["with SWITCH=VALUE"]),
    ],
)
def test_a_wrong_first_line_says_what_is_right(opening, words):
    reported = refusal(f"# A title.\n{opening}\n")

    assert [word for word in ["a.story:2: ", *words] if word not in reported] == []


def test_a_step_of_another_version_is_not_merely_unknown():
    reported = line_refused("leader_advances_hw leader=1", CLASSIC)

    assert reported.endswith(
        "classic kip_320 has no step leader_advances_hw: versions hw_truncation, kip_101, kip_279 "
        "have it; the nearest here is fenced_leader_raises_hw"
    )


def test_a_step_that_only_a_thrown_switch_brings_is_reported():
    opening = "system replication version 2.3 brokers 2\n"

    reported = line_refused(
        "broker_fails_while_becoming_follower broker=1 epoch=1 controller=1", opening
    )

    assert (
        "replication 2.3 has no step broker_fails_while_becoming_follower: no version has it as it "
        "is" in reported
    )


def test_two_switches_of_the_first_line_that_do_not_go_together_are_named_with_the_reason():
    reported = refusal("# A title.\nsystem replication version 2.3 with truncation=hw\n")

    assert reported.startswith(
        "a.story:2: fetch_fencing=true does not go with truncation=hw: KIP-320"
    )


def test_switches_of_the_first_line_are_thrown():
    story = parse(
        "system replication version 2.3 without fetch_fencing with truncation=kip_101 brokers 3\n"
    )

    assert story.heading is not None
    assert story.heading.recorded.without == {"fetch_fencing": False, "truncation": "kip_101"}


def test_a_scene_without_its_rule_is_refused_at_its_last_line():
    reported = refusal(ELECTION + "broker_connects broker=1\n\n# so it ends\n")

    assert reported.startswith("a.story:2: no ---- stands below this line")


def test_a_rule_with_nothing_above_it_is_refused():
    assert refusal(ELECTION + "----\n").startswith("a.story:2: nothing to play stands above")


@pytest.mark.parametrize(
    "line", ["----", "broker_connects broker=2", "check single_writer", "quietly x", "a_step"]
)
def test_a_line_to_play_is_never_taken_for_old_output(line):
    reported = refusal(
        ELECTION + f"broker_connects broker=1\n----\nbroker_connects(broker=1)\n{line}\n"
    )

    assert reported.startswith(f"a.story:5: '{line.split()[0]}")
    assert "leave a blank line above" in reported


def test_a_byte_order_mark_is_no_word(tmp_path):
    path = tmp_path / "x.story"
    path.write_bytes(b"\xef\xbb\xbfsystem election\r\n")

    assert read_story(path).heading is not None


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "x.story"
    path.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(StoryError, match=r"x\.story:1: is not text"):
        read_story(path)


@pytest.mark.parametrize("given", ["without {}", "with {}=false"])
def test_a_switch_is_known_by_the_name_that_it_had_before(given):
    heading = read_heading(f"system cluster version 2.3 {given.format('leaving_leader_is_told')}")

    assert heading.recorded.without == {"leaving_leader_is_notified": False}


@pytest.mark.parametrize("name", ["cluster", "election", "reassignment", "replication", "topics"])
def test_each_release_that_kafka_published_is_a_version_that_a_story_names(name: str):
    names = [
        f"{line}{patch}" for line, last in PUBLISHED.items()
        for patch in ("", *(f".{number}" for number in range(last + 1)))
    ]  # fmt: skip
    refused = []
    for text in names:
        try:
            read_heading(f"system {name} version {text}")
        except ProtocolError:
            refused.append(text)

    assert refused == []


@pytest.mark.parametrize(
    ("version", "is_called"),
    [
        ("2.3.1", "2.3"),
        ("0.10.2.1", "0.10"),
        ("0.10.0", "0.10 without waits_for_dead_targets"),
        ("2.2", "2.3 without dead_replicas_taken_offline"),
    ],
)
def test_another_name_of_a_release_is_that_release_with_what_differs(version: str, is_called: str):
    heading = read_heading(f"system reassignment version {version} brokers 2")

    assert heading_line(heading.recorded, {}) == f"system reassignment version {is_called}"

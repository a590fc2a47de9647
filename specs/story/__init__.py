"""Stories: text files in the protocol's terms, played on the model and compared with a recording.

    # A deposed leader tries to shrink the ISR with a stale version.
    # Shows: the conditional write fences it, and that it does not notice.
    system replication version 2.3 brokers 3

    quietly session_expires broker=1      # a step without output
    refused leader_shrinks_isr leader=1 replica=3
    check no_message_loss
    ----
    refused leader_shrinks_isr(leader=1, replica=3)
        the cached version is current — false (replica[1].zk_version 1, zk.version 2)
    no_message_loss: holds

The lines to play are above each `----`; the output is below it, up to a blank line. Every step is
looked up in the recorded system, so that a story has only steps of the model.
"""

from specs.story.compose import story_from_run
from specs.story.play import StoryOutcome, play
from specs.story.read import Story, StoryError, parse, read_story
from specs.story.rerecord import difference, rerecorded

__all__ = [
    "StoryOutcome",
    "Story",
    "StoryError",
    "difference",
    "parse",
    "play",
    "read_story",
    "rerecorded",
    "story_from_run",
]

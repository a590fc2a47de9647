"""Kafka's rules as plain Python functions: what a step decides, restated without any state.

No transition uses them: they are not part of the model. Two things do:

- `conformance.rules` compares the implementation with `answers`, `elections`, `epoch_cache`,
  `moves`, `placement`, `request_versions` and `topic_names` for every small input.
- `conformance.vectors` answers cases of Kafka's behaviour with them where no transition decides.
  Each such answer says so, and is not counted as the model's. For this alone there are `batches`,
  `deletions`, `leaders`, `partition_states` and `transitions`: what they say of errors, clocks,
  batches and memory is not in the model's state.
"""

"""Transitions and definitions that several systems share, one file for each subject.

A step has the name of the event in Kafka, in every system that has it. If the systems keep the same
state, the step is one function here. Where systems keep different state, each writes the step
itself, and only the common conditions and writes are functions here. The differences:

- `classic` has neither ZooKeeper nor messages: its leaders read the registered state itself.
- `election` has the multi, its reply and the fenced write as steps of their own.
- `replication` has a LeaderAndIsr for each leader epoch, and an ISR write and its answer as two
  steps; from 2.7 (`replication.alter_isr`) the controller answers, and a lost answer is asked for
  again.
- `replication.history` keeps the state of every leader epoch, instead of the state of every broker;
  it defines an ISR write but not which follower lags, so that its invariants stay inductive.
- `reassignment` writes and answers an ISR in one step, and keeps logs as sets of records.
- `topics` lets a leader write the registered ISR, and records this for the controller, where the
  others compare zkVersions. A broker's request for a controlled shutdown and its first effect are
  one step.
- `cluster` names a state by its zkVersion, and queues events and requests: a watch or a request is
  one step, and its handling by the controller is another.
"""

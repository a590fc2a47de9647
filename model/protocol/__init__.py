"""Transitions and definitions that several systems share, one file for each actor.

A step is called by what happens in Kafka, in every system that has it. Where the state is kept
alike the step is one function here. Other names stand in several systems with a text in each,
because each system keeps another part of Kafka's state: then the conditions and writes that are the
same are functions here, and each text adds what only its system has: which requests are on their
way, what a log is. What keeps the texts apart:

- `classic` has neither ZooKeeper nor messages: its leaders read the registered state itself.
- `election` has the multi, its reply and the fenced write as steps of their own.
- `replication` has a LeaderAndIsr for each leader epoch, and an ISR write and its answer as two
  steps; from 2.7 (`replication.alter_isr`) the controller answers, and a lost answer is asked for
  again.
- `replication.history` keeps what every leader epoch had, instead of what every broker has now; it
  says what a write is and not who lags, so that its invariants stay inductive.
- `reassignment` writes and answers an ISR in one step, and keeps logs as sets of records.
- `topics` lets a leader write the registered ISR, and notes for the controller that it did, where
  the others compare zkVersions. A broker's request for a controlled shutdown is one step with its
  first effect.
- `cluster` names a state by its zkVersion, and queues events and requests: a watch or a request is
  one step, and what the controller does about it another.
"""

"""Transitions and definitions that several systems share, one file for each actor.

Thirty-five transitions have one name in several systems. Where such steps are the same, their
conditions and writes are functions here, and each system's transition adds what only that system
has: which requests are on their way, what a log is. Not shared, because the step means another
thing there:

- `classic` has neither ZooKeeper nor messages: its leaders read the registered state itself.
- `election` has the multi, its reply and the fenced write as steps of their own.
- `replication.history` keeps what every leader epoch had, instead of what every broker has now; it
  says what a write is and not who lags, so that its invariants stay inductive.
- `topics` lets a leader write the registered ISR, and notes for the controller that it did, where
  the others compare zkVersions.
- `cluster` names a state by its zkVersion, and queues events and requests.
"""

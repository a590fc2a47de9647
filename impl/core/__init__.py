"""The protocol itself: controller, partition, replica manager, follower, and what they exchange.

No clock, thread, socket, file or log text: what asks the world is ``async`` and goes through a port
(ZooKeeper, the channels to brokers, the journal). A running broker and the simulator drive the same
coroutines; each ``await`` is a place where the simulator may interrupt.
"""

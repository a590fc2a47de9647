"""A small cluster of the core's controllers, brokers and logs; each read and write is a step."""

"""A small cluster: real controllers, brokers and logs; each read and write is a step."""

"""A small cluster, whole: real controllers, brokers and logs; each look and write is a step."""

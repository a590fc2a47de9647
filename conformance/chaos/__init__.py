"""Runs real brokers under faults while clients write and read, and judges what the clients saw.

`schedule` chooses the faults and their brokers, by a seed; `run` starts a cluster, injects the
faults and lets `workload` write and read meanwhile; `history` is what clients saw, and
`client_anomalies` finds the anomalies in it.
`clients` are the libraries that write and read: ours, librdkafka, kafka-python, aiokafka.
"""

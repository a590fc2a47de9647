"""Real brokers under faults while clients write and read; what clients saw is judged.

`schedule` says what happens to whom, by a seed; `run` starts a cluster, lets it happen and has
`workload` write and read meanwhile; `history` is what clients saw, `client_anomalies`
what is wrong in it.
`clients` are the libraries that write and read: ours, librdkafka, kafka-python, aiokafka.
"""

"""Fetches and runs Apache Kafka in ZooKeeper mode, and holds its messages to follow the model.

`download` gets a release, `lab` runs a cluster of it, `proxy` holds the messages between brokers,
`controller` sends requests to them as a controller, and `replay` replays a run of the model.
"""

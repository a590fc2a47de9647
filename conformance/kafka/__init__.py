"""Apache Kafka in ZooKeeper mode: fetched, run, and held at its messages beside the model.

`fetch` gets a release, `lab` runs a cluster of it, `proxy` holds what brokers say to each other,
`controller` speaks to them as a controller, and `replay` takes a run of the model step by step.
"""

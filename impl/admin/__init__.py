"""Kafka's admin tools: their decisions and output, over ZooKeeper or an admin client."""

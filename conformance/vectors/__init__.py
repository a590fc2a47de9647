"""Cases of Kafka's behaviour (input → expected), answered by the model and the implementation."""

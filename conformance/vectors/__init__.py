"""Input → expected cases of Kafka's behaviour, answered by the model and by the implementation."""

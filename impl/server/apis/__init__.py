"""Kafka's own protocol, as clients and administrators speak it to a broker (``KafkaApis``).

Frames come in by the listener that serves every connection; what they ask goes to the same core,
logs and handlers as our own frames. ``kafka_apis`` takes a frame apart and hands it to who answers.
"""

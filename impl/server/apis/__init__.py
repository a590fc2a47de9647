"""Kafka's protocol on a broker's side: handlers of requests (``KafkaApis``).

``kafka_apis`` takes a frame apart and hands it to who answers; what is asked goes to the core, the
logs, the coordinator of groups, and whoever is controller.
"""

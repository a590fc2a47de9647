"""Handlers of the requests that a broker receives (``KafkaApis``).

``kafka_apis`` decodes a frame and passes it to its handler. The handlers call the core, the logs,
the group coordinator and the controller.
"""

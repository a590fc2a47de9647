"""What Kafka's admin scripts decide and print, as pure functions; they reach no cluster."""

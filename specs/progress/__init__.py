"""Progress for any number of brokers: rankings, their obligations, and what is proved by them."""

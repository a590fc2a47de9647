"""Topics that come and go: the real controller, put down between batches and writes."""

"""Topics that come and go: the controller of the core, suspended between its batches."""

"""The explorer in the browser, and pictures of runs: plays, shows and explains the model."""

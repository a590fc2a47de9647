"""The explorer in the browser, and pictures of runs: the model played, shown, and explained."""

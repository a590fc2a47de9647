"""The engines that check a system: exploring, finding, proving."""

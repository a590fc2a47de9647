"""Log directories of several brokers compared: `insync inspect`."""

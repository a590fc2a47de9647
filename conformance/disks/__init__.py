"""What lies on the disks of several brokers, side by side: `insync inspect`."""

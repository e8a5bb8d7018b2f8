"""Studies of human labels: accounts, sampling, packets for offline work, adjudication, and result tables."""

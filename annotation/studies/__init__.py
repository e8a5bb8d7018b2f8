"""Studies of human labels: accounts, sampling, packets for offline work, adjudication, and the tables that come out of them."""

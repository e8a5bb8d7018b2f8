"""Calls to language models: the client, the journal of replies, scheduling over endpoints, and shards for a cluster."""

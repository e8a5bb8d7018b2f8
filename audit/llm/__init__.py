"""Asking a language model many things: an endpoint, a journal of replies, shards for a cluster; whatever is asked."""

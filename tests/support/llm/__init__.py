"""Servers for the judge to talk to: one that misbehaves on purpose, and a real one with a tiny random model."""

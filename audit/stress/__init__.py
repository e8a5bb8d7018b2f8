"""Stress tests: what generators and judges do when evidence is missing, noisy or wrong."""

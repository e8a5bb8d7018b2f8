"""Stress tests: how generators and judges behave when evidence is missing, noisy or wrong."""

"""Building stress tests: questions with signal documents in, instances with noise and planted errors out."""

"""Builds stress tests: from questions with signal documents, instances with noise and planted errors."""

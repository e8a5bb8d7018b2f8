"""Backup: the page."""

"""Glossary: the page and its parts."""

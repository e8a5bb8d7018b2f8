"""The stages, one module each; they know nothing of each other but the files that the one before leaves."""

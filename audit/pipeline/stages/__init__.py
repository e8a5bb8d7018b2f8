"""The stages. They know nothing of each other but the files that the one before leaves."""

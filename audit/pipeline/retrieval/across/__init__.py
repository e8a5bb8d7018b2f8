"""One question to several sources: how many passages to take from each source, and the consolidated evidence."""

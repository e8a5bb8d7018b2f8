"""What is shown of a run, section by section: a page draws a section, an export writes its tables and figures."""

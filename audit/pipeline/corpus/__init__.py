"""The corpus as files of text: handbooks extracted from PDF files, and questions imported, screened and tagged."""

"""The corpus as texts on disk: handbooks extracted from PDF files, and questions imported, screened and tagged."""

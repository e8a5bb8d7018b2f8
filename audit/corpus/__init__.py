"""Handbooks and questions as texts on disk: extraction from PDF files, documents, import and screening of questions."""

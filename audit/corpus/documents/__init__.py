"""Handbooks as texts: sections in reading order, as extraction leaves them and as retrieval finds them."""

from audit.corpus.documents.files import read_document, read_documents, write_document
from audit.corpus.documents.model import Document, Section

__all__ = ["Document", "Section", "read_document", "read_documents", "write_document"]

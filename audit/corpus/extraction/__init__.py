"""PDF files into documents: sections with headings, in reading order, without what pages repeat."""

from audit.corpus.extraction.engines import DEFAULT, ENGINES, Engine, engine_named
from audit.corpus.extraction.identity import Identity, Said, read_catalog
from audit.corpus.extraction.many import Report, extract_all, identity_of, pdf_files
from audit.corpus.extraction.one import extract

__all__ = [
    "DEFAULT",
    "ENGINES",
    "Engine",
    "Identity",
    "Report",
    "Said",
    "engine_named",
    "extract",
    "extract_all",
    "identity_of",
    "pdf_files",
    "read_catalog",
]

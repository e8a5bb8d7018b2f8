"""PDF files into documents: sections with headings, in reading order, without what pages repeat."""

from audit.extract.engines import DEFAULT, ENGINES, Engine, engine_named
from audit.extract.identity import Identity, Said, read_catalog
from audit.extract.many import Report, extract_all, identity_of, pdf_files
from audit.extract.one import extract

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

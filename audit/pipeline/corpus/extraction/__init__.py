"""PDF files into documents: sections with headings in reading order, without what pages repeat."""

"""What several pages share: cached loading, choices kept in the address, and the parts of a page."""

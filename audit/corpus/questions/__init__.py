"""Questions before they are asked: imported, checked against a taxonomy of tags, screened, and compared with each other."""

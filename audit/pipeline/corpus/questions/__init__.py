"""Import of questions: they are checked against a taxonomy of tags, screened, and compared with each other."""

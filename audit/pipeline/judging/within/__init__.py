"""One handbook compared with itself: statements of different places on the same thing that do not agree."""

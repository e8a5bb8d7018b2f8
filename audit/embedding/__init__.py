"""What turns texts into vectors, for whoever compares texts: a sentence model, or words alone; and a cache of vectors."""

"""The pages of handbooks as pictures, and where on them a sentence is. Local PDFs are found by their digest."""

"""A model judges single answers on the eight criteria: the prompt, the parsing of replies, and the records of a release."""

"""Answers, labels and marks made without a model. README.md says what each does and how well."""

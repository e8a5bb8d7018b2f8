"""Tables and figures as files: one table model, one writer per format, and the package that contains them all."""

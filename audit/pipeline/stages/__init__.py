"""The stages. They communicate only through the files that the stage before leaves."""

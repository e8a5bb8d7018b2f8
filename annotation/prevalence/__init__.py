"""How common each label is in the whole run, from a sample that people labelled."""

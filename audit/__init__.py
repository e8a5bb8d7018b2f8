"""Where institutions disagree: the audit of pairwise judgements over many handbooks, from release files to figures."""

__version__ = "0.1.0"

r"""Where institutions disagree: the audit of pairwise judgements over many handbooks.

    release files --> audit.store (DuckDB) --> audit.metrics --> audit.charts --> pages
          ^                                         \--> audit.exports, audit.cli.main
          audit.demo and every other producer WRITE release files; only audit.store reads them into DuckDB

The release is the waist: every producer writes it and one reader reads it. The store is disposable, one file per run,
rebuilt from release files and opened read-only. A metric is one file: a SQL constant and a function that returns a frame;
pages print both on request. Charts draw frames and never fetch them.

Imports point one way (pyproject.toml, [tool.importlinter], checked in CI): `pages` and `app.py` use `audit`; inside it,
cli > exports > metrics | charts > store | demo > release > schema > wording > settings | vocabulary > errors.
"""

__version__ = "0.1.0"

"""Where institutions disagree: the audit of pairwise judgements over many handbooks.

`DESIGN` below is the map; each package's docstring is the detail.

    release files --> audit.store (DuckDB) --> audit.metrics --> audit.charts --> pages
          ^
          audit.demo and every other producer WRITE release files; only audit.store reads them into DuckDB

Imports point one way (pyproject.toml, [tool.importlinter], checked in CI):
`pages` and `app.py` use `audit`; inside `audit`, `cli` > `metrics | charts` > `store | demo` > `release` >
`schema` > `wording` > `vocabulary | settings | errors`.
"""

__version__ = "0.1.0"

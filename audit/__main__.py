"""`python -m audit`."""

from audit.cli.main import main

if __name__ == "__main__":  # worker processes started by `spawn` import this module too, and must not run the command line
    raise SystemExit(main())

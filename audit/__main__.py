"""`python -m audit`."""

from audit.cli.main import main

if __name__ == "__main__":  # a process that is spawned for a share of the work imports this too
    raise SystemExit(main())

"""The former program `annotation COMMAND`: only prints the `audit` command that replaces it."""

import sys
from collections.abc import Sequence

REPLACED = {
    "demo": "audit demo --studies",
    "agreement": "audit agreement",
    "prevalence": "audit prevalence",
    "judge": "audit judge RUN --pairs study:ID",
    "export-all": "audit export",
    "themes export": "audit themes history --out FILE",
    **{name: f"audit study {name}" for name in ("sample", "advance", "release", "verify", "export", "import")},
    **{f"account {name}": f"audit account {name}" for name in ("add", "password", "list")},
    **{f"themes {name}": f"audit themes {name}" for name in ("history", "replay")},
}
"""Former command -> the command of `audit` that replaces it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print the command to use; the exit code is 2, because nothing was done."""
    words = list(sys.argv[1:] if argv is None else argv)
    # Two words first: `account add` was a command, `account` alone was not.
    command = next((REPLACED[name] for name in (" ".join(words[:2]), *words[:1]) if name in REPLACED), None)
    use = f"Use instead: {command}" if command else "All commands are now commands of `audit`: see audit --help"
    print(f"annotation: this command was replaced. Nothing was done. {use}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())

"""`python -m tests.simulator`: writes a demo release, or the release files of the demo that ships.

python -m tests.simulator --scale paper --out DIR    # the main run; with --earlier the run that it is compared with
python -m tests.simulator --ship                     # data/demo again, after a change of the simulator
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from audit.errors import AuditError
from tests.simulator.build import CONFIGS, DEFAULT_SEED, write_demo, write_earlier
from tests.simulator.ship import SHIPPED, write_shipped


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulator", description="Write a demo release.")
    parser.add_argument("--scale", choices=tuple(CONFIGS), default="small")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    parser.add_argument("--earlier", action="store_true", help="the earlier run that the demo is compared with")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--out", type=Path, metavar="DIR", help="a new folder, or one with an earlier demo, which is replaced")
    target.add_argument("--ship", action="store_true", help=f"write the release files of {SHIPPED} again")
    arguments = parser.parse_args()
    try:
        if arguments.ship:
            write_shipped(SHIPPED)
        elif arguments.earlier:
            write_earlier(arguments.out, arguments.seed, arguments.scale, _note_tenths)
        else:
            write_demo(arguments.out, arguments.scale, arguments.seed, _note_tenths)
    except AuditError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _note_tenths(done: int, total: int) -> None:
    if total >= 1_000 and done % (total // 10) == 0:
        print(f"  {done:,} of {total:,} questions ...", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

"""`python -m tests.simulator`: writes a demo release, or the files of the demo that ships.

python -m tests.simulator --scale paper --out DIR        # the main run; with --earlier the run that it is compared with
python -m tests.simulator --readings demo@1234 --out F   # what simulated annotators find in its studies, where it is loaded
python -m tests.simulator --ship                         # data/demo again, after a change of the simulator
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from audit.errors import AuditError
from audit.settings import Settings
from audit.store.runs import find_run
from tests.simulator.annotators import write_readings
from tests.simulator.build import CONFIGS, DEFAULT_SEED, write_demo, write_earlier
from tests.simulator.ship import SHIPPED, write_shipped


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulator", description="Write a demo release.")
    parser.add_argument("--scale", choices=tuple(CONFIGS), default="small")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    parser.add_argument("--earlier", action="store_true", help="the earlier run that the demo is compared with")
    parser.add_argument("--readings", metavar="RUN", help="readings of the demo's studies on this run, which is loaded")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--out", type=Path, help="a folder (an earlier demo in it is replaced), or the file of readings")
    target.add_argument("--ship", action="store_true", help=f"write the files of {SHIPPED} again")
    arguments = parser.parse_args()
    try:
        write(arguments)
    except AuditError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def write(arguments: argparse.Namespace) -> None:
    if arguments.ship:
        write_shipped(SHIPPED)
    elif arguments.readings:
        settings = Settings()
        write_readings(find_run(settings.store_dir, arguments.readings), settings, arguments.out)
    elif arguments.earlier:
        write_earlier(arguments.out, arguments.seed, arguments.scale, _note_tenths)
    else:
        write_demo(arguments.out, arguments.scale, arguments.seed, _note_tenths)


def _note_tenths(done: int, total: int) -> None:
    if total >= 1_000 and done % (total // 10) == 0:
        print(f"  {done:,} of {total:,} questions ...", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

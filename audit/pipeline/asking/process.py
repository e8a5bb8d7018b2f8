"""The process that reads handbooks: `python -m audit.pipeline.asking.process`.

Requests come on standard input, replies go to standard output.

Untrusted texts are indexed and compared in this process, so the dashboard neither loads the libraries nor waits. Requests and
replies are pickles, which is safe because this program writes both and the content of handbooks stays text.
"""

from __future__ import annotations

import logging
import pickle
import sys
from collections import OrderedDict
from typing import BinaryIO

from audit.errors import AuditError
from audit.jobs.asking import DONE, REFUSED, STEP, Asked, AskRequest
from audit.pipeline.asking.engine import RunLibrary

KEPT_LIBRARIES = 2


class Libraries:
    """The most recently used runs, ready for further questions."""

    def __init__(self) -> None:
        self._libraries: OrderedDict[str, RunLibrary] = OrderedDict()

    def ask(self, request: AskRequest, replies: BinaryIO) -> Asked | None:
        """Answer a request and report each step; None for a request without a question."""

        def step(doing: str, share: float) -> None:
            send(replies, STEP, (doing, share))

        if request.digest not in self._libraries:
            while len(self._libraries) >= KEPT_LIBRARIES:
                self._libraries.popitem(last=False)
            self._libraries[request.digest] = RunLibrary.of_store(request.store, request.folder, step)
        self._libraries.move_to_end(request.digest)
        library = self._libraries[request.digest]
        return None if request.question is None else library.ask(request.question, request.scope, step)


def send(stream: BinaryIO, kind: str, content: object) -> None:
    """Write one reply."""
    pickle.dump((kind, content), stream)
    stream.flush()


def main() -> None:
    """Answer requests until the dashboard closes the input."""
    logging.disable(logging.INFO)
    requests, replies = sys.stdin.buffer, sys.stdout.buffer
    # Text that libraries print must not corrupt the replies
    sys.stdout = sys.stderr
    libraries = Libraries()
    while True:
        try:
            request = AskRequest(*pickle.load(requests))  # noqa: S301 - from the dashboard, which started this process
        except EOFError:
            return
        try:
            send(replies, DONE, libraries.ask(request, replies))
        except AuditError as error:
            send(replies, REFUSED, str(error))


if __name__ == "__main__":
    main()

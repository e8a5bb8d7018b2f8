"""The process that searches handbooks: `python -m audit.pipeline.asking.process [STORE FOLDER]`.

Without arguments requests come on standard input and replies go to standard output. With them what questions to the run
in STORE need is computed and stored in FOLDER.

Untrusted texts are indexed and compared in this process, so the dashboard neither loads the libraries nor waits. Requests and
replies are pickles, which is safe because this program writes both and the content of handbooks stays text.
"""

from __future__ import annotations

import logging
import os
import pickle
import sys
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from audit.errors import AuditError
from audit.jobs.asking import DONE, REFUSED, STEP, Asked, AskRequest, start_preparing
from audit.pipeline.asking.engine import RunHandbooks, model_encoder, prepare_run
from audit.pipeline.asking.questions import RunQuestions

KEPT_RUNS = 2


class Runs:
    """The most recently used runs, ready for further questions."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, RunHandbooks] = OrderedDict()
        self._questions: dict[str, RunQuestions] = {}
        self._encoder = model_encoder()

    def near(self, request: AskRequest) -> list[str]:
        """The questions of a run that are near to what somebody types."""
        if request.digest not in self._questions:
            questions = self._questions[request.digest] = RunQuestions(request.store, self._encoder, request.folder)
            if not questions.is_prepared:
                start_preparing(request.store, request.folder)
        return self._questions[request.digest].near(request.question or "")

    def ask(self, request: AskRequest, replies: BinaryIO) -> Asked | list[str] | None:
        """Answer a request and report each step; None for a request without a question."""
        if request.scope is None:
            return self.near(request)

        def step(doing: str, done: int, total: int) -> None:
            send(replies, STEP, (doing, done, total))

        if request.digest not in self._runs:
            while len(self._runs) >= KEPT_RUNS:
                self._runs.popitem(last=False)
            run = RunHandbooks.of_store(request.store, self._encoder, request.folder, step)
            self._runs[request.digest] = run
            if run.encoded < len(run.books):
                start_preparing(request.store, request.folder)
        self._runs.move_to_end(request.digest)
        run = self._runs[request.digest]
        if request.question is None:
            self.near(request)  # for which a sentence model is loaded, before somebody waits
            return None
        return replace(run.ask(request.question, request.scope, step), near=tuple(self.near(request)))


def send(stream: BinaryIO, kind: str, content: object) -> None:
    """Write one reply."""
    pickle.dump((kind, content), stream)
    stream.flush()


def answer_requests() -> None:
    """Answer requests until the dashboard closes the input."""
    requests, replies = sys.stdin.buffer, sys.stdout.buffer
    # Text that libraries print must not corrupt the replies
    sys.stdout = sys.stderr
    runs = Runs()
    while True:
        try:
            request = pickle.load(requests)  # noqa: S301 - from the dashboard, which started this process
        except EOFError:
            return
        try:
            send(replies, DONE, runs.ask(request, replies))
        except AuditError as error:
            send(replies, REFUSED, str(error))


def main() -> None:
    """Answer requests, or read the handbooks of the run that the arguments name."""
    logging.disable(logging.INFO)
    if sys.argv[1:]:
        # Somebody may be waiting for a page meanwhile
        if hasattr(os, "nice"):
            os.nice(10)
        prepare_run(*map(Path, sys.argv[1:]))
    else:
        answer_requests()


if __name__ == "__main__":
    main()

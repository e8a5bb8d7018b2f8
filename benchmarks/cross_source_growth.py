"""What more sources cost: index, graph and questions for 3 to 102 simulated handbooks, each a source of its own.

    python -m benchmarks.cross_source_growth [--handbooks 3 12 24 51 102] [--questions 60]

The handbooks are those of `audit demo --scale paper`: 6,285 sections, 2 million characters in all. Each size is measured in a
process of its own, so that its memory is its own. Index and graph are built once and read from the cache once. A query is the way
from the question to packed evidence; its time is the median after the first, which reads what the others share.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TypeVar

from audit.pipeline.retrieval.across.entities import medical_recogniser
from audit.pipeline.retrieval.across.evidence import gather
from audit.pipeline.retrieval.across.graph import build_graph
from audit.pipeline.retrieval.across.library import build_library
from audit.pipeline.retrieval.across.settings import CrossSourceSettings
from audit.pipeline.retrieval.across.sources import Source
from audit.pipeline.retrieval.settings import RetrievalSettings
from benchmarks.retrieval_corpora import DEMO_SEED, simulated_documents
from tests.simulator.config import paper_config
from tests.simulator.retrieval import HandbookTexts
from tests.simulator.world import draw_world

T = TypeVar("T")
COLUMNS = (
    "sources",
    "sections",
    "chunks",
    "index_s",
    "graph_s",
    "read_s",
    "first_ms",
    "query_ms",
    "no_graph_ms",
    "paper_ms",
    "peak_gb",
)


def timed(make: Callable[[], T]) -> tuple[T, float]:
    """What `make` returns, and its CPU seconds."""
    began = time.process_time()
    value = make()
    return value, time.process_time() - began


def measure(handbooks: int, questions: int, folder: Path) -> dict[str, float]:
    """One row of the table."""
    world = draw_world(paper_config(DEMO_SEED))
    documents = simulated_documents(world, HandbookTexts(world))
    # Spread over organs and centers, which are in order
    documents = [documents[number * len(documents) // handbooks] for number in range(handbooks)]
    sources = [Source(document.handbook_id, (document.handbook_id,)) for document in documents]
    medical_recogniser()

    def build():
        return build_library(documents, sources, RetrievalSettings(), folder=folder)

    library, index_s = timed(build)
    graph, graph_s = timed(lambda: build_graph(library, medical_recogniser()))
    library, read_s = timed(build)
    texts = [world.questions[number * len(world.questions) // questions].text for number in range(questions)]
    default = CrossSourceSettings()
    variants = {"query_ms": default, "no_graph_ms": CrossSourceSettings(graph=None), "paper_ms": CrossSourceSettings.paper()}
    first_s = timed(lambda: gather(library, texts[0], default))[1]
    times = {
        name: 1000 * median(timed(lambda text=text, settings=settings: gather(library, text, settings))[1] for text in texts[1:])
        for name, settings in variants.items()
    }
    return {
        "sources": handbooks, "sections": sum(len(document.sections) for document in documents),
        "chunks": graph.incidence.shape[0], "index_s": index_s, "graph_s": graph_s, "read_s": read_s, "first_ms": 1000 * first_s,
        **times, "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }  # fmt: skip


def main() -> None:
    """Print one row for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--handbooks", type=int, nargs="+", default=[3, 12, 24, 51, 102])
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--one", action="store_true", help="measure in this process, and print JSON")
    arguments = parser.parse_args()
    if arguments.one:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(arguments.handbooks[0], arguments.questions, Path(folder))))
        return
    print("".join(f"{name:>12}" for name in COLUMNS))
    for handbooks in arguments.handbooks:
        command = [sys.executable, "-m", "benchmarks.cross_source_growth", "--one", "--handbooks", str(handbooks)]
        output = subprocess.run([*command, "--questions", str(arguments.questions)], check=True, capture_output=True, text=True)
        row = json.loads(output.stdout)
        print("".join(f"{row[name]:>12.2f}" if isinstance(row[name], float) else f"{row[name]:>12,}" for name in COLUMNS))


if __name__ == "__main__":
    main()

"""Themes of 16,000 phrases whose true themes are known, against four other ways.

    python -m benchmarks.themes [--phrases 16000] [--themes 1000] [--seed 3] [--model NAME|PATH] [--ways ours,bertopic,...]

    ours           `audit themes build` as it is: average linkage, parents, names, ids and the map, everything but the embedding
    ours_asked     the same, given the true number of themes
    ours_hdbscan   the same with --method hdbscan, given the true number
    ours_words     the same without a model
    bertopic       BERTopic's defaults (UMAP, HDBSCAN, class-based TF-IDF)
    evoc           EVoC's defaults; evoc_asked: given the true number
    toponymy       UMAP and ToponymyClusterer's defaults

All but ours_words get the same vectors of the same plain phrases. Each way runs in a process of its own, twice, with another
seed, on one thread; libraries that are not installed are left out with a note (pip install bertopic evoc toponymy). CPU seconds
leave imports and the embedding out and compilation by numba in; memory is the peak of the whole process. Every phrase without
a theme counts as a theme of its own, so that dropping what is hard does not pay. EVoC and Toponymy give several layers: the first
line has the one that they offer (EVoC's choice, Toponymy's finest), the second the one that fits the truth best, which nobody
without the truth could choose.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
"""A dependency of others would ask the network for a price list."""
SEEDS = (11, 12)


def _ours(phrases: list[str], vectors: Any, seed: int, **options: Any) -> Callable[[], list[Any]]:
    import numpy as np
    import umap  # noqa: F401 - imports are not what is measured

    from audit.pipeline.embedding.encoders import Encoder, words_encoder
    from audit.pipeline.themes.build import build_taxonomy
    from audit.pipeline.themes.clusters import ThemeBuildOptions

    by_words = options.pop("words", False)
    row = {phrase: number for number, phrase in enumerate(phrases)}
    given = Encoder("given", "0" * 64, lambda asked, _: vectors[[row[phrase] for phrase in asked]])

    def run() -> list[Any]:
        encoder = words_encoder(phrases) if by_words else given
        taxonomy, _ = build_taxonomy(dict.fromkeys(phrases, 1), encoder, ThemeBuildOptions(seed=seed, **options))
        number = {theme.theme_id: index for index, theme in enumerate(taxonomy.leaves)}
        of = taxonomy.theme_of()
        return [np.array([number.get(of[phrase] or "", -1) for phrase in phrases])]

    return run


def ours(phrases: list[str], vectors: Any, seed: int, _: int) -> Callable[[], list[Any]]:
    return _ours(phrases, vectors, seed)


def ours_asked(phrases: list[str], vectors: Any, seed: int, themes: int) -> Callable[[], list[Any]]:
    return _ours(phrases, vectors, seed, target=themes)


def ours_hdbscan(phrases: list[str], vectors: Any, seed: int, themes: int) -> Callable[[], list[Any]]:
    return _ours(phrases, vectors, seed, target=themes, method="hdbscan")


def ours_words(phrases: list[str], vectors: Any, seed: int, _: int) -> Callable[[], list[Any]]:
    return _ours(phrases, vectors, seed, words=True)


def bertopic(phrases: list[str], vectors: Any, seed: int, _: int) -> Callable[[], list[Any]]:
    import numpy as np
    from bertopic import BERTopic
    from umap import UMAP

    reduce = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=seed)  # its defaults, seeded
    model = BERTopic(umap_model=reduce, embedding_model=None)
    return lambda: [np.array(model.fit_transform(phrases, vectors)[0])]


def evoc(_phrases: list[str], vectors: Any, seed: int, _: int) -> Callable[[], list[Any]]:
    return _evoc(vectors, random_state=seed)


def evoc_asked(_phrases: list[str], vectors: Any, seed: int, themes: int) -> Callable[[], list[Any]]:
    return _evoc(vectors, random_state=seed, approx_n_clusters=themes)


def _evoc(vectors: Any, **options: Any) -> Callable[[], list[Any]]:
    from evoc import EVoC

    model = EVoC(**options)
    return lambda: [model.fit_predict(vectors), *model.cluster_layers_]


def toponymy(_phrases: list[str], vectors: Any, seed: int, _: int) -> Callable[[], list[Any]]:
    from toponymy.clustering import ToponymyClusterer
    from umap import UMAP

    def run() -> list[Any]:
        places = UMAP(metric="cosine", random_state=seed).fit_transform(vectors)
        model = ToponymyClusterer(n_threads=1).fit(clusterable_vectors=places, embedding_vectors=vectors)
        return [layer.cluster_labels for layer in model.cluster_layers_]

    return run


WAYS = {
    "ours": ours, "ours_asked": ours_asked, "ours_hdbscan": ours_hdbscan, "ours_words": ours_words,
    "bertopic": bertopic, "evoc": evoc, "evoc_asked": evoc_asked, "toponymy": toponymy,
}  # fmt: skip
NEEDS = {"bertopic": "bertopic", "evoc": "evoc", "evoc_asked": "evoc", "toponymy": "toponymy"}


def apart(labels: Any) -> Any:
    """The labels with every phrase that has none as a theme of its own."""
    import numpy as np

    alone = labels < 0
    return np.where(alone, labels.max() + 1 + np.cumsum(alone), labels)


def score(labels: Any, truth: Any) -> dict[str, float]:
    from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

    own = apart(labels)
    return {
        "themes": len(set(labels[labels >= 0].tolist())),
        "outliers": float((labels < 0).mean()),
        "ami": adjusted_mutual_info_score(truth, own),
        "ari": adjusted_rand_score(truth, own),
    }


def one(way: str, folder: Path, seed: int) -> None:
    """The process that is measured: writes its labels and prints what it took."""
    import numpy as np

    data = np.load(folder / "data.npz")
    truth = data["truth"]
    run = WAYS[way]([str(phrase) for phrase in data["phrases"]], data["vectors"], seed, len(set(truth.tolist())))
    wall, cpu = time.perf_counter(), time.process_time()
    layers = run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    scores = [score(np.asarray(labels), truth) for labels in layers]
    best = max(scores, key=lambda scored: scored["ami"])
    np.save(folder / f"{way}-{seed}.npy", apart(np.asarray(layers[0])))
    print(json.dumps({"cpu_s": cpu, "wall_s": wall, "peak_gb": peak, **scores[0], "best": best if len(scores) > 1 else None}))


def measure(way: str, folder: Path) -> dict[str, Any]:
    """Both runs of one way: the first one's figures, the costlier one's cost, and how far the two agree."""
    import numpy as np
    from sklearn.metrics import adjusted_rand_score

    runs = []
    for seed in SEEDS:
        command = [sys.executable, "-m", "benchmarks.themes", "--one", way, "--folder", str(folder), "--seed", str(seed)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env={**os.environ, **ONE_THREAD, **QUIET})
        runs.append(json.loads(done.stdout.splitlines()[-1]))
        print(f"{way}, seed {seed}: {runs[-1]}", file=sys.stderr)
    labels = [np.load(folder / f"{way}-{seed}.npy") for seed in SEEDS]
    cost = {name: max(run[name] for run in runs) for name in ("cpu_s", "wall_s", "peak_gb")}
    return {**runs[0], **cost, "stability": float(adjusted_rand_score(*labels))}


def prepare(arguments: argparse.Namespace, folder: Path) -> None:
    """Draw the phrases, embed each plain one once, and leave both for the processes that are measured."""
    import numpy as np

    from audit.pipeline.embedding.encoders import sentence_encoder
    from audit.pipeline.embedding.vectors import no_progress
    from audit.release.taxonomy import plain_phrase
    from benchmarks.theme_phrases import draw_phrases

    drawn = draw_phrases(arguments.phrases, arguments.themes, arguments.seed)
    plain = {plain_phrase(phrase): theme for phrase, theme in zip(drawn.phrases, drawn.truth.tolist(), strict=True)}
    cpu = time.process_time()
    vectors = sentence_encoder(arguments.model).encode(list(plain), no_progress)
    print(f"{len(plain):,} phrases embedded in {time.process_time() - cpu:.0f} CPU s", file=sys.stderr)
    np.savez(folder / "data.npz", phrases=np.array(list(plain)), vectors=vectors, truth=np.array(list(plain.values())))


def compare(arguments: argparse.Namespace, folder: Path) -> None:
    prepare(arguments, folder)
    print(f"{'way':<14}{'CPU s':>7}{'wall s':>8}{'peak GB':>9}{'themes':>8}{'no theme':>10}{'AMI':>7}{'ARI':>7}{'stability':>11}")
    for way in arguments.ways.split(","):
        if way in NEEDS and find_spec(NEEDS[way]) is None:
            print(f"{way:<14}not installed", flush=True)
            continue
        m = measure(way, folder)
        cost = f"{m['cpu_s']:>7.1f}{m['wall_s']:>8.1f}{m['peak_gb']:>9.2f}"
        print(f"{way:<14}{cost}{_found(m)}{m['stability']:>11.3f}", flush=True)
        if m["best"]:
            print(f"{'  best layer':<38}{_found(m['best'])}", flush=True)


def _found(m: dict[str, Any]) -> str:
    return f"{m['themes']:>8,.0f}{m['outliers']:>10.1%}{m['ami']:>7.3f}{m['ari']:>7.3f}"


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--phrases", type=int, default=16_000)
    parser.add_argument("--themes", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=3, help="of the phrases")
    parser.add_argument("--model", default="sentence-transformers/all-MiniLM-L6-v2")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--one", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        one(arguments.one, arguments.folder, arguments.seed)
        return
    with tempfile.TemporaryDirectory() as scratch:
        compare(arguments, Path(scratch))


if __name__ == "__main__":
    main()

"""What completes a release: its themes, and loading it as a run."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from audit.atomic_io import write_atomic
from audit.embedding.encoders import LEXICAL, encoder_factory
from audit.pipeline.build_cache import Task, code_digest
from audit.pipeline.context import Figures, TaskByTask
from audit.store.load import load_release
from audit.themes.build import PRINCIPAL, ThemeBuildOptions, build_taxonomy
from audit.themes.phrases import by_plain_phrase
from audit.themes.taxonomy import write_taxonomy

CODE = ("themes", "embedding")


@dataclass
class ThemesStage(TaskByTask):
    """One task: what the answers differ on, as named themes, stored in the release."""

    name = "themes"

    def tasks(self) -> list[Task]:
        """The comparisons, and how their topics are grouped."""
        options, release = self.context.config.themes, self.context.workspace.release
        if not options.build:
            return []
        pairs = self.context.cache.digest(release / "comparisons")
        inputs = {"pairs": pairs, "model": options.model, "target": options.target, "code": code_digest(*CODE)}
        return [Task(self.name, "themes.json", inputs, (release / "themes.json",))]

    def carry(self, task: Task) -> Figures:
        """Build the taxonomy. Where nothing disagrees there are no themes, and the file records that."""
        counts, config = self._topics(), self.context.config.themes
        if not counts:
            write_atomic(task.outputs[0], '{"themes": []}\n')
            return {"themes": 0}
        encoder_of = encoder_factory(config.model, self.context.settings.data_dir / "vectors")
        assert encoder_of is not None  # the config reader refuses `none` for themes
        options = ThemeBuildOptions(target=config.target or None, layout=PRINCIPAL if config.model == LEXICAL else None)
        encoder = encoder_of(list(by_plain_phrase(counts)))
        taxonomy, points = build_taxonomy(counts, encoder, options, progress=self.context.progress)
        write_taxonomy(taxonomy, points, task.outputs[0])
        return {"themes": len(taxonomy.leaves), "topics": len(counts)}

    def _topics(self) -> Counter[str]:
        """Divergence topic -> the number of pairs that have it."""
        counts: Counter[str] = Counter()
        for path in sorted((self.context.workspace.release / "comparisons").glob("*.json")):
            pairs = json.loads(path.read_text(encoding="utf-8"))["pairs"]
            counts.update(pair["divergence_topic"] for pair in pairs if (pair["divergence_topic"] or "").strip())
        return counts


@dataclass
class LoadStage(TaskByTask):
    """One task: the run. The only stage that opens the store."""

    name = "load"

    def tasks(self) -> list[Task]:
        """Everything in the release, and the store it goes into."""
        if not self.context.config.load.load:
            return []
        release = self.context.cache.digest(self.context.workspace.release)
        inputs = {"release": release, "store": str(self.context.settings.store_dir.resolve())}
        return [Task(self.name, self.context.config.release.run_id, inputs)]

    def done(self, task: Task) -> bool:
        """Whether the loaded run still exists: stores are disposable."""
        return super().done(task) and Path(self.context.cache.figures(task).get("path", "")).is_file()

    def carry(self, task: Task) -> Figures:
        """Load it, as `audit load` does."""
        run = load_release(self.context.workspace.release, self.context.settings).run
        return {"run": run.key, "path": str(run.path.resolve()), "message": f"Run {run.key}: {run.report['verdict']}"}

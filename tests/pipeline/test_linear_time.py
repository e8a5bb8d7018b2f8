"""The same for the rules of the pipeline, which reads handbooks that others wrote: no pattern grows faster than its text."""

from __future__ import annotations

from tests.text.test_linear_time import all_sources, patterns, slow_patterns

sources = all_sources


def test_no_pattern_of_the_pipeline_takes_more_than_its_text_takes(sources: dict[str, str]) -> None:
    found = {name: one for name, one in patterns(("audit.pipeline",), ()).items() if name.startswith("audit.pipeline")}
    assert len(found) > 100
    assert slow_patterns(found, sources) == {}

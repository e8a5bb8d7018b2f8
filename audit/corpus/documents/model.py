"""What a handbook is to the pipeline: who wrote it, and its sections."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Section:
    """One section, without the sections below it.

    `heading` is "" where the text has none; `above` are the headings over it, outermost first; `pages` are its first and
    last page, counted from 1, or () where the source has no pages. Passages are places in `text`, in characters from 0.
    """

    section_id: str
    heading: str
    text: str
    above: tuple[str, ...] = ()
    pages: tuple[int, ...] = ()
    url: str | None = None

    @property
    def title(self) -> str:
        """The heading with those above it: `Medicines > When you travel`; "" without any."""
        return " > ".join(heading for heading in (*self.above, self.heading) if heading)


@dataclass(frozen=True)
class Document:
    """One handbook. `handbook_id`, `organ`, `center` and `phase` are those of the release; section ids differ from each other.

    `source` is the file it was made from, by name, `digest` that file's sha256, `pages` its number of pages (None: unknown);
    `engine` is what read it, with its version.
    """

    handbook_id: str
    organ: str
    center: str
    phase: str
    sections: tuple[Section, ...]
    title: str | None = None
    source: str | None = None
    digest: str | None = None
    pages: int | None = None
    url: str | None = None
    engine: str | None = None

    def __post_init__(self) -> None:
        """Raises ValueError where two sections go by one id."""
        counts = Counter(section.section_id for section in self.sections)
        twice = [section_id for section_id, count in counts.items() if count > 1]
        if twice:
            raise ValueError(f"{self.handbook_id}: {len(twice)} section ids stand more than once, {twice[0]!r} among them")

    @cached_property
    def full_text(self) -> str:
        """Headings and bodies in reading order, with an empty line between them."""
        parts = (part for section in self.sections for part in (section.heading, section.text))
        return "\n\n".join(part for part in parts if part)

    @cached_property
    def by_id(self) -> dict[str, Section]:
        """Section id -> section."""
        return {section.section_id: section for section in self.sections}

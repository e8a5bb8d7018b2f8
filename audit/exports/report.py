"""One page to mail: tables, figures, definitions, counts and where they come from. It asks nothing of any network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from audit.charts.figure_files import fragment_html
from audit.exports.catalogue import Chapter
from audit.exports.table_model import Picture
from audit.exports.writers.page import html_table

STYLE = """
body { font: 15px/1.45 Arial, Helvetica, sans-serif; color: #1f2328; max-width: 1050px; margin: 2em auto; padding: 0 1.5em }
h1 { font-size: 1.7em; margin-bottom: .2em }
h2 { margin-top: 2em; border-bottom: 2px solid #0072b2; break-after: avoid }
h3 { margin: 1.6em 0 .2em; font-size: 1.05em }
nav, dl { font-size: .92em }
dl { display: grid; grid-template-columns: max-content auto; gap: .15em 1.2em }
dt { color: #57606a }
dd { margin: 0; overflow-wrap: anywhere }
.synthetic { background: #fff4d6; padding: .6em 1em }
.n { color: #57606a; font-size: .9em }
.wide { overflow-x: auto }
section.table { break-inside: avoid-page }
table { border-collapse: collapse; border: solid; border-width: 1.5px 0; font-size: .86em; margin: .5em 0 }
thead { border-bottom: 1px solid }
th, td { padding: .22em .9em .22em 0; text-align: left; vertical-align: top; font-weight: normal }
thead th { font-weight: bold; vertical-align: bottom }
th small { display: block; font-weight: normal; color: #57606a }
.count, .decimal { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.notes { font-size: .8em; color: #424a53; max-width: 62em }
.notes p { margin: .15em 0 }
figure { margin: 1.5em 0; break-inside: avoid }
figure svg { max-width: 100%; height: auto }
figcaption { font-size: .9em; font-weight: bold }
@media print {
  body { margin: 0; max-width: none; font-size: 11px }
  nav { display: none }
  .wide { overflow: visible }
}
"""


def html_report(
    title: str, facts: Mapping[str, str], notices: Sequence[str], chapters: Sequence[Chapter], drawings: Mapping[str, bytes]
) -> str:
    """The page.

    facts     what is reported on, by name
    notices   what a reader must know first
    drawings  figures by name as SVG; where it lacks one, the figure is drawn by plotly.js, which is then part of the page
    """
    listed = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts.items())
    told = "".join(f'<p class="synthetic">{escape(notice)}</p>' for notice in notices)
    links = " · ".join(f'<a href="#part-{place}">{escape(chapter.title)}</a>' for place, chapter in enumerate(chapters))
    seen: list[str] = []
    parts = "\n".join(_chapter(place, chapter, drawings, seen) for place, chapter in enumerate(chapters))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>\n<body><h1>{escape(title)}</h1>\n'
        f"{told}<dl>{listed}</dl>\n<nav>{links}</nav>\n{parts}\n</body></html>\n"
    )


def _chapter(place: int, chapter: Chapter, drawings: Mapping[str, bytes], seen: list[str]) -> str:
    left = "".join(f"<p>Left out: {escape(name)}. {escape(why)}</p>" for name, why in chapter.left_out.items())
    pictures = "\n".join(_picture(picture, drawings, seen) for picture in chapter.pictures)
    tables = "\n".join(map(html_table, chapter.tables))
    return f'<h2 id="part-{place}">{escape(chapter.title)}</h2>\n{pictures}\n{tables}\n{left}'


def _picture(picture: Picture, drawings: Mapping[str, bytes], seen: list[str]) -> str:
    if picture.name in drawings:
        drawn = drawings[picture.name].decode()
    else:
        drawn = fragment_html(picture.figure, picture.name, script=not seen)
        seen.append(picture.name)
    title = escape(picture.title)
    return f'<figure role="img" aria-label="{title}">{drawn}<figcaption>{title}</figcaption></figure>'

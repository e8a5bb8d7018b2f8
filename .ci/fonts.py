"""Makes the smaller fonts of pages/_blinded/fonts from Streamlit's: `python .ci/fonts.py`, with fonttools and brotli installed.

Needed when Streamlit brings another font, or a page names another icon; tests/pages/test_request_guard.py says so. Icons are
those that pages and Streamlit's scripts name. The license of Source Sans lets no changed font keep the name "Source": the
smaller one has no name.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import streamlit
from fontTools.ttLib import TTFont  # type: ignore[import-not-found]
from streamlit.material_icon_names import ALL_MATERIAL_ICONS

ROOT = Path(__file__).resolve().parents[1]
STATIC = Path(streamlit.__file__).parent / "static" / "static"
FONTS = ROOT / "pages" / "_blinded" / "fonts"
NAMED = re.compile(r":material/([a-z0-9_]+):")
LETTERS = "U+20-17F,U+2000-206F,U+20AC,U+2122,U+2190-2193,U+2212,U+2260,U+2264-2265"
LICENSE_NAMES = "0,13,14"
"""Entries of a font's table of names: copyright, license, and where the license is."""


def icons_of_pages() -> Iterator[str]:
    """The icons that our pages name."""
    for folder in ("pages", "annotation"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".html", ".js"):
                yield from NAMED.findall(path.read_text(encoding="utf-8"))


def icons_of_streamlit() -> Iterator[str]:
    """The icons that Streamlit's own scripts name: what they draw without this form is no icon of the font."""
    for path in (STATIC / "js").glob("*.js"):
        yield from NAMED.findall(path.read_text(encoding="utf-8"))


def glyphs_by_name(font: Path) -> dict[str, str]:
    """The glyph of each icon: an icon is a ligature of the letters of its name, and several names may have one glyph."""
    opened = TTFont(font)
    letters = {glyph: chr(code) for code, glyph in sorted(opened.getBestCmap().items()) if code < 128}
    tables = [
        getattr(table, "ExtSubTable", table) for lookup in opened["GSUB"].table.LookupList.Lookup for table in lookup.SubTable
    ]
    return {
        "".join(letters.get(glyph, "") for glyph in (first, *ligature.Component)): ligature.LigGlyph
        for table in tables if hasattr(table, "ligatures")
        for first, ligatures in table.ligatures.items() for ligature in ligatures
    }  # fmt: skip


def subset(font: Path, *options: str) -> None:
    """Write a part of a font under its own name."""
    output = f"--output-file={FONTS / font.name}"
    subprocess.run([sys.executable, "-m", "fontTools.subset", font, "--flavor=woff2", output, *options], check=True)


def main() -> None:
    """Make both, and the list of the icons."""
    for old in FONTS.glob("*.woff2"):
        old.unlink()
    (icons,), (sans,) = (
        (STATIC / "media").glob(f"{name}.*woff2") for name in ("MaterialSymbols-Rounded", "SourceSansVF-Upright")
    )
    glyphs = glyphs_by_name(icons)
    names = sorted({*icons_of_pages(), *icons_of_streamlit()} & set(ALL_MATERIAL_ICONS) & glyphs.keys())
    # Without the closure: all icons could be made of these letters
    subset(
        icons,
        f"--glyphs={','.join(sorted({glyphs[name] for name in names}))}",
        "--unicodes=U+30-39,U+5F,U+61-7A",
        "--no-layout-closure",
    )
    subset(sans, f"--unicodes={LETTERS}", f"--name-IDs={LICENSE_NAMES}", "--layout-features+=tnum")
    (FONTS / "icons.txt").write_text("\n".join(names) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

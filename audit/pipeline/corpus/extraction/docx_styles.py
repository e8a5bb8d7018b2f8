"""How Word shows a run of text: struck, hidden, raised, in which font. Its own format counts, then that of its styles.

Rules of ECMA-376, part 1: styles build on each other (17.7.2), and a format that both the paragraph's and the character's style
switch on is off again (17.7.3).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

Format = dict[str, Any]
"""Names of run properties and their values: bool for what is on or off, else the text of w:val."""

SWITCHES = ("strike", "dstrike", "vanish")
# Strike and vanish are toggles across styles; double strike is not
TOGGLES = ("strike", "vanish")
VALUES = ("color", "highlight", "vertAlign", "position", "sz")
OFF = {"0", "false", "off", "none"}
HIGHLIGHTS = {
    "black": "000000", "blue": "0000FF", "cyan": "00FFFF", "green": "00FF00", "magenta": "FF00FF", "red": "FF0000",
    "yellow": "FFFF00", "white": "FFFFFF", "darkBlue": "000080", "darkCyan": "008080", "darkGreen": "008000",
    "darkMagenta": "800080", "darkRed": "800000", "darkYellow": "808000", "darkGray": "808080", "lightGray": "C0C0C0",
}  # fmt: skip
PAPER = "FFFFFF"
# Text whose colour differs less from what is behind it, of 255, or that is not higher, in points, is not seen
MIN_CONTRAST, MIN_HEIGHT = 9, 1.5
# Smaller shifts only align text
MIN_SHIFT = 2.0


class Look(NamedTuple):
    """How a run is shown. place: "superscript", "subscript" or "". font: "" for that of the text around."""

    struck: bool
    hidden: bool
    place: str
    font: str


class Styles:
    """The styles of a document. `namespace` is that of WordprocessingML in it, `root` its styles, None without any."""

    def __init__(self, root: Any, namespace: str, paper: str = PAPER) -> None:
        self.w, self.paper = f"{{{namespace}}}", paper
        styles = root.iter(f"{self.w}style") if root is not None else ()
        self.by_id = {style.get(f"{self.w}styleId"): style for style in styles}
        self.default = next((name for name, style in self.by_id.items() if self._is_default(style)), None)
        defaults = root.find(f"{self.w}docDefaults/{self.w}rPrDefault/{self.w}rPr") if root is not None else None
        self.defaults = self._format(defaults)
        self._chains: dict[str | None, list[Any]] = {}
        self._formats: dict[str | None, Format] = {}

    def look(self, run: Any) -> Look:
        """How a run (w:r) is shown where it is in its part."""
        paragraph = next(run.iterancestors(f"{self.w}p"), None)
        named = self._value(paragraph, "pPr", "pStyle") or self.default
        of_paragraph, of_run = self._style_format(named), self._style_format(self._value(run, "rPr", "rStyle"))
        own = self._format(run.find(f"{self.w}rPr"))
        shown = self.defaults | of_paragraph | of_run | own
        for name in TOGGLES:
            by_style = self.defaults.get(name, False) or of_paragraph.get(name, False) != of_run.get(name, False)
            shown[name] = own.get(name, by_style)
        height = float(shown.get("sz", "22")) / 2 if shown.get("sz", "22").isdigit() else MIN_HEIGHT
        unseen = shown["vanish"] or shown.get("no_fill", False) or height < MIN_HEIGHT or self._has_no_contrast(run, shown)
        return Look(shown["strike"] or shown.get("dstrike", False), unseen, _place(shown), shown.get("font", ""))

    def _is_default(self, style: Any) -> bool:
        return style.get(f"{self.w}type") == "paragraph" and style.get(f"{self.w}default") in ("1", "true", "on")

    def _value(self, element: Any, *path: str) -> str | None:
        found = element.find("/".join(f"{self.w}{name}" for name in path)) if element is not None else None
        return found.get(f"{self.w}val") if found is not None else None

    def _chain(self, style_id: str | None) -> list[Any]:
        """A style and those that it is based on, the outermost first."""
        if style_id not in self._chains:
            chain: list[Any] = []
            name = style_id
            while (style := self.by_id.get(name)) is not None and style not in chain:
                chain.insert(0, style)
                name = self._value(style, "basedOn")
            self._chains[style_id] = chain
        return self._chains[style_id]

    def _style_format(self, style_id: str | None) -> Format:
        if style_id not in self._formats:
            formats: Format = {}
            for style in self._chain(style_id):
                formats |= self._format(style.find(f"{self.w}rPr"))
            self._formats[style_id] = formats
        return self._formats[style_id]

    def _format(self, properties: Any) -> Format:
        found: Format = {}
        for child in properties if properties is not None else ():
            name = child.tag.rpartition("}")[2] if isinstance(child.tag, str) else ""
            value = child.get(f"{self.w}val")
            if name in SWITCHES:
                found[name] = value not in OFF
            elif name in VALUES and value is not None:
                found[name] = value
            elif name == "shd":
                found[name] = child
            elif name == "rFonts" and (font := child.get(f"{self.w}ascii") or child.get(f"{self.w}hAnsi")):
                found["font"] = font
            elif name == "textFill":
                found["no_fill"] = any(inside.tag.endswith("}noFill") for inside in child)
        return found

    # -- what is behind the text -----------------------------------------------------------------------------------

    def _has_no_contrast(self, run: Any, shown: Format) -> bool:
        colour = _rgb(shown.get("color"))
        behind = _rgb(self._behind(run, shown)) if colour else None
        if colour is None or behind is None:
            return False
        return max(abs(one - other) for one, other in zip(colour, behind, strict=True)) < MIN_CONTRAST

    def _behind(self, run: Any, shown: Format) -> str | None:
        """The colour behind a run; None where it is not known: in a drawing, in front of a pattern."""
        if shown.get("highlight", "none") != "none":
            return HIGHLIGHTS.get(shown["highlight"])
        for shading in self._shadings(run, shown):
            is_for_some_rows = next(shading.iterancestors(f"{self.w}tblStylePr"), None) is not None
            if is_for_some_rows or shading.get(f"{self.w}val", "clear") not in ("clear", "nil"):
                return None
            fill = shading.get(f"{self.w}fill", "auto")
            if fill != "auto" or shading.get(f"{self.w}themeFill"):
                return str(fill)
        return None if next(run.iterancestors(f"{self.w}txbxContent"), None) is not None else self.paper

    def _shadings(self, run: Any, shown: Format) -> Iterator[Any]:
        """The shadings around a run, the innermost first."""
        if "shd" in shown:
            yield shown["shd"]
        for element in run.iterancestors(*(f"{self.w}{name}" for name in ("p", "tc", "tbl"))):
            properties = element.find(f"{element.tag}Pr")
            if properties is None:
                continue
            yield from properties.findall(f"{self.w}shd")
            name = self._value(properties, "pStyle") or self._value(properties, "tblStyle")
            shadings = [shading for style in reversed(self._chain(name)) for shading in style.iter(f"{self.w}shd")]
            # Where some rows have a colour of their own, it is not known which
            yield from sorted(shadings, key=lambda shading: shading.getparent().getparent().tag != f"{self.w}tblStylePr")


def _place(shown: Format) -> str:
    if shown.get("vertAlign") in ("superscript", "subscript"):
        return str(shown["vertAlign"])
    try:
        shift = float(shown.get("position", "0")) / 2
    except ValueError:  # with a unit
        return ""
    return "superscript" if shift >= MIN_SHIFT else "subscript" if shift <= -MIN_SHIFT else ""


def _rgb(colour: str | None) -> tuple[int, ...] | None:
    try:
        return tuple(bytes.fromhex(colour)) if colour and len(colour) == 6 else None
    except ValueError:
        return None

"""What mammoth does not read of a DOCX file, rewritten as what it reads: struck and hidden text, symbols, fields, formulas.

Each function changes one part of the file (the document, its footnotes or endnotes) in place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.optional_imports import optional
from audit.pipeline.corpus.extraction.docx_styles import Look, Styles

COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
VML = "{urn:schemas-microsoft-com:vml}"
SPACE = "{http://www.w3.org/XML/1998/namespace}space"
SYMBOL_FONTS = {"Symbol", "Wingdings", "Wingdings 2", "Wingdings 3", "Webdings"}
# Boxes, ticks and crosses of these fonts, as every font has them
SIGNS = str.maketrans("🞏🞎🗆□⬜🗹🗷🗵⮽⌧🗸🗶🗴🗙", "☐☐☐☐☐☑☒☒☒☒✓✗✗✗")
# The colour of highlighting that stands for hidden text in the style map; Word has no such colour
HIDDEN_MARK = "hidden"
# They only hold text that mammoth would leave out
WRAPPERS = ("fldSimple", "dir", "bdo", "ruby", "rubyBase")
BREAKS = {"cr": "br", "ptab": "tab"}
# Longer text that is shifted is not a note's mark or an exponent
MAX_SHIFTED = 12


def rewrite(root: Any, styles: Styles) -> None:
    """Rewrite one part of the file."""
    w = styles.w
    _choose_alternatives(root, w)
    _keep_changes(root, w)
    for formula in list(root.iter("{*}oMath")):
        _replace(formula, list(_formula_runs(formula, w)))
    _unwrap(root, w)
    for field in list(root.iter(f"{w}ddList")):
        _show_choice(field, w)
    for run in list(root.iter(f"{w}r")):
        look = styles.look(run)
        _show_symbols(run, look.font, w)
        _mark(run, look, w)


def text_of(element: Any, w: str) -> str:
    """The text in an element, with a space between paragraphs."""
    texts = {f"{w}t", f"{w}delText"}
    inside = element.iter(*texts, f"{w}p", f"{w}tab", f"{w}br", f"{w}cr")
    return " ".join("".join((part.text or "") if part.tag in texts else " " for part in inside).split())


def _replace(element: Any, others: list[Any]) -> None:
    parent = element.getparent()
    place = parent.index(element)
    parent[place : place + 1] = others


def _new(element: Any, name: str, text: str | None = None, **attributes: str) -> Any:
    """A new element of WordprocessingML. `element` is one of the same namespace."""
    w = element.tag.rpartition("}")[0] + "}"
    new = element.makeelement(f"{w}{name}", {f"{w}{key}": value for key, value in attributes.items()})
    if text is not None:
        new.text = text
        new.set(SPACE, "preserve")
    return new


def _choose_alternatives(root: Any, w: str) -> None:
    """Of two forms of a drawing mammoth reads the older one, which may be missing; text in the newer form is kept, too."""
    for alternatives in list(root.iter(f"{COMPATIBILITY}AlternateContent")):
        old = alternatives.find(f"{COMPATIBILITY}Fallback")
        choices = alternatives.findall(f"{COMPATIBILITY}Choice")
        chosen = next((choice for choice in choices if text_of(choice, w)), None)
        if chosen is not None and (old is None or not text_of(old, w)):
            _replace(alternatives, list(chosen))
            continue
        for choice in choices:
            alternatives.remove(choice)
    for drawing in list(root.iter(f"{w}drawing")):
        boxes = [box for box in drawing.iter(f"{w}txbxContent") if next(box.iterancestors(f"{w}txbxContent"), None) is None]
        if boxes:
            picture = _new(drawing, "pict")
            for box in boxes:
                textbox = picture.makeelement(f"{VML}textbox")
                textbox.append(box)
                picture.append(textbox)
            _replace(drawing, [picture])


def _unwrap(root: Any, w: str) -> None:
    for element in list(root.iter(*(f"{w}{name}" for name in WRAPPERS), "{*}oMathPara")):
        _replace(element, list(element))
    for element in root.iter(*(f"{w}{name}" for name in BREAKS)):
        element.tag = f"{w}{BREAKS[element.tag.rpartition('}')[2]]}"


def _keep_changes(root: Any, w: str) -> None:
    """Deletions that are tracked are struck text on the page; what was moved is where it was moved to."""
    moved = {text_of(move, w) for move in root.iter(f"{w}moveTo")}
    for move in list(root.iter(f"{w}moveFrom")):
        if text_of(move, w) in moved or move.getparent().tag == f"{w}rPr":
            _replace(move, [])
        else:
            move.tag = f"{w}del"
    for deletion in list(root.iter(f"{w}del")):
        for run in deletion.iter(f"{w}r"):
            _set(run, "strike")
        for text in deletion.iter(f"{w}delText"):
            text.tag = f"{w}t"
        # Of a paragraph's mark, the deletion joins two paragraphs: mammoth does so. A row's is in its properties
        if deletion.getparent().tag not in (f"{w}rPr", f"{w}trPr"):
            _replace(deletion, list(deletion))
    for name, mark in (("del", "strike"), ("hidden", "vanish")):
        for change in [change for change in root.iter(f"{w}{name}") if change.getparent().tag == f"{w}trPr"]:
            row = change.getparent().getparent()
            _replace(change, [])
            for run in row.iter(f"{w}r"):
                _set(run, mark)


def _properties(run: Any) -> Any:
    properties = run.find(run.tag + "Pr")
    if properties is None:
        properties = _new(run, "rPr")
        run.insert(0, properties)
    return properties


def _set(run: Any, name: str, value: str | None = None) -> None:
    properties = _properties(run)
    new = _new(run, name, **({"val": value} if value else {}))
    for old in properties.findall(new.tag):
        properties.remove(old)
    properties.append(new)


def _mark(run: Any, look: Look, w: str) -> None:
    """Write how a run is shown into its own format, the only one that mammoth reads."""
    if look.struck or run.find(f"{run.tag}Pr/{w}strike") is not None:
        _set(run, "strike", None if look.struck else "0")
    if look.hidden:
        _set(run, "highlight", HIDDEN_MARK)
    if look.place and len(text_of(run, w)) <= MAX_SHIFTED:
        _set(run, "vertAlign", look.place)


# -- symbols, fields, formulas -----------------------------------------------------------------------------------------


def _show_symbols(run: Any, font: str, w: str) -> None:
    """Characters of symbol fonts as those that they show: þ in Wingdings is a ticked box. Unknown ones stay private."""
    for symbol in list(run.iter(f"{w}sym")):
        code = int(symbol.get(f"{w}char") or "FFFD", 16)
        _replace(symbol, [_new(run, "t", _shown(code, symbol.get(f"{w}font") or ""))])
    if font in SYMBOL_FONTS:
        for text in run.iter(f"{w}t"):
            text.text = "".join(
                character if character.isspace() else _shown(ord(character), font) for character in text.text or ""
            )


def _shown(code: int, font: str) -> str:
    table = optional("mammoth.docx.dingbats", "Reading a DOCX file", "pipeline").dingbats
    low = code - 0xF000 if 0xF000 <= code <= 0xF0FF else code
    known = table.get((font, code)) or table.get((font, low))
    if known:
        return chr(known).translate(SIGNS)
    return chr(0xF000 + low if font in SYMBOL_FONTS and low <= 0xFF else code)


def _show_choice(field: Any, w: str) -> None:
    """The chosen entry of a drop-down list; Word shows the first where none is chosen."""
    entries = [entry.get(f"{w}val") or "" for entry in field.findall(f"{w}listEntry")]
    marks = [mark for name in ("result", "default") if (mark := field.find(f"{w}{name}")) is not None]
    number = marks[0].get(f"{w}val") or "0" if marks else "0"
    begin = next(field.iterancestors(f"{w}fldChar"), None)
    if begin is not None and number.isdigit() and int(number) < len(entries):
        begin.addnext(_new(begin, "t", entries[int(number)]))


def _formula_runs(formula: Any, w: str, place: str = "") -> Iterator[Any]:
    """The runs of a formula on one line: exponents are raised, and a fraction is written with a slash."""
    for part in formula:
        name = part.tag.rpartition("}")[2] if isinstance(part.tag, str) else ""
        if name == "r":
            yield _run_of(formula, w, "".join(text.text or "" for text in part.iter("{*}t")), place)
        elif name in ("sup", "sub"):
            yield from _formula_runs(part, w, "superscript" if name == "sup" else "subscript")
        elif name == "f":
            yield from _fraction_runs(part, w, place)
        else:
            yield from _formula_runs(part, w, place)


def _fraction_runs(fraction: Any, w: str, place: str) -> Iterator[Any]:
    above, below = fraction.find("{*}num"), fraction.find("{*}den")
    # In "1 1/2" the fraction stands apart from the whole number
    is_number = all("".join(part.itertext()).strip().isdigit() for part in (above, below))
    yield from _formula_runs(above, w, "superscript" if is_number else place)
    yield _run_of(fraction, w, "/", "" if is_number else place)
    yield from _formula_runs(below, w, "subscript" if is_number else place)


def _run_of(element: Any, w: str, text: str, place: str) -> Any:
    run = element.makeelement(f"{w}r")
    run.append(_new(run, "t", text))
    if place:
        _set(run, "vertAlign", place)
    return run

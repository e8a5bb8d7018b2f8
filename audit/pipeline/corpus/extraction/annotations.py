"""The annotations of a PDF page: what its reviewers struck, corrected and noted, and what its form fields say."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from audit.optional_imports import optional
from audit.pipeline.corpus.extraction.glyphs import PURPOSE, Display
from audit.pipeline.corpus.extraction.layout import TextRun

# A field nearer to its label than this many type sizes is read as part of the label's line
NEAR = 3.0
# Type sizes between a field and its label, and from line to line of a value
SPACE, PITCH = 0.3, 1.2
# Points: the type of a value without any text beside it, and how far outside its field the line of its label may be
MAX_SIZE, MARGIN = 12.0, 3.0
TICKED, UNTICKED = "[x]", "[ ]"


Box = tuple[float, float, float, float]
"""Left, bottom, right and top end, in points of the PDF's own axes."""


class FormField(NamedTuple):
    """What a form field says, and where it is."""

    text: str
    box: Box


class Annotations(NamedTuple):
    """What the annotations of a page say.

    struck     what is struck through
    drawn      drawings, which may strike text through
    fields     the values of form fields, and "[x]" or "[ ]" for check boxes and radio buttons
    free_text  text that is written on the page: corrections, for instance
    notes      comments that open when they are clicked on, and the words of stamps
    hidden     values and text that are not displayed
    links      what leads to another place when it is clicked on
    """

    struck: tuple[Box, ...] = ()
    drawn: tuple[Box, ...] = ()
    fields: tuple[FormField, ...] = ()
    free_text: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    links: tuple[Box, ...] = ()


def annotations_of(page: Any, form: Any) -> Annotations:
    """The annotations of a page of PDFium; `form` is the form of its document, None without one."""
    reader = _Reader(page, form)
    for annotation in reader.each():
        reader.add(annotation)
    return reader.annotations()


class _Reader:
    def __init__(self, page: Any, form: Any) -> None:
        self.raw = optional("pypdfium2.raw", PURPOSE, "pipeline")
        self.page, self.form = page, form
        self.struck: list[Box] = []
        self.drawn: list[Box] = []
        self.links: list[Box] = []
        self.fields: list[FormField] = []
        self.texts: dict[str, list[str]] = {"free_text": [], "notes": [], "hidden": []}

    def annotations(self) -> Annotations:
        free_text, notes, hidden = (tuple(filter(None, self.texts[use])) for use in ("free_text", "notes", "hidden"))
        return Annotations(tuple(self.struck), tuple(self.drawn), tuple(self.fields), free_text, notes, hidden, tuple(self.links))

    def add(self, annotation: Any) -> None:
        raw, kind, hidden = self.raw, self.raw.FPDFAnnot_GetSubtype(annotation), self._is_hidden(annotation)
        if kind == raw.FPDF_ANNOT_WIDGET:
            field = self._field(annotation)
            if not hidden:
                self.fields += [field] if field.text else []
            elif field.text not in (TICKED, UNTICKED):
                self.texts["hidden"].append(field.text)
            return
        if not hidden:
            self.struck += self._quads(annotation) if kind == raw.FPDF_ANNOT_STRIKEOUT else ()
            drawn = kind in (raw.FPDF_ANNOT_LINE, raw.FPDF_ANNOT_INK, raw.FPDF_ANNOT_POLYLINE, raw.FPDF_ANNOT_SQUARE)
            self.drawn += [self._box(annotation)] if drawn else []
            self.links += [self._box(annotation)] if kind == raw.FPDF_ANNOT_LINK else []
        # A comment's window repeats the comment, and a link's text describes where it leads
        if kind not in (raw.FPDF_ANNOT_POPUP, raw.FPDF_ANNOT_LINK):
            use = "hidden" if hidden else "free_text" if kind == raw.FPDF_ANNOT_FREETEXT else "notes"
            self.texts[use].append(self._string(annotation, "Contents"))

    def each(self) -> Iterator[Any]:
        for index in range(self.raw.FPDFPage_GetAnnotCount(self.page.raw)):
            with self._opened(index) as annotation:
                if annotation:
                    yield annotation

    @contextmanager
    def _opened(self, index: int) -> Iterator[Any]:
        annotation = self.raw.FPDFPage_GetAnnot(self.page.raw, index)
        try:
            yield annotation
        finally:
            if annotation:
                self.raw.FPDFPage_CloseAnnot(annotation)

    def _is_hidden(self, annotation: Any) -> bool:
        flags = self.raw.FPDFAnnot_GetFlags(annotation)
        return bool(flags & (self.raw.FPDF_ANNOT_FLAG_HIDDEN | self.raw.FPDF_ANNOT_FLAG_NOVIEW))

    def _box(self, annotation: Any) -> Box:
        rectangle = self.raw.FS_RECTF()
        self.raw.FPDFAnnot_GetRect(annotation, rectangle)
        return rectangle.left, rectangle.bottom, rectangle.right, rectangle.top

    def _quads(self, annotation: Any) -> Iterator[Box]:
        quad = self.raw.FS_QUADPOINTSF()
        count = self.raw.FPDFAnnot_CountAttachmentPoints(annotation)
        for index in range(count):
            self.raw.FPDFAnnot_GetAttachmentPoints(annotation, index, quad)
            x, y = (quad.x1, quad.x2, quad.x3, quad.x4), (quad.y1, quad.y2, quad.y3, quad.y4)
            yield min(x), min(y), max(x), max(y)
        if not count:
            yield self._box(annotation)

    def _string(self, annotation: Any, key: str) -> str:
        return _utf16(lambda buffer, size: self.raw.FPDFAnnot_GetStringValue(annotation, key.encode(), buffer, size))

    def _field(self, annotation: Any) -> FormField:
        raw, form, box = self.raw, self.form, self._box(annotation)
        kind = raw.FPDFAnnot_GetFormFieldType(form, annotation) if form else raw.FPDF_FORMFIELD_UNKNOWN
        if kind in (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON):
            return FormField(TICKED if raw.FPDFAnnot_IsChecked(form, annotation) else UNTICKED, box)
        if kind in (raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX):
            return FormField(", ".join(self._chosen(annotation)) or self._value(annotation), box)
        return FormField(self._value(annotation) if kind == raw.FPDF_FORMFIELD_TEXTFIELD else "", box)

    def _value(self, annotation: Any) -> str:
        return _utf16(lambda buffer, size: self.raw.FPDFAnnot_GetFormFieldValue(self.form, annotation, buffer, size))

    def _chosen(self, annotation: Any) -> Iterator[str]:
        raw, form = self.raw, self.form
        for index in range(raw.FPDFAnnot_GetOptionCount(form, annotation)):
            if raw.FPDFAnnot_IsOptionSelected(form, annotation, index):
                yield self._label(annotation, index)

    def _label(self, annotation: Any, index: int) -> str:
        return _utf16(lambda buffer, size: self.raw.FPDFAnnot_GetOptionLabel(self.form, annotation, index, buffer, size))


def _utf16(read: Any) -> str:
    """A string that the C library writes as UTF-16 with a zero at its end; it returns the number of its bytes."""
    size = read(None, 0)
    buffer = ctypes.create_string_buffer(size)
    read(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw[: max(0, size - 2)].decode("utf-16-le", "replace").strip()


# -- fields in the text ------------------------------------------------------------------------------------------------


def field_runs(fields: Iterable[FormField], runs: Sequence[TextRun], display: Display) -> Iterator[TextRun]:
    """The values of fields as text of the page so displayed, on the line of the text beside them."""
    for field in fields:
        area = display.area(*field.box)
        beside = [run for run in runs if area.top - MARGIN <= run.baseline <= area.bottom + MARGIN]
        nearest = min(beside, key=lambda run: max(area.x0 - run.x1, run.x0 - area.x1), default=None)
        height = area.bottom - area.top
        size = nearest.size if nearest else max(1.0, min(MAX_SIZE, 0.8 * height))
        baseline = nearest.baseline if nearest else area.bottom - 0.25 * height
        on_line = [run for run in beside if run.baseline == baseline]
        x0 = max((run.x1 + SPACE * size for run in on_line if _is_near(area.x0 - run.x1, size)), default=area.x0)
        x1 = min((run.x0 - SPACE * size for run in on_line if _is_near(run.x0 - area.x1, size)), default=area.x1)
        for number, text in enumerate(field.text.splitlines()):
            yield TextRun(text, x0, max(x0, x1), baseline + number * PITCH * size, size, bold=False, space_after=True)


def _is_near(gap: float, size: float) -> bool:
    return -0.5 * size <= gap <= NEAR * size

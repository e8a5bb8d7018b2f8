"""What of a page is its own text: everything but what no reader sees, what is withdrawn, and what each page of a site repeats.

What goes is recorded with its kind, so that letters in are letters out. What is the page's text is decided by how many of its
sentences are in an element, never by names that a site gives to its elements.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import takewhile
from typing import Any

from audit.pipeline.corpus.extraction.html_controls import HEADING_TAGS, Panels, letters, move_titles, remove
from audit.pipeline.corpus.extraction.html_styles import EMPHASIS, ElementStyle, PageStyles, is_emphasis, style_of
from audit.pipeline.corpus.extraction.html_text import GAP, INLINE, events, text_of
from audit.pipeline.corpus.extraction.losses import loss
from audit.text.corrections import letters_in_order
from audit.text.documents import FRAME, HIDDEN, STRUCK, UNREAD, Loss

# Browsers show nothing of what these hold, or a picture in its place
UNSEEN = {
    "noscript", "template", "iframe", "object", "video", "audio", "canvas", "datalist", "noframes", "noembed", "annotation",
    "annotation-xml", "map", "rp",
}  # fmt: skip
FRAME_ROLES = {
    "navigation", "banner", "contentinfo", "search", "dialog", "alertdialog", "menu", "menubar", "listbox", "toolbar",
}  # fmt: skip
DIALOGS = {"dialog", "alertdialog"}
# Around the page's own text these are its frame; within it they may hold the title, or an important note
OUTER = {"header", "footer", "aside"}
OWN_TEXT = {"main", "article"}
ENTRIES = {"text", "search", "email", "tel", "url", "password", "number", "date", "file", "submit", "image", "button", ""}
# A form of more words is a part of the text: a search, a newsletter or "Was this page helpful?" has fewer
MAX_FORM_WORDS = 40
NO_TEXT_TAGS = ("style", "script", "title", "link", "meta", "base")
# The end of a sentence; ":" introduces what is below it
SENTENCE_END = re.compile(r"[.!?…:؟۔][\"”’»)\]]*(?=\s|$)|[。！？।]")
STATES = {"true": "x", "false": " ", "mixed": "-"}
CHECKS = {"checkbox", "radio", "switch"}
NO_VALUE = {"hidden", "submit", "reset", "button", "image", "password", "file", "search"}
BLOCKS_TO_LINES = {"div", "p"}


class LeftOutOfPage:
    """The text that goes, by kind and by what it was. `kept` are words that a person keeps."""

    def __init__(self, root: Any, kept: Sequence[str] = ()) -> None:
        self.root = root
        self.kept = {letters_in_order(words) for words in kept}
        self.texts: dict[tuple[str, str], list[str]] = defaultdict(list)

    def add(self, kind: str, what: str, text: str | None) -> None:
        """Text that goes."""
        if text and text.strip():
            self.texts[kind, what].append(text)

    def drop(self, element: Any, kind: str, what: str) -> None:
        """Take an element with all of its text out of the page, apart from the elements in it whose words are kept."""
        parts = self.kept_in(element) if kind == FRAME else []
        if element in parts:
            return
        for part in parts:
            _lift(part)
            element.addprevious(part)
        self.add(kind, what, " ".join(element.itertext()))
        remove(element)

    def kept_in(self, element: Any) -> list[Any]:
        """The innermost elements whose words a person keeps."""
        parts = [part for part in element.iter() if letters_in_order(" ".join(part.itertext())) in self.kept] if self.kept else []
        return [part for part in parts if not any(inner in parts for inner in part.iterdescendants())]

    def is_gone(self, element: Any) -> bool:
        """Whether an element was taken out, or one around it."""
        return element.getroottree().getroot() is not self.root

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join(text for texts in self.texts.values() for text in texts)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """One loss for each kind of element."""
        found = (loss(kind, " ".join(texts)) for (kind, _), texts in self.texts.items())
        return tuple(each for each in found if each is not None)


def _lift(part: Any) -> None:
    """Take an element out of its place as a paragraph or heading of its own."""
    remove(part)
    part.tail = None
    part.tag = part.tag if part.tag in HEADING_TAGS else "p"


def take_styles(root: Any) -> PageStyles:
    """The styles of a page, from which everything is then gone that is not text: style sheets, scripts, titles and links."""
    styles = PageStyles(root)
    for element in list(root.iter(*NO_TEXT_TAGS)):
        if element.tag != "title" or next(element.iterancestors("svg"), None) is None:
            remove(element)
    return styles


def own_content(root: Any, styles: PageStyles, left_out: LeftOutOfPage, make: Callable[[str], Any], named: str = "") -> Any:
    """The element with the page's own text, in which all that is left is to be read; what goes is in `left_out`.

    make   makes an element of a tag
    named  the title in the head of the file
    """
    _name_headings(root)
    own = [*root.iter("main"), *root.xpath(".//*[@role='main' and not(self::main)]")] or list(root.iter("article"))
    panels = Panels(root, styles)
    _leave_out(root, _unseen, left_out)
    looks = _Looks(root, styles, panels, left_out)
    banners = {element for element in looks.fixed if not _is_opened_by_text(element, panels, looks.fixed)}
    move_titles(panels, left_out.is_gone, make)
    if len(own) == 1 and not left_out.is_gone(own[0]):
        _take_in_title(root, own[0], named)
    _Frame(root, banners, left_out).leave_out()
    _write_values(root)
    _write_signs(root)
    for element, tag in looks.tags.items():
        element.tag = tag
    return _own_text(root, own, left_out)


def _is_opened_by_text(element: Any, panels: Panels, fixed: Collection[Any]) -> bool:
    """Whether something in the page itself, not in a banner, a menu or a foot, opens an element that then lies above the page."""
    around = [{control, *control.iterancestors()} for control in panels.controls.get(element, ())]
    return any(all(one not in fixed and one.tag not in ("nav", "footer") for one in ancestors) for ancestors in around)


def _take_in_title(root: Any, own: Any, named: str) -> None:
    """Put the only title of a page, with its first paragraphs, into the main part, where it stands above that.

    A title without a paragraph may be the name of the site, unless most of the file's title (`named`) is it.
    """
    titles = list(root.iter("h1"))
    if len(titles) != 1 or own in titles[0].iterancestors() or own in titles[0].iter():
        return
    first = list(takewhile(lambda element: element.tag == "p", titles[0].itersiblings()))
    title = letters_in_order(text_of(titles[0]))
    is_named = title in letters_in_order(named) and 2 * len(title) > len(letters_in_order(named))
    if is_named or any(SENTENCE_END.search(text_of(element)) for element in first):
        for element in reversed([titles[0], *first]):
            tail, element.tail = element.tail, None
            element.addnext(own.makeelement("span"))
            element.getnext().tail = tail
            own.insert(0, element)
        titles[0].tail, own.text = own.text, None


def _leave_out(body: Any, reason_of: Callable[[Any], tuple[str, str] | None], left_out: LeftOutOfPage) -> None:
    stack = list(reversed(body))
    while stack:
        element = stack.pop()
        reason = reason_of(element)
        if reason is None:
            stack.extend(reversed(element))
        else:
            left_out.drop(element, *reason)


def _unseen(element: Any) -> tuple[str, str] | None:
    if element.tag == "svg":
        # Words of a drawing can be read; its title is for those who cannot see it
        return (UNREAD if next(element.iter("text", "foreignobject"), None) is not None else HIDDEN), "drawing"
    return (HIDDEN, element.tag) if element.tag in UNSEEN else None


def _name_headings(body: Any) -> None:
    for element in body.xpath(".//*[@role='heading']"):
        level = element.get("aria-level") or "2"
        element.tag = f"h{level}" if level in "123456" and element.tag not in HEADING_TAGS else element.tag


# -- what is not visible, and what is withdrawn -----------------------------------------------------------------------


class _Looks:
    """Leaves out what is hidden or struck. `tags` are the elements that look like another one; `fixed` those above the page."""

    def __init__(self, body: Any, styles: PageStyles, panels: Panels, left_out: LeftOutOfPage) -> None:
        self.tags: dict[Any, str] = {}
        self.fixed: set[Any] = set()
        self.panels, self.left_out = panels, left_out
        self.styles = styles
        self.marks = len(list(body.iter("h1", "main")))
        self.whole = letters(body)
        around = _shown(style_of(body, styles.declared(body), styles.first))
        styles.enter(body)
        _leave_out_own_text(body, around, left_out)
        self._read_all(body, around)

    def _read_all(self, body: Any, around: ElementStyle) -> None:
        # An element without a style is the end of one
        stack: list[tuple[Any, ElementStyle | None]] = [(child, around) for child in reversed(body)]
        while stack:
            element, around_it = stack.pop()
            if around_it is None:
                self.styles.leave(element)
            elif (style := self._read(element, self.styles.declared(element), around_it)) is not None and len(element):
                self.styles.enter(element)
                stack.append((element, None))
                stack += [(child, style) for child in reversed(element)]

    def _read(self, element: Any, declared: dict[str, str], around: ElementStyle) -> ElementStyle | None:
        style = style_of(element, declared, around)
        if any(not self.left_out.is_gone(control) for control in self.panels.controls.get(element, ())):
            style = _shown(style)
        if (style.removed or not style.visible) and (self.styles.is_switched(element) or self._is_whole_page(element)):
            style = _shown(style)
        if style.removed:
            self.left_out.drop(element, HIDDEN, "element")
            return None
        if declared.get("display") in ("flex", "inline-flex", "grid"):
            _separate(element)
        if declared.get("position") == "fixed":
            self.fixed.add(element)
        if is_emphasis(declared):
            element.set(EMPHASIS, "")
        if tag := _tag_of(element, style):
            self.tags[element] = tag
        _leave_out_own_text(element, style, self.left_out)
        return style

    def _is_whole_page(self, element: Any) -> bool:
        """Whether an element holds the page's title or main part, and most of its letters: hidden until scripts have run."""
        if element.tag == "body":
            return True
        inside = sum(1 for _ in element.iter("h1", "main")) if self.marks else 0
        return 0 < self.marks == inside and 2 * letters(element) > self.whole


def _shown(style: ElementStyle) -> ElementStyle:
    return style._replace(removed=False, visible=True, tiny=False)


def _separate(element: Any) -> None:
    # Its children stand beside each other as blocks do
    for child in element:
        child.tail = f" {child.tail or ''}"


def _tag_of(element: Any, style: ElementStyle) -> str | None:
    if style.place and element.tag not in ("sup", "sub"):
        return "sup" if style.place == "raised" else "sub"
    parent = element.getparent()
    place = {"msup": ("sup",), "msub": ("sub",), "msubsup": ("sub", "sup"), "mfrac": ("sup", "sub")}.get(parent.tag)
    if place:
        position = parent.index(element) - (parent.tag != "mfrac")
        return place[position] if 0 <= position < len(place) else None
    if style.keeps_lines and element.tag in ("p", "div"):
        return "pre"
    if style.display == "inline" and element.tag in BLOCKS_TO_LINES:
        return "span"
    return (
        "div" if style.display == "block" and element.tag in INLINE - {"input", "select", "button", "textarea", "label"} else None
    )


def _leave_out_own_text(element: Any, style: ElementStyle, left_out: LeftOutOfPage) -> None:
    if style.is_seen and not style.struck:
        return
    kind = STRUCK if style.is_seen else HIDDEN
    left_out.add(kind, "text", element.text)
    element.text = _gap(element.text, kind)
    for child in element:
        left_out.add(kind, "text", child.tail)
        child.tail = _gap(child.tail, kind)


def _gap(text: str | None, kind: str) -> str | None:
    return None if text is None else GAP if kind == STRUCK and text.strip() else " " * (text[:1].isspace() and kind == STRUCK)


# -- what each page of a site repeats ---------------------------------------------------------------------------------


class _Frame:
    """Leaves out navigation, forms, dialogs and controls, but nothing that holds most of the page's sentences."""

    def __init__(self, body: Any, fixed: set[Any], left_out: LeftOutOfPage) -> None:
        self.body, self.fixed, self.left_out = body, fixed, left_out
        self.sentences = sentence_letters(body)
        self.headings = list(body.iter("h1", "main"))
        self.has_own = bool(body.xpath(".//main | .//article | .//*[@role='main']"))

    def leave_out(self) -> None:
        """Take the frame out of the page."""
        _leave_out(self.body, self._reason, self.left_out)

    def _reason(self, element: Any) -> tuple[str, str] | None:
        what = self._kind(element)
        return (FRAME, what) if what and not self._is_page(element, what) else None

    def _kind(self, element: Any) -> str:
        tag, role = element.tag, element.get("role")
        if tag == "select":
            return "" if _chosen(element) else "select"
        if tag == "option":
            return "" if element in _chosen(next(element.iterancestors("select"), None)) else "option"
        if tag in ("nav", "dialog") or role in FRAME_ROLES or element.get("aria-modal") == "true":
            return str("dialog" if role in DIALOGS or element.get("aria-modal") else tag)
        if tag in OUTER and self._is_outer(element):
            return str(tag)
        if tag == "details" and len(element) == 2:  # a menu, under the control that opens it
            return self._kind(element[1])
        if tag == "form" and _is_short_form(element):
            return "form"
        if tag == "button" or (role == "button" and tag != "a"):
            return "button" if _is_action(element) else ""
        is_path = (element.get("itemtype") or "").endswith("/BreadcrumbList")
        if is_path or element in self.fixed:
            return "path" if is_path else "banner"
        return ""

    def _is_outer(self, element: Any) -> bool:
        around = element.iterancestors(*OWN_TEXT, "section", "blockquote", "details")
        inner = next((node for node in around if node.tag != "section" or element.tag != "aside"), None)
        # Without a main part, an aside may be a note of the text
        return inner is None and not (element.tag == "aside" and not self.has_own and self.sentences.get(element, 0) > 0)

    def _is_page(self, element: Any, what: str) -> bool:
        own, whole = self.sentences.get(element, 0), self.sentences.get(self.body, 0)
        if 2 * own <= whole:
            return False
        inside = set(element.iterdescendants("h1", "main"))
        return what == "form" or (what != "select" and all(heading in inside for heading in self.headings))


def _is_short_form(form: Any) -> bool:
    """A search, a newsletter or a question about the page: something to enter or send, and few words."""
    inputs = [(entry.get("type") or "text").lower() for entry in form.iter("input")]
    groups = {entry.get("name") for entry in form.iter("input") if (entry.get("type") or "").lower() == "radio"}
    has_control = any(kind in ENTRIES for kind in inputs) or next(form.iter("button", "textarea", "select"), None) is not None
    if not has_control or inputs.count("checkbox") > 1 or len(groups) > 1:
        return False
    return len(text_of(form).split()) <= MAX_FORM_WORDS


def _is_action(control: Any) -> bool:
    """Whether a button does something (print, share), and says nothing: a heading, a summary and a sentence say something."""
    around = next(control.iterancestors(*HEADING_TAGS, "summary"), None)
    if around is not None and letters(around) == letters(control):
        return False
    if any(child.tag in (*HEADING_TAGS, "p", "li", "table") for child in control.iter()):
        return False
    words = text_of(control)
    return not (len(words.split()) > 2 and SENTENCE_END.search(words))


def sentence_letters(body: Any) -> dict[Any, int]:
    """How many letters of sentences each element holds, links and controls not counted."""
    totals: dict[Any, int] = defaultdict(int)
    words: list[str] = []
    blocks, apart = [body], 0
    for event, element in events(body):
        is_apart = element.tag in ("a", "button", "select", "option", "textarea")
        if element.tag not in INLINE:
            totals[blocks[-1]] += _sentence_letters("".join(words))
            words = []
            blocks.append(element) if event == "start" else blocks.pop()
        apart += is_apart if event == "start" else -is_apart
        if event == "end" and element is not body:
            totals[element.getparent()] += totals[element]
        text = element.text if event == "start" else element.tail if element is not body else None
        if text and not apart:
            words.append(text)
    return totals


def _sentence_letters(text: str) -> int:
    end = max((match.end() for match in SENTENCE_END.finditer(text)), default=0)
    return sum(map(str.isalnum, text[:end]))


# -- the page's own element -------------------------------------------------------------------------------------------


def _own_text(body: Any, own: list[Any], left_out: LeftOutOfPage) -> Any:
    """The main part of the page, where it holds most of the sentences; else all of it."""
    if len(own) != 1 or left_out.is_gone(own[0]):
        return body
    sentences = sentence_letters(body)
    if 2 * sentences[own[0]] < sentences[body] or 4 * letters(own[0]) < letters(body):
        return body
    order = {element: number for number, element in enumerate(body.iter())}
    kept = [part for part in left_out.kept_in(body) if own[0] not in part.iterancestors()]
    first = sum(order[part] < order[own[0]] for part in kept)
    for number, part in enumerate(kept):
        _lift(part)
        own[0].insert(number if number < first else len(own[0]), part)
    for text in _texts_around(body, own[0]):
        left_out.add(FRAME, "around", text)
    return own[0]


def _texts_around(body: Any, own: Any) -> Iterator[str]:
    inside = False
    for event, element in events(body):
        if element is own:
            inside = event == "start"
        if not inside and (text := element.text if event == "start" else element.tail if element is not body else None):
            yield text


# -- what was entered -------------------------------------------------------------------------------------------------


def _write_values(body: Any) -> None:
    """Write the states of check boxes and the values of fields as text."""
    for element in list(body.iter("input")):
        element.text, element.tag = _value(element), "span"
    for element in list(body.iter("option", "optgroup")):
        element.text, element.tag = f" {element.text or ''} ", "span"
    for element in body.xpath(".//*[@aria-checked]"):
        kind, state = element.get("role"), STATES.get(element.get("aria-checked"))
        if kind in CHECKS and state is not None:
            element.text = f"{_mark(kind, state)} {element.text or ''}"


def _chosen(select: Any) -> list[Any]:
    """The options of a list that its page has chosen; without one, a browser shows the first, which nobody chose."""
    return [] if select is None else [option for option in select.iter("option") if "selected" in option.attrib]


def _value(element: Any) -> str:
    kind = (element.get("type") or "text").lower()
    if kind in CHECKS:
        return f" {_mark(kind, 'x' if 'checked' in element.attrib else ' ')} "
    return "" if kind in NO_VALUE else f" {element.get('value') or ''} "


def _mark(kind: str, state: str) -> str:
    return f"({state})" if kind == "radio" else f"[{state}]"


def _write_signs(body: Any) -> None:
    """The signs that browsers draw: the marks of a quotation, and the line of a fraction."""
    for element in body.iter("mfrac"):
        if len(element) > 1:
            element[0].tail = "⁄"
    for element in body.iter("q"):
        element.text = f"“{element.text or ''}"
        if len(element):
            element[-1].tail = f"{element[-1].tail or ''}”"
        else:
            element.text += "”"

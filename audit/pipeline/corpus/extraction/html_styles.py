"""What a page's own styles do to its text: whether it can be seen, is struck through, is raised, or ends a paragraph.

From the attributes of elements and the page's <style> blocks. ElementStyle sheets in other files are not fetched, and rules for a
certain size of screen, for print or for what a reader does (:hover) are not followed: they may not hold.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from audit.errors import DocumentError

# What decides about text; all other declarations are passed over
PROPERTIES = {
    "display", "visibility", "opacity", "content-visibility", "color", "background", "background-color", "background-image",
    "font", "font-size", "text-decoration", "text-decoration-line", "position", "left", "right", "top", "text-indent",
    "clip", "clip-path", "height", "width", "max-height", "max-width", "overflow", "overflow-x", "overflow-y", "transform",
    "vertical-align", "font-variant-position", "white-space", "font-weight",
}  # fmt: skip
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SIMPLE = re.compile(r"(?P<tag>[a-z][\w-]*|\*)?(?P<parts>(?:[.#][\w-]+|\[[^\[\]]+\])*)", re.IGNORECASE)
PART = re.compile(r"[.#][\w-]+|\[[^\[\]]+\]")
ATTRIBUTE = re.compile(r"\[\s*(?P<name>[\w-]+)\s*(?:=\s*[\"']?(?P<value>[^\"'\]]*)[\"']?\s*)?\]")
ALWAYS = re.compile(r"@(?:media\s+(?:only\s+)?(?:all|screen)|layer\b[^{]*|supports\b[^{]*)\s*", re.IGNORECASE)
MAX_CSS, MAX_CHECKS = 3_000_000, 4_000_000
LENGTH = re.compile(r"(?P<number>[+-]?(?:\d++(?:\.\d*+)?|\.\d+))(?P<unit>px|em|rem|ex|ch|pt|%|vw|vh)?", re.IGNORECASE)
PIXELS = {"em": 16, "rem": 16, "ex": 8, "ch": 8, "pt": 4 / 3, "vw": 12, "vh": 8}
# Text that far outside its place is outside the window
OFF_SCREEN = -999
# Letters of a pixel cannot be read, and colours with so small a difference in each channel cannot be told apart
MAX_TINY_PX, MAX_SAME_COLOUR = 1, 8
# Raised or lowered by less is the place of an icon
MIN_RAISED = 2.5
WHITE, BLACK, LINK, YELLOW, CLEAR = (255, 255, 255), (0, 0, 0), (0, 0, 238), (255, 255, 0), (-1, -1, -1)
CLEAR_COLOUR = re.compile(r"(?:rgba|hsla)\(.*,(?:0?\.0+|0)%?\)|(?:rgb|hsl)a?\(.*/(?:0?\.0+|0)%?\)|#\w{3}0|#\w{6}00")
GREY, LIGHT_GREY = (128, 128, 128), (211, 211, 211)
COLOURS = {
    "white": WHITE, "black": BLACK, "snow": (255, 250, 250), "ivory": (255, 255, 240), "whitesmoke": (245, 245, 245),
    "ghostwhite": (248, 248, 255), "floralwhite": (255, 250, 240), "gray": GREY, "grey": GREY, "silver": (192, 192, 192),
    "lightgray": LIGHT_GREY, "lightgrey": LIGHT_GREY, "red": (255, 0, 0), "green": (0, 128, 0), "blue": (0, 0, 255),
    "navy": (0, 0, 128), "yellow": YELLOW, "orange": (255, 165, 0),
}  # fmt: skip
Colour = tuple[int, int, int]
EMPHASIS = "data-emphasis"
"""Attribute, made here, of elements that their styles make bold or larger."""
MIN_LARGER = 1.15


class ElementStyle(NamedTuple):
    """How text in an element looks.

    removed     it takes no room, whatever the elements in it say: display none, outside the window, fully transparent
    visible     False where its own text cannot be seen, but an element in it may be seen
    struck      a line goes through it
    place       "raised", "lowered" or ""
    display     "block", "inline", or "" where its tag decides
    keeps_lines     line breaks of the file are line breaks of the text
    colour, background  red, green and blue from 0 to 255; None: unknown, CLEAR: transparent
    tiny        its letters have no size
    """

    removed: bool = False
    visible: bool = True
    struck: bool = False
    place: str = ""
    display: str = ""
    keeps_lines: bool = False
    colour: Colour | None = BLACK
    background: Colour | None = WHITE
    tiny: bool = False

    @property
    def is_seen(self) -> bool:
        """Whether a reader sees text that is directly in the element."""
        if self.removed or not self.visible or self.tiny or self.colour == CLEAR:
            return False
        return self.colour is None or self.background is None or not _same_colour(self.colour, self.background)


class SelectorStep(NamedTuple):
    """A simple selector, and what joins it to the one before it: " " for any element within, ">" for one directly within."""

    tag: str
    parts: tuple[str, ...]
    joint: str


class Rule(NamedTuple):
    """A rule of a style sheet. Of rules with the same property, that with the largest weight holds.

    around  the tags, classes and ids that elements around must have
    """

    steps: tuple[SelectorStep, ...]
    declarations: dict[str, str]
    important: dict[str, str]
    weight: tuple[int, int, int, int]
    around: frozenset[str]


class PageStyles:
    """The styles of a page, by element."""

    def __init__(self, root: Any) -> None:
        # What a reader can open is read as it looks when it is open
        for element in root.iter("details"):
            element.set("open", "")
        text = "\n".join(element.text or "" for element in root.iter("style") if _is_for_screens(element))
        self.rules: dict[str, list[Rule]] = {}
        # Most rules of a site are for elements that this page does not have
        names = {name for element in root.iter() for name in _names(element)} if text else set()
        self.checks = 0
        rules = list(_rules(text[:MAX_CSS]))
        self.switched = _switched(
            rules, Counter(name for element in root.iter() for name in set(_names(element))) if rules else {}
        )
        for rule in rules:
            last = rule.steps[-1]
            if not names.issuperset(rule.around | _needed(last)):
                continue
            key = next((part for part in last.parts if part[0] in "#."), last.tag)
            self.rules.setdefault(key, []).append(rule)
        # The tags, classes and ids of the elements that are open; most rules need others
        self.open: Counter[str] | None = None
        self.depth = 0
        # Colours of style sheets in other files are unknown
        has_others = bool(root.xpath("//link[contains(@rel, 'stylesheet')]"))
        self.first = ElementStyle(colour=None, background=None) if has_others else ElementStyle()

    def declared(self, element: Any) -> dict[str, str]:
        """The declarations that hold for an element itself, by property."""
        rules = sorted(self._matching(element), key=lambda rule: rule.weight)
        inline, inline_important = _declarations(element.get("style") or "")
        result: dict[str, str] = {"display": "none"} if element.get("hidden") not in (None, "until-found") else {}
        for attribute, name in (("bgcolor", "background-color"), ("color", "color" if element.tag == "font" else "")):
            result |= {name: value} if name and (value := element.get(attribute)) else {}
        for layer in (*(rule.declarations for rule in rules), inline, *(rule.important for rule in rules), inline_important):
            result |= layer
        return result

    def is_switched(self, element: Any) -> bool:
        """Whether an element is one of several screens or tabs of a page, of which a script shows one at a time."""
        return not self.switched.isdisjoint(_names(element))

    def enter(self, element: Any) -> None:
        """From here on, `declared` is asked for elements in this one, until it is left."""
        self.open = Counter() if self.open is None else self.open
        self.depth += 1
        self.open.update(_names(element) if self.rules else ())

    def leave(self, element: Any) -> None:
        """The end of what `enter` began."""
        self.depth -= 1
        if self.open is not None:
            self.open.subtract(_names(element) if self.rules else ())

    def _matching(self, element: Any) -> Iterator[Rule]:
        for key in ("*", *_names(element)) if self.rules else ():
            self.checks += len(self.rules.get(key, ()))
            if self.checks > MAX_CHECKS:
                raise DocumentError("its style sheets have too many rules for its elements to be followed")
            for rule in self.rules.get(key, ()):
                is_possible = self.open is None or all(self.open[name] > 0 for name in rule.around)
                self.checks += self.depth * len(rule.steps) * (is_possible and len(rule.steps) > 1)
                if is_possible and _matches(element, rule.steps):
                    yield rule


def _switched(rules: Sequence[Rule], counts: Mapping[str, int]) -> set[str]:
    """The classes that a rule hides and another one shows with one more class, where several elements have them: screens, tabs,
    and what a script fades in where a reader comes to it.
    """
    hidden: set[str] = set()
    for name in ("display", "opacity"):
        parts = {True: set[frozenset[str]](), False: set[frozenset[str]]()}
        for rule in rules:
            if value := (rule.declarations | rule.important).get(name):
                parts[_is_removed({name: value})].add(frozenset(rule.steps[-1].parts))
        single = (each for one in parts[True] if len(one) == 1 for each in one if any(one < other for other in parts[False]))
        hidden.update(each for each in single if each[0] == "." and counts.get(each, 0) > 1)
    return hidden


def _names(element: Any) -> list[str]:
    names = [element.tag, *(f".{name}" for name in (element.get("class") or "").split())]
    return [*names, f"#{element.get('id')}"] if element.get("id") else names


def style_of(element: Any, declared: dict[str, str], around: ElementStyle) -> ElementStyle:
    """How text in an element looks. `around` is the style of the element that it is in."""
    picture = re.search(r"url\(|gradient\(", declared.get("background-image", "") + declared.get("background", ""))
    background = YELLOW if element.tag == "mark" else around.background
    background = _colour(declared.get("background-color") or declared.get("background") or "", background)
    visibility = declared.get("visibility", "")
    size = _size(declared)
    display = declared.get("display", "")
    line = declared.get("text-decoration-line", "") + declared.get("text-decoration", "")
    return ElementStyle(
        removed=_is_removed(declared),
        visible=visibility not in ("hidden", "collapse") if visibility and visibility != "inherit" else around.visible,
        struck=around.struck or element.tag in ("del", "s", "strike") or "line-through" in line,
        place=_place(element, declared),
        display="inline" if display == "inline" else "block" if display and display not in ("none", "contents") else "",
        keeps_lines=declared["white-space"].startswith("pre") if "white-space" in declared else around.keeps_lines,
        colour=_text_colour(element, declared, around.colour),
        background=None if picture else background,
        tiny=around.tiny if size is None else size <= MAX_TINY_PX,
    )


def is_emphasis(declared: dict[str, str]) -> bool:
    """Whether declarations make text bold, or larger than that of a page is."""
    weight = declared.get("font-weight", "")
    size = LENGTH.fullmatch(declared.get("font-size", ""))
    unit = (size["unit"] or "").lower() if size else ""
    larger = float(size["number"]) * (0.01 if unit == "%" else PIXELS.get(unit, 1) / 16) if size else 0
    return weight in ("bold", "bolder") or (weight.isdigit() and int(weight) >= 600) or larger >= MIN_LARGER


# -- what declarations say -----------------------------------------------------------------------------------


def _is_removed(declared: dict[str, str]) -> bool:
    if declared.get("display") == "none" or declared.get("content-visibility") == "hidden":
        return True
    opacity = LENGTH.fullmatch(declared.get("opacity", ""))
    if opacity and float(opacity["number"]) <= (1 if opacity["unit"] == "%" else 0.01):
        return True
    places = [declared.get(name, "") for name in ("left", "right", "top")] if _is_placed(declared) else []
    if any(_pixels(value) <= OFF_SCREEN for value in (*places, declared.get("text-indent", ""))):
        return True
    return (
        _is_clipped(declared)
        or re.search(r"scale\w*\(\s*0\s*[,)]|translate\w*\(\s*-\d{4,}", declared.get("transform", "")) is not None
    )


def _is_placed(declared: dict[str, str]) -> bool:
    return declared.get("position") in ("absolute", "fixed", "relative")


def _is_clipped(declared: dict[str, str]) -> bool:
    clip = re.findall(r"\d+", declared.get("clip", "")) if _is_placed(declared) else []
    if len(clip) == 4 and all(int(value) <= 1 for value in clip):
        return True
    if re.fullmatch(r"inset\((?:50|100)%.*\)|circle\(0.*\)", declared.get("clip-path", "")):
        return True
    cut = {"hidden", "clip"} & {declared.get(name, "").split(" ")[0] for name in ("overflow", "overflow-x", "overflow-y")}
    sizes = [declared.get(name) for name in ("height", "width", "max-height", "max-width")]
    return bool(cut) and any(size and LENGTH.fullmatch(size) and _pixels(size) <= MAX_TINY_PX for size in sizes)


def _text_colour(element: Any, declared: dict[str, str], around: Colour | None) -> Colour | None:
    value = declared.get("color", "").replace(" ", "")
    if value == "transparent" or CLEAR_COLOUR.fullmatch(value):
        # The gradient behind transparent letters shows in them
        has_gradient = "background-image" in declared or "(" in declared.get("background", "")
        return None if has_gradient else CLEAR
    is_link = element.tag == "a" and element.get("href") is not None
    return _colour(declared.get("color", ""), LINK if is_link and around is not None else around)


def _pixels(value: str) -> float:
    length = LENGTH.fullmatch(value.strip())
    return float(length["number"]) * PIXELS.get((length["unit"] or "").lower(), 1) if length else 0.0


def _size(declared: dict[str, str]) -> float | None:
    value = declared.get("font-size", "")
    if not value and (short := re.search(r"(?:^|\s)([\d.]+(?:px|pt|em|rem|%)?)(?:/|\s)", declared.get("font", ""))):
        value = short[1]
    length = LENGTH.fullmatch(value)
    # A share of the size around is not known in pixels, but it is above zero or not
    if length is None:
        return None if not value or value in ("inherit", "smaller", "larger") else 16.0
    relative = (length["unit"] or "").lower() in ("em", "rem", "%", "ex", "ch")
    return (16.0 if float(length["number"]) > 0 else 0.0) if relative else _pixels(value)


def _place(element: Any, declared: dict[str, str]) -> str:
    by_tag = {"sup": "raised", "sub": "lowered"}.get(element.tag, "")
    align = declared.get("vertical-align", "") or declared.get("font-variant-position", "")
    if by_tag or align in ("super", "sub"):
        return by_tag or ("raised" if align == "super" else "lowered")
    shift = _shift(align)
    if declared.get("position") == "relative":
        shift -= _shift(declared.get("top", ""))
    return "raised" if shift >= MIN_RAISED else "lowered" if shift <= -MIN_RAISED else ""


def _shift(value: str) -> float:
    # A share of the height of a line
    return _pixels(value[:-1]) * 0.16 if value.endswith("%") else _pixels(value)


def _colour(value: str, otherwise: Colour | None) -> Colour | None:
    """The colour that a declaration names; `otherwise` where it names none, None where it cannot be known."""
    value = value.strip().lower()
    if not value or value in ("inherit", "currentcolor", "none", "transparent", "unset", "0"):
        return otherwise
    for word in [value, *value.split()]:
        if word in COLOURS:
            return COLOURS[word]
        if channels := _channels(word):
            return channels
    parts = re.findall(r"\d+(?:\.\d+)?", value) if value.startswith("rgb") else []
    # What is behind a colour that lets it through is mixed with it
    return (round(float(parts[0])), round(float(parts[1])), round(float(parts[2]))) if len(parts) == 3 else None


def _channels(word: str) -> Colour | None:
    if not re.fullmatch(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})", word):
        return None
    digits = word[1:] if len(word) == 7 else "".join(2 * digit for digit in word[1:])
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)


def _same_colour(one: Colour, other: Colour) -> bool:
    return all(abs(first - second) <= MAX_SAME_COLOUR for first, second in zip(one, other, strict=True))


# -- style sheets --------------------------------------------------------------------------------------------


def _is_for_screens(element: Any) -> bool:
    return (element.get("media") or "all").strip().lower() in ("all", "screen")


def _rules(css: str) -> Iterator[Rule]:
    for number, (selectors, block) in enumerate(_blocks(COMMENT.sub(" ", css))):
        normal, important = _declarations(block)
        if not normal and not important:
            continue
        for selector in selectors.split(","):
            if steps := _steps(selector.strip()):
                parts = [part for step in steps for part in step.parts]
                ids = sum(part[0] == "#" for part in parts)
                tags = sum(step.tag != "*" for step in steps)
                around = frozenset(name for step in steps[:-1] for name in _needed(step))
                yield Rule(steps, normal, important, (ids, len(parts) - ids, tags, number), around)


def _blocks(css: str) -> Iterator[tuple[str, str]]:
    """Each selector with its declarations; of rules within @ rules, those that always hold."""
    start, depth, opened, selector, skipped = 0, 0, 0, "", 0
    for match in re.finditer(r"[{};]", css):
        sign, position = match.group(), match.start()
        if sign == "{":
            head = css[start:position].strip()
            if depth == 0 and ALWAYS.fullmatch(head):
                start, opened = position + 1, opened + 1
                continue
            depth += 1
            skipped = depth if head.startswith("@") and not skipped else skipped
            selector, start = (head, position + 1) if depth == 1 else (selector, start)
        elif sign == "}":
            if depth == 0:
                opened, start = max(opened - 1, 0), position + 1
                continue
            if depth == 1:
                if not skipped:
                    yield selector, css[start:position]
                start, skipped = position + 1, 0
            depth -= 1
        elif depth == 0:
            start = position + 1


def _declarations(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """The declarations of a block or attribute, and those that are important."""
    normal: dict[str, str] = {}
    important: dict[str, str] = {}
    for declaration in COMMENT.sub(" ", text).split(";"):
        name, colon, value = declaration.partition(":")
        name = name.strip().lower()
        if not colon or name not in PROPERTIES:
            continue
        value, bang, _ = value.strip().lower().partition("!")
        (important if bang else normal)[name] = value.strip()
    return normal, important


def _steps(selector: str) -> tuple[SelectorStep, ...]:
    """The simple selectors of a selector; () where it has something else than tags, classes, ids and attributes."""
    steps: list[SelectorStep] = []
    joint = " "
    for word in re.sub(r"\s*>\s*", " > ", selector).split():
        if word == ">":
            joint = ">"
            continue
        simple = SIMPLE.fullmatch(word)
        if simple is None:
            return ()
        steps.append(SelectorStep((simple["tag"] or "*").lower(), tuple(PART.findall(simple["parts"])), joint))
        joint = " "
    return tuple(steps)


def _needed(step: SelectorStep) -> set[str]:
    return {name for name in (step.tag, *step.parts) if name != "*" and name[0] != "["}


def _matches(element: Any, steps: tuple[SelectorStep, ...]) -> bool:
    if not _is(element, steps[-1]):
        return False
    # From the root down, which first steps end at the element around, and which at any further up: linear also for deep pages
    above, around = [False] * len(steps), [False] * len(steps)
    for node in [*reversed(list(element.iterancestors())), element] if len(steps) > 1 else []:
        own = [
            _is(node, step) and (number == 0 or (around if step.joint == ">" else above)[number - 1])
            for number, step in enumerate(steps)
        ]
        above, around = [seen or now for seen, now in zip(above, own, strict=True)], own
    return len(steps) == 1 or around[-1]


def _is(element: Any, step: SelectorStep) -> bool:
    return step.tag in ("*", element.tag) and all(_has(element, part) for part in step.parts)


def _has(element: Any, part: str) -> bool:
    if part[0] == ".":
        return part[1:] in (element.get("class") or "").split()
    if part[0] == "#":
        return bool(element.get("id") == part[1:])
    attribute = ATTRIBUTE.fullmatch(part)
    value = element.get(attribute["name"].lower()) if attribute else None
    return attribute is not None and value is not None and attribute["value"] in (None, value)

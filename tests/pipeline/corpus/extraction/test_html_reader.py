"""Web pages: raised text, forms, controls, hidden and struck text, and no letter that goes without a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import DocumentError
from audit.pipeline.corpus.extraction import html_styles
from audit.pipeline.corpus.extraction.formats import read_source
from audit.pipeline.corpus.extraction.html_reader import WebPage, read_html
from audit.text.documents import FRAME, HIDDEN, STRUCK, UNREAD


def text_of(markup: str) -> str:
    """The text blocks of a page, without its headings."""
    return "\n".join(block.text for block in read_html(markup).blocks if block.kind == "text")


def sections_of(markup: str) -> list[tuple[str, str]]:
    """Each heading of a page with the text below it."""
    sections: list[tuple[str, list[str]]] = []
    for block in read_html(markup).blocks:
        if block.kind == "heading" or not sections:
            sections.append((block.text if block.kind == "heading" else "", []))
        if block.kind == "text":
            sections[-1][1].append(block.text)
    return [(heading, " ".join(texts)) for heading, texts in sections]


def lost(page: WebPage, kind: str) -> int:
    """How many letters of a kind a page has lost."""
    return sum(loss.letters for loss in page.lost if loss.kind == kind)


# -- raised and lowered text -----------------------------------------------------------------------------------------

RAISED = [
    ("Neutrophils above 2 x 10<sup>9</sup>/L", "Neutrophils above 2 x 10⁹/L"),
    ("Call at 39<sup>2</sup> at night", "Call at 39² at night"),
    ("Call at 39<sup>2</sup> °C", "Call at 39² °C"),
    ("Take 3<sup>1</sup>/<sub>2</sub> tablets", "Take 3 1/2 tablets"),
    ("Take <sup>3</sup>⁄<sub>4</sub> of it", "Take 3/4 of it"),
    ("Take 2&frac12; tablets", "Take 2½ tablets"),
    ("below 32 kg/m<sup>2</sup>", "below 32 kg/m²"),
    ("a glass<sup>1,3</sup> of milk", "a glass [1,3] of milk"),
    ('a glass<sup><a href="#n4">4</a></sup>of milk', "a glass [4] of milk"),
    ("the 1<sup>st</sup> day", "the 1st day"),
    ("SpO<sub>2</sub> of 92 %", "SpO₂ of 92 %"),
]


@pytest.mark.parametrize(("markup", "text"), RAISED)
@pytest.mark.parametrize("element", ["p", "h2", "li", "td"])
def test_raised_text_never_joins_the_number_before_it(markup, text, element):
    page = {"td": f"<table><tr><td>Advice<td>{markup}</table>", "li": f"<ul><li>{markup}</ul>"}
    (block,) = read_html(page.get(element, f"<{element}>{markup}</{element}>")).blocks
    assert block.text == {"td": f"Advice | {text}", "li": f"• {text}"}.get(element, text)


@pytest.mark.parametrize(("markup", "text"), RAISED)
def test_raised_text_is_the_same_in_markdown_as_in_a_web_page(tmp_path, markup, text):
    for name in ("a.md", "a.html"):
        (tmp_path / name).write_text(markup)
        assert read_source(tmp_path / name).sections[0].text == text


@pytest.mark.parametrize(
    "style", ["vertical-align: super", "vertical-align:40%", "position:relative; top:-0.5em", "font-variant-position: super"]
)
def test_text_that_its_style_raises_is_raised(style):
    assert text_of(f'<p>50 x 10<span style="{style}">9</span>/L</p>') == "50 x 10⁹/L"


def test_formulas_keep_their_powers_and_fractions():
    power = "<math><msup><mn>10</mn><mn>9</mn></msup></math>"
    fraction = "<math><mn>1</mn><mfrac><mn>1</mn><mn>2</mn></mfrac></math>"
    assert text_of(f"<p>above {power}/L, {fraction} tablets</p>") == "above 10⁹/L, 1 1/2 tablets"


# -- what is the page and what is its frame ---------------------------------------------------------------------------

CONTENT = "<h1>Medicines</h1><p>Never skip a dose.</p><p>Call us when you vomit within an hour of a dose.</p>"


@pytest.mark.parametrize(
    "page",
    [
        f'<form id="aspnetForm" method="post"><input type="hidden" value="x"><div>{CONTENT}</div></form>',
        f'<form><input type="text" value=""><div>{CONTENT}</div><input type="submit"></form><footer>Imprint</footer>',
        f'<div role="dialog">{CONTENT}</div>',
        f"<nav>{CONTENT}</nav><p>Printed today.</p>",
        f'<div class="cookie-consent breadcrumb skip-link social-share">{CONTENT}</div>',
        f'<div style="opacity:0" id="app">{CONTENT}</div><p>Loading</p>',
        f"<html><body>{CONTENT[:40]}</body></html>{CONTENT[40:]}",
    ],
)
def test_an_element_with_most_of_the_sentences_is_the_page_whatever_it_is(page):
    assert "Never skip a dose." in text_of(page)
    assert "vomit within an hour" in text_of(page)


@pytest.mark.parametrize(
    ("frame", "letters"),
    [
        ("<nav><a href='/'>Start</a></nav>", 5),
        ("<form role='search'><input type='search'><button>Find it</button></form>", 6),
        ("<form><p>Our newsletter. Free.</p><input type='email'><input type='submit'></form>", 17),
        ("<div>Useful?<form><button>Yes</button> <button>No</button></form></div>", 5),
        ("<button>Print</button>", 5),
        ("<select><option>Kidney</option></select>", 6),
        ("<div role='alertdialog'><p>We use cookies. Accept them.</p></div>", 22),
        ("<div style='position:fixed'>Chat with us</div>", 10),
        ("<footer>Elm Street</footer>", 9),
    ],
)
def test_the_frame_of_a_page_goes_and_its_letters_are_counted(frame, letters):
    page = read_html(
        f"{frame}<h1>Medicines</h1><p>Never skip a dose. Call us when you vomit soon. Take it at the same time each day.</p>"
    )
    assert lost(page, FRAME) == letters
    assert lost(page, UNREAD) == 0


def test_what_a_card_of_the_page_opens_above_it_is_no_banner():
    panel = "<div id='{}' style='display:none; position:fixed'><h3>{}</h3><p>{}</p></div>"
    card = "<div onclick=\"show('thirst')\"><h3>Thirst</h3><p>Drink water.</p></div>" + panel.format(
        "thirst", "Thirst", "Avoid alcohol."
    )
    menu = "<nav><a onclick=\"show('chat')\">Chat</a></nav>" + panel.format("chat", "Chat", "Type here.")
    text = text_of(f"<body><h1>Tips</h1>{card}{menu}</body>")
    assert "Avoid alcohol." in text
    assert "Type here." not in text


def test_a_form_that_asks_about_symptoms_is_kept_with_the_state_of_its_boxes():
    boxes = '<label><input type="checkbox" checked> Fever</label><br><label><input type="checkbox"> Raw milk is allowed</label>'
    radio = (
        '<p><input type="radio" name="a" checked>yes <input type="radio" name="a">no</p><p><input type="radio" name="b">often</p>'
    )
    value = '<p>Call at <input value="101.5"> °F</p><textarea>Ward 5</textarea>'
    assert text_of(f"<h1>Check</h1><form>{boxes}{radio}{value}</form><p>{'Rest well every day. ' * 9}</p>").startswith(
        "[x] Fever [ ] Raw milk is allowed\n(x) yes ( ) no\n( ) often\nCall at 101.5 °F\nWard 5"
    )


def test_a_list_to_choose_from_is_read_as_what_is_chosen():
    page = "<h1>Plan</h1><p>Lift at most <select><option>2 kg<option selected>4 kg<option>8 kg</select> at home.</p>"
    assert text_of(page) == "Lift at most 4 kg at home."
    assert lost(read_html(page), FRAME) == 6
    open_list = page.replace(" selected", "")
    assert text_of(open_list) == "Lift at most at home."
    assert lost(read_html(open_list), FRAME) == 9


# -- controls that open a part of the page -----------------------------------------------------------------------------

QUESTIONS = [("Can I swim?", "Not for 8 weeks."), ("Can I garden?", "Wear gloves.")]


def accordion(item: str) -> str:
    """A page with an item for each question; Q, A and N stand for the question, the answer and a number."""
    items = (
        item.replace("QQ", question).replace("AA", answer).replace("NN", str(number))
        for number, (question, answer) in enumerate(QUESTIONS)
    )
    return f"<h1>Life</h1><p>Ask.</p>{''.join(items)}<p>Thank you.</p>"


@pytest.mark.parametrize(
    "item",
    [
        "<details><summary>QQ</summary><p>AA</p></details>",
        "<details><summary><h3>QQ</h3></summary><p>AA</p></details>",
        '<div class="accordion"><button>QQ</button><div>AA</div></div>',
        '<div><div role="button" tabindex="0">QQ</div><div><p>AA</p></div></div>',
        '<button aria-expanded="false">QQ</button><p hidden>AA</p>',
        '<h3><button aria-expanded="false" aria-controls="pNN">QQ</button></h3><div id="pNN" hidden><p>AA</p></div>',
        '<h3><a href="#" role="button" aria-expanded="false">QQ</a></h3><div style="display:none"><p>AA</p></div>',
        '<div><div><a data-bs-toggle="collapse" href="#cNN">QQ</a></div><div id="cNN" class="collapse">AA</div></div>',
        '<div onclick="show(\'aNN\')">QQ</div><div id="aNN" style="display:none">AA</div>',
        '<p><a data-target="#bNN" data-toggle="tab">QQ</a></p><div id="bNN" style="max-height:0;overflow:hidden">AA</div>',
        '<ul><li><button aria-expanded="true">QQ</button><div>AA</div></li></ul>',
        '<input type="checkbox" id="iNN" style="display:none"><label for="iNN">QQ</label><div style="display:none">AA</div>',
    ],
)
def test_a_control_is_the_heading_of_what_it_opens_and_of_nothing_else(item):
    sections = [section for section in sections_of(accordion(item)) if section[1]]
    assert sections == [("Life", "Ask."), *QUESTIONS, ("Life", "Thank you.")]
    assert not read_html(accordion(item)).lost


def test_the_panels_of_tabs_have_their_tabs_as_headings():
    tabs = "".join(
        f'<li><button role="tab" id="t{number}" aria-controls="p{number}">{name}</button></li>'
        for number, name in ((1, "Before"), (2, "After"))
    )
    panels = '<div role="tabpanel" id="p1"><p>Fast.</p></div>'
    panels += '<div role="tabpanel" id="p2" aria-labelledby="t2" hidden><h2>Food</h2><p>Eat.</p></div>'
    page = f'<main><h1>Surgery</h1><nav><ul role="tablist">{tabs}</ul></nav>{panels}</main>'
    assert sections_of(page) == [("Surgery", ""), ("Before", "Fast."), ("After", ""), ("Food", "Eat.")]
    assert [block.level for block in read_html(page).blocks if block.kind == "heading"] == [1, 2, 2, 3]


@pytest.mark.parametrize(
    "controls",
    [
        '<button aria-controls="c">Back</button><button aria-controls="c">On</button><div id="c"><p>Rest well.</p></div>',
        "<p>Rest well.</p><button>Print</button><button>Share</button>",
        '<button aria-expanded="false" aria-controls="m">Menu</button><nav id="m" hidden>Home</nav><p>Rest well.</p>',
    ],
)
def test_other_controls_are_no_headings_and_are_counted(controls):
    page = read_html(f"<h1>Life</h1>{controls}")
    assert [block.text for block in page.blocks] == ["Life", "Rest well."]
    assert lost(page, FRAME) > 0


# -- hidden and struck text ---------------------------------------------------------------------------------------------

HIDDEN_WAYS = [
    'style="display:none"',
    'style="DISPLAY : none !important"',
    "hidden",
    'style="visibility:hidden"',
    'style="opacity:0"',
    'style="font-size:0"',
    'style="color:#fff"',
    'style="color:white;background:#ffffff"',
    'style="color:transparent"',
    'style="color:rgba(0,0,0,0)"',
    'style="position:absolute;left:-9999px"',
    'style="text-indent:-9999px"',
    'style="position:absolute;clip:rect(0,0,0,0)"',
    'style="clip-path:inset(50%)"',
    'style="height:0;overflow:hidden"',
    'class="gone"',
    'class="b gone2"',
    'id="gone3"',
    'class="onscreen"',
]
SHEET = """<style>/* p {} */ .gone, .x { display: none } div.box > .gone2 { visibility: hidden }
#gone3 { color: #FFF; background-color: white } @media screen { .onscreen { opacity: 0 } }
@media print { .box { display: none } } .seen:hover { display: none }
@media (max-width: 600px) { .seen { display: none } }</style>"""


@pytest.mark.parametrize("way", HIDDEN_WAYS)
def test_text_that_no_reader_sees_is_no_evidence_and_is_counted(way):
    page = read_html(f'{SHEET}<div class="box"><p class="seen">No shellfish.</p><p {way}>Shellfish is <b>fine</b>.</p></div>')
    assert [block.text for block in page.blocks] == ["No shellfish."]
    assert lost(page, HIDDEN) == len("Shellfishisfine")


@pytest.mark.parametrize(
    "seen",
    [
        '<div style="background:#000"><p style="color:#fff">Rest.</p></div>',
        '<div style="background:url(a.png)"><p style="color:#fff">Rest.</p></div>',
        "<style>html{background:#111}body{color:#fff}</style><p>Rest.</p>",
        '<link rel="stylesheet" href="a.css"><p style="color:#fff">Rest.</p>',
        "<style>body{display:none}</style><p>Rest.</p>",
        '<div style="visibility:hidden"><p style="visibility:visible">Rest.</p></div>',
        '<p hidden style="display:block">Rest.</p>',
        '<p style="display:none;display:block">Rest.</p>',
        "<details><summary></summary><p>Rest.</p></details>",
        '<p aria-hidden="true">Rest.</p>',
        "<p><ins>Rest.</ins></p>",
    ],
)
def test_text_that_can_be_seen_or_may_be_seen_stays(seen):
    assert text_of(seen) == "Rest."


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("<del>", "</del>"),
        ("<s>", "</s>"),
        ("<strike>", "</strike>"),
        ('<span style="text-decoration:line-through">', "</span>"),
        ('<span style="text-decoration-line: underline line-through">', "</span>"),
        ('<em class="old">', "</em>"),
    ],
)
def test_struck_text_is_withdrawn_wherever_it_stands(start, end):
    sheet = "<style>.old { text-decoration: line-through red }</style>"
    struck = f"{start}9 <b>pm</b>{end}"
    page = read_html(
        f"{sheet}<h2>Until{struck}7 pm</h2><ol><li>{struck}<li>At {struck} 7 pm</ol><table><tr><td>x<td>{struck}7 pm</table>"
    )
    assert [block.text for block in page.blocks] == ["Until 7 pm", "Until 7 pm:\n2. At 7 pm", "x | 7 pm"]
    assert lost(page, STRUCK) == 4 * len("9pm")


@pytest.mark.parametrize("tag", ["noscript", "template", "object", "video", "audio", "canvas"])
def test_what_stands_in_for_something_else_is_counted(tag):
    page = read_html(f"<h1>Life</h1><p>Rest.</p><{tag}><p>Run.</p></{tag}>")
    assert (text_of("<h1>Life</h1><p>Rest.</p>"), lost(page, HIDDEN)) == ("Rest.", 3)


def test_words_of_a_drawing_are_not_read_and_are_counted():
    assert lost(read_html("<p>Rest.</p><svg><text>Fever: call</text></svg>"), UNREAD) == len("Fevercall")


# -- characters ---------------------------------------------------------------------------------------------------------


def test_numbers_of_characters_are_read_as_browsers_read_them():
    assert text_of("<p>Don&#146;t swim &#x96; 38&#150;39 &#176;C&#13;&#0;&#1;today</p>") == "Don’t swim – 38–39 °C today"


def test_words_stay_apart_where_their_elements_end_a_sentence():
    assert text_of("<p><b>Wait!</b><span>do not drive.</span><i>Call us.</i> e.<i>g.</i> 38.<b>5</b></p>") == (
        "Wait! do not drive. Call us. e.g. 38.5"
    )
    assert text_of('<p><span style="display:block">Dose</span><span style="display:block">5 mg</span></p>') == "Dose\n5 mg"
    assert text_of('<div style="display:flex"><span>Dose</span><span>5 mg</span></div>') == "Dose 5 mg"


def test_a_quotation_has_its_marks():
    assert text_of("<p>The word<q>urgent</q> means today.</p>") == "The word“urgent” means today."


def test_a_paragraph_that_ends_no_sentence_leads_the_list_below_it():
    page = "<main><p>Alone, some pills do not cause it, such as</p><ul><li>metformin</ul><p>Ask us.</p><ul><li>weight</ul></main>"
    assert [block.text for block in read_html(page).blocks] == [
        "Alone, some pills do not cause it, such as\n• metformin",
        "Ask us.",
        "• weight",
    ]


def test_lines_of_preformatted_text_are_kept_within_its_elements():
    assert text_of("<pre>- <b>milk</b>\n- eggs</pre>") == "• milk\n• eggs"


# -- letters in, letters out ----------------------------------------------------------------------------------------------

TAGS = [
    "p",
    "div",
    "span",
    "b",
    "sup",
    "sub",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "table",
    "tr",
    "td",
    "th",
    "thead",
    "caption",
    "h2",
    "h4",
    "nav",
    "form",
    "main",
    "article",
    "aside",
    "header",
    "footer",
    "section",
    "button",
    "details",
    "summary",
    "del",
    "q",
    "label",
    "a",
    "blockquote",
    "pre",
    "noscript",
    "template",
    "svg",
    "select",
    "option",
    "textarea",
    "fieldset",
    "legend",
    "body",
]
ATTRIBUTES = [
    "",
    " hidden",
    " style='display:none'",
    " style='visibility:hidden'",
    " style='text-decoration:line-through'",
    " role='button'",
    " role='tab' aria-controls='p'",
    " id='p'",
    " aria-expanded='false'",
    " role='dialog'",
    " style='color:#fff'",
    " colspan=2",
    " rowspan=2",
    " style='display:flex'",
    " style='vertical-align:super'",
    " onclick=\"x('p')\"",
]
pages = st.recursive(
    st.from_regex(r"[a-z]{2,6}[.?:]? ?", fullmatch=True),
    lambda inner: st.builds(
        lambda tag, attribute, parts: f"<{tag}{attribute}>{''.join(parts)}</{tag}>",
        st.sampled_from(TAGS),
        st.sampled_from(ATTRIBUTES),
        st.lists(inner, max_size=5),
    ),
    max_leaves=30,
)


@given(pages)
def test_every_letter_of_a_page_is_in_its_text_or_in_a_loss(markup):
    page = read_html(markup)
    assert [loss for loss in page.lost if loss.kind == UNREAD and "<svg" not in markup] == []


@pytest.mark.slow
def test_a_page_that_is_hard_to_follow_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(html_styles, "MAX_CHECKS", 100_000)
    sheet = "<style>" + ".a .a .a .a .b p { color: red }" * 2_000 + "</style>"
    with pytest.raises(DocumentError, match="too many rules"):
        read_html(sheet + '<div class="a b">' * 400 + "<p>x</p>" * 2_000)


SCREENS = "<style>.s{display:none} .s.on{display:block} .m{display:none} .m.open{display:block}</style>"


def test_screens_that_a_script_shows_one_at_a_time_are_all_read():
    page = f"{SCREENS}<h1>Before</h1><div class='s on'><p>Eat.</p></div><div class='s'><p>Do not eat.</p></div>"
    assert text_of(page) == "Eat.\nDo not eat."


def test_what_a_script_fades_in_where_a_reader_comes_to_it_is_read():
    style = "<style>.reveal { opacity: 0 } .reveal.in { opacity: 1 } .toast { opacity: 0 } .toast.in { opacity: 1 }</style>"
    questions = "<details class='reveal'><summary>Diet</summary><p>Do not eat.</p></details>" * 2
    assert "Do not eat." in text_of(f"{style}<h1>Before</h1>{questions}<p class='toast'>Copied.</p>")
    assert "Copied." not in text_of(f"{style}<h1>Before</h1>{questions}<p class='toast'>Copied.</p>")


def test_one_box_that_a_script_shows_is_hidden():
    assert text_of(f"{SCREENS}<h1>Before</h1><p>Eat.</p><div class='m'><p>Copied to the clipboard.</p></div>") == "Eat."

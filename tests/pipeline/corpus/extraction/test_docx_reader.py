"""What a reader of a DOCX file sees: struck, hidden and raised text, fields, symbols; what is not part of the text is named."""

from __future__ import annotations

import re

import pytest

from audit.pipeline.corpus.extraction.docx_reader import DocxHtml, read_docx
from audit.text.documents import FRAME, UNREAD
from tests.pipeline.corpus.extraction.test_formats import W, docx

M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
W14 = 'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
STYLES = f"""<w:styles {W}>
<w:style w:type="paragraph" w:default="1" w:styleId="Normal"/>
<w:style w:type="character" w:styleId="Old"><w:rPr><w:strike/></w:rPr></w:style>
<w:style w:type="character" w:styleId="Older"><w:basedOn w:val="Old"/><w:rPr><w:b/></w:rPr></w:style>
<w:style w:type="paragraph" w:styleId="Draft"><w:rPr><w:vanish/></w:rPr></w:style>
<w:style w:type="paragraph" w:styleId="Withdrawn"><w:rPr><w:strike/></w:rPr></w:style>
<w:style w:type="paragraph" w:styleId="Banner"><w:pPr><w:shd w:val="clear" w:fill="1F4E79"/></w:pPr></w:style>
<w:style w:type="character" w:styleId="White"><w:rPr><w:color w:val="FFFFFF"/></w:rPr></w:style>
<w:style w:type="table" w:styleId="Grid"><w:tblStylePr w:type="firstRow"><w:tcPr><w:shd w:val="clear" w:fill="4472C4"/></w:tcPr>
</w:tblStylePr></w:style></w:styles>"""
LINKS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    + "".join(
        f'<Relationship Id="r{number}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}" '
        f'Target="{kind}.xml"/>'
        for number, kind in enumerate(("styles", "footnotes", "comments"), start=1)
    )
    + "</Relationships>"
)


def run(words: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{words}</w:t></w:r>'


def paragraph(*runs: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


def read(body: str, **parts: str) -> DocxHtml:
    return read_docx(docx(body, **{"word/styles.xml": STYLES, "word/_rels/document.xml.rels": LINKS, **parts}))


def html(body: str, **parts: str) -> str:
    result = read(body, **parts)
    assert result.lost == ()
    return result.html.removeprefix("<body>").removesuffix("</body>")


@pytest.mark.parametrize(
    "properties",
    ["<w:strike/>", '<w:strike w:val="true"/>', "<w:dstrike/>", '<w:rStyle w:val="Old"/>', '<w:rStyle w:val="Older"/>'],
)
def test_text_struck_by_its_own_format_or_its_style_is_struck(properties):
    body = paragraph(run("Eat grapefruit. ", properties), run("Eat apples."))
    assert html(body) == "<p><s>Eat grapefruit. </s>Eat apples.</p>"


def test_the_styles_are_those_that_the_document_names():
    other = {"word/stylesWithEffects.xml": f"<w:styles {W}/>", "word/astyles.xml": f"<w:styles {W}/>"}
    assert html(paragraph(run("Rest.", '<w:rStyle w:val="Old"/>')), **other) == "<p><s>Rest.</s></p>"


def test_a_run_can_switch_off_what_its_style_strikes():
    withdrawn = '<w:pStyle w:val="Withdrawn"/>'
    assert html(paragraph(run("Eat apples."), properties=withdrawn)) == "<p><s>Eat apples.</s></p>"
    assert html(paragraph(run("Eat apples.", '<w:strike w:val="0"/>'), properties=withdrawn)) == "<p>Eat apples.</p>"
    # On in both styles is off
    assert html(paragraph(run("Eat apples.", '<w:rStyle w:val="Old"/>'), properties=withdrawn)) == "<p>Eat apples.</p>"


HIDDEN = '<span style="display:none">Eat grapefruit.</span>'


@pytest.mark.parametrize(
    ("properties", "of_paragraph"),
    [
        ("<w:vanish/>", ""),
        ("", '<w:pStyle w:val="Draft"/>'),
        ('<w:color w:val="FFFFFF"/>', ""),
        ('<w:color w:val="FEFEFE"/>', ""),
        ('<w:rStyle w:val="White"/>', ""),
        ('<w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="auto"/>', ""),
        ('<w:color w:val="FFFFFF"/><w:highlight w:val="white"/>', ""),
        ('<w:color w:val="1F4E79"/>', '<w:pStyle w:val="Banner"/>'),
        ('<w:color w:val="000000"/><w:highlight w:val="black"/>', ""),
        ('<w:sz w:val="1"/>', ""),
    ],
)
def test_text_that_nobody_sees_is_hidden(properties, of_paragraph):
    assert html(paragraph(run("Eat grapefruit.", properties), properties=of_paragraph)) == f"<p>{HIDDEN}</p>"


@pytest.mark.parametrize(
    ("properties", "of_paragraph"),
    [
        ('<w:color w:val="FFFFFF"/>', '<w:pStyle w:val="Banner"/>'),
        ('<w:color w:val="FFFFFF"/>', '<w:shd w:val="pct50" w:fill="FFFFFF" w:color="000000"/>'),
        ('<w:color w:val="FFFFFF"/><w:highlight w:val="darkBlue"/>', ""),
        ('<w:color w:val="auto"/><w:highlight w:val="black"/>', ""),
        ('<w:color w:val="808080"/>', ""),
        ('<w:vanish w:val="0"/>', '<w:pStyle w:val="Draft"/>'),
        # Only hidden in a browser: on paper it is seen
        ("<w:webHidden/>", ""),
    ],
)
def test_text_that_is_seen_is_kept(properties, of_paragraph):
    assert html(paragraph(run("Eat apples.", properties), properties=of_paragraph)) == "<p>Eat apples.</p>"


def test_white_text_in_a_coloured_cell_is_kept():
    white = paragraph(run("Dose", '<w:color w:val="FFFFFF"/>'))
    cell = f'<w:tc><w:tcPr><w:shd w:val="clear" w:fill="4472C4"/></w:tcPr>{white}</w:tc>'
    assert "display:none" not in html(f"<w:tbl><w:tr>{cell}</w:tr></w:tbl>")
    styled = f'<w:tbl><w:tblPr><w:tblStyle w:val="Grid"/></w:tblPr><w:tr><w:tc>{white}</w:tc></w:tr></w:tbl>'
    assert "display:none" not in html(styled)
    assert "display:none" in html(f"<w:tbl><w:tr><w:tc>{white}</w:tc></w:tr></w:tbl>")


def test_tracked_deletions_are_struck_and_insertions_and_moves_are_text():
    change = 'w:id="1" w:author="A"'
    body = paragraph(
        run("Walk "),
        f'<w:del {change}><w:r><w:delText xml:space="preserve">5 miles </w:delText></w:r></w:del>',
        f"<w:ins {change}>{run('1 mile ')}</w:ins>",
        f"<w:moveFrom {change}>{run('slowly ')}</w:moveFrom>",
        run("a day, "),
        f"<w:moveTo {change}>{run('slowly ')}</w:moveTo>",
    )
    assert html(body) == "<p>Walk <s>5 miles </s>1 mile a day, slowly </p>"


def test_text_that_is_moved_to_nowhere_is_struck():
    assert html(paragraph(f'<w:moveFrom w:id="1">{run("Walk. ")}</w:moveFrom>', run("Rest."))) == "<p><s>Walk. </s>Rest.</p>"


def test_a_hidden_row_is_hidden():
    row = f"<w:tr><w:trPr><w:hidden/></w:trPr><w:tc>{paragraph(run('Eat grapefruit.'))}</w:tc></w:tr>"
    assert html(f"<w:tbl>{row}</w:tbl>") == f"<table><tr><td><p>{HIDDEN}</p></td></tr></table>"


def test_a_deleted_row_is_struck():
    row = f'<w:tr><w:trPr><w:del w:id="1"/></w:trPr><w:tc>{paragraph(run("Eat grapefruit."))}</w:tc></w:tr>'
    assert html(f"<w:tbl>{row}</w:tbl>") == "<table><tr><td><p><s>Eat grapefruit.</s></p></td></tr></table>"


@pytest.mark.parametrize(
    ("properties", "tag"),
    [
        ('<w:vertAlign w:val="superscript"/>', "sup"),
        ('<w:position w:val="6"/>', "sup"),
        ('<w:vertAlign w:val="subscript"/>', "sub"),
        ('<w:position w:val="-6"/>', "sub"),
    ],
)
def test_raised_and_lowered_text_is_raised_and_lowered(properties, tag):
    assert html(paragraph(run("39"), run("2", properties), run(" °C"))) == f"<p>39<{tag}>2</{tag}> °C</p>"


def test_a_small_shift_and_a_shifted_sentence_are_not_notes():
    assert html(paragraph(run("39"), run("2", '<w:position w:val="2"/>'))) == "<p>392</p>"
    assert html(paragraph(run("Never stop your pills.", '<w:position w:val="8"/>'))) == "<p>Never stop your pills.</p>"


def test_formulas_are_read_on_one_line():
    def letters(words: str) -> str:
        return f"<m:r><m:t>{words}</m:t></m:r>"

    power = f"<m:sSup><m:e>{letters('10')}</m:e><m:sup>{letters('9')}</m:sup></m:sSup>"
    half = f"<m:f><m:num>{letters('1')}</m:num><m:den>{letters('2')}</m:den></m:f>"
    rate = f"<m:f><m:num>{letters('mg')}</m:num><m:den>{letters('kg')}</m:den></m:f>"
    parts = f"<m:oMath>{power}</m:oMath>{run(', 1')}<m:oMathPara><m:oMath>{half}{rate}</m:oMath></m:oMathPara>"
    body = f"<w:p {M}>{run('Above 50 x ')}{parts}</w:p>"
    assert html(body) == "<p>Above 50 x 10<sup>9</sup>, 1<sup>1</sup>/<sub>2</sub>mg/kg</p>"


def test_check_boxes_and_chosen_values_are_kept():
    def box(state: str, sign: str) -> str:
        checked = f'<w14:checkbox><w14:checked w14:val="{state}"/></w14:checkbox>'
        return f"<w:sdt {W14}><w:sdtPr>{checked}</w:sdtPr><w:sdtContent>{run(sign)}</w:sdtContent></w:sdt>"

    data = '<w:ffData><w:checkBox><w:default w:val="1"/></w:checkBox></w:ffData>'
    legacy = (
        f'<w:r><w:fldChar w:fldCharType="begin">{data}</w:fldChar></w:r><w:r><w:instrText>FORMCHECKBOX</w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    body = (
        paragraph(box("1", "☒"), run(" shower"))
        + paragraph(box("0", "☐"), run(" bath"))
        + paragraph(legacy, run(" walk"))
        + paragraph(run("þ", '<w:rFonts w:ascii="Wingdings" w:hAnsi="Wingdings"/>'), run(" rest"))
        + paragraph('<w:r><w:sym w:font="Wingdings" w:char="F0A8"/></w:r>', run(" lift"))
    )
    ticked, open_box = '<input checked="checked" type="checkbox" />', '<input type="checkbox" />'
    assert html(body) == (f"<p>{ticked} shower</p><p>{open_box} bath</p><p>{ticked} walk</p><p>☑ rest</p><p>☐ lift</p>")


@pytest.mark.parametrize(
    ("result", "chosen"), [('<w:result w:val="1"/>', "4 weeks"), ('<w:default w:val="1"/>', "4 weeks"), ("", "2 weeks")]
)
def test_the_chosen_entry_of_a_drop_down_list_is_text(result, chosen):
    entries = "".join(f'<w:listEntry w:val="{words}"/>' for words in ("2 weeks", "4 weeks"))
    field = (
        f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList>{result}{entries}</w:ddList></w:ffData></w:fldChar></w:r>'
        '<w:r><w:instrText>FORMDROPDOWN</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    assert html(paragraph(run("Do not drive for "), field)) == f"<p>Do not drive for {chosen}</p>"


def test_simple_fields_line_ends_and_text_direction_keep_their_text():
    body = paragraph(
        run("Take "), f'<w:fldSimple w:instr="MERGEFIELD dose">{run("5 mg")}</w:fldSimple>', "<w:r><w:cr/></w:r>",
        f'<w:bdo w:val="ltr">{run("with food")}</w:bdo>',
    )  # fmt: skip
    assert html(body) == "<p>Take 5 mg<br />with food</p>"


@pytest.mark.parametrize("fallback", [True, False])
def test_a_text_box_is_read_once(fallback):
    box = f"<w:txbxContent>{paragraph(run('Call us at a fever.'))}</w:txbxContent>"
    drawing = f"<w:drawing><wps xmlns='x'>{box}</wps></w:drawing>"
    old = f"<mc:Fallback><w:pict><v:textbox xmlns:v='urn:schemas-microsoft-com:vml'>{box}</v:textbox></w:pict></mc:Fallback>"
    forms = f"<mc:Choice Requires='wps'>{drawing}</mc:Choice>{old if fallback else ''}"
    alternatives = f"<mc:AlternateContent {MC}>{forms}</mc:AlternateContent>"
    assert html(paragraph(run("Fever"), f"<w:r>{alternatives}</w:r>")).count("Call us at a fever.") == 1


def test_notes_are_text_and_what_is_not_is_named():
    note = f'<w:footnotes {W}><w:footnote w:id="2">{paragraph(run("In adults."))}</w:footnote></w:footnotes>'
    comment = f'<w:comments {W}><w:comment w:id="1">{paragraph(run("Is 10 mg right?"))}</w:comment></w:comments>'
    result = read(
        paragraph(run("Take 5 mg"), '<w:r><w:footnoteReference w:id="2"/></w:r>'),
        **{
            "word/footnotes.xml": note,
            "word/comments.xml": comment,
            "word/header1.xml": f"<w:hdr {W}>{paragraph(run('Alder Clinic'))}</w:hdr>",
            "word/footer1.xml": f"<w:ftr {W}>{paragraph(run('Call 555 at a fever'))}</w:ftr>",
            "word/footer2.xml": f"<w:ftr {W}>{paragraph(run('Call 555 at a fever'))}</w:ftr>",
            "word/charts/chart1.xml": "<c xmlns:a='a'><a:t>Survival</a:t></c>",
        },
    )
    assert re.findall(r"In adults\.|Is 10 mg|Alder|Call 555", result.html) == ["In adults."]
    assert {(loss.kind, loss.example, loss.letters) for loss in result.lost} == {
        (FRAME, "Alder Clinic", 11),
        (FRAME, "Call 555 at a fever", 4 + 3 + 2 + 1 + 5),
        (UNREAD, "Is 10 mg right?", 2 + 2 + 2 + 5),
        (UNREAD, "Survival", 8),
    }


def test_text_that_the_library_does_not_read_is_counted():
    result = read(f"{paragraph(run('Rest.'))}<w:strange>{paragraph(run('Zzz'))}</w:strange>")
    assert [(loss.kind, loss.letters) for loss in result.lost] == [(UNREAD, 3)]

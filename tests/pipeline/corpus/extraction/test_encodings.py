"""The encoding of a file, as browsers take it; what cannot be read in it counts as unreadable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import DocumentError
from audit.pipeline.corpus.extraction.encodings import declared_label, decoded
from audit.pipeline.corpus.extraction.formats import read_source
from audit.pipeline.corpus.quality import quality_of
from audit.text.documents import Document, Section

NEEDS_LABELS = "the labels of encodings need webencodings"


def page(label: str, words: str, encoding: str) -> bytes:
    """A web page that declares one encoding and is in another."""
    return f"<html><head><meta charset={label}></head><body><p>{words}</p></body></html>".encode(encoding)


def text_of(content: bytes) -> str:
    return decoded(content, declared_label(content)).partition("<p>")[2].partition("</p>")[0]


@pytest.mark.parametrize("label", ["iso-8859-1", "Latin1", " ISO_8859-1 ", "us-ascii", "windows-1252", "cp1252", "x-cp1252"])
def test_latin_1_and_ascii_are_windows_1252(label):
    pytest.importorskip("webencodings", reason=NEEDS_LABELS)
    content = f'<meta charset="{label}"><p>Don’t drive above 39–40 °C.</p>'.encode("cp1252")
    assert text_of(content) == "Don’t drive above 39–40 °C."


@pytest.mark.parametrize(
    ("label", "encoding", "words"),
    [
        ("latin5", "cp1254", "İlacı günde “iki” kez alın – ağrı olursa arayın"),
        ("iso-8859-9", "cp1254", "İlacı günde iki kez alın – ağrı"),
        ("tis-620", "cp874", "โทรหาเรา “ทันที” ถ้ามีไข้…"),
        ("iso-8859-11", "cp874", "โทรหาเรา – ทันที"),
        ("gb2312", "gb18030", "发烧 38 °C 以上请打电话㐀"),
        ("gbk", "gb18030", "请打电话 €"),
        ("shift_jis", "cp932", "熱が 38 度 ① 以上"),
        ("x-sjis", "cp932", "熱が髙い"),
        ("ks_c_5601-1987", "cp949", "열이 나면 전화하세요 똠"),
        ("big5", "big5", "發燒請打電話"),
        ("windows-1251", "cp1251", "Звоните нам при 38 °C"),
        ("koi8-r", "koi8-r", "Звоните нам"),
        ("iso-8859-8-i", "cp1255", "התקשרו אלינו"),
        ("iso-2022-jp", "iso-2022-jp", "熱が出たら電話"),
        ("iso-8859-2", "iso-8859-2", "Zavolejte při horečce"),
        ("macintosh", "mac-roman", "Fièvre – appelez"),
    ],
)
def test_a_label_stands_for_what_browsers_read(label, encoding, words):
    pytest.importorskip("webencodings", reason=NEEDS_LABELS)
    assert text_of(page(label, words, encoding)) == words


@pytest.mark.parametrize("label", ["iso-8859-1", "utf-16", "utf-16le", "shift_jis", "utf-8", "no-such-encoding", "utf-7"])
def test_valid_utf8_is_utf8_whatever_it_declares(label):
    pytest.importorskip("webencodings", reason=NEEDS_LABELS)
    assert text_of(page(label, "Don’t drink – 38 °C", "utf-8")) == "Don’t drink – 38 °C"


@pytest.mark.parametrize(
    "head",
    [
        '<!-- <meta charset="koi8-r"> --><meta charset="windows-1252">',
        '<script charset="koi8-r">var x = "<meta charset=koi8-r>"</script><meta charset="windows-1252">',
        '<meta name="note" content="charset=koi8-r"><meta http-equiv="Content-Type" content="text/html; charset=windows-1252">',
        '<meta charset="made-up"><META HTTP-EQUIV=content-type CONTENT="text/html;CHARSET = \'windows-1252\'">',
        f"<title>{'long ' * 2000}</title><meta charset=windows-1252>",
    ],
)
def test_only_elements_that_declare_an_encoding_count(head):
    pytest.importorskip("webencodings", reason=NEEDS_LABELS)
    content = f"<html><head>{head}</head><p>Don’t</p>".encode("cp1252")
    assert declared_label(content) == "windows-1252"
    assert text_of(content) == "Don’t"


def test_an_xml_declaration_counts():
    pytest.importorskip("webencodings", reason=NEEDS_LABELS)
    content = '<?xml version="1.0" encoding="ISO-8859-1"?><html><p>Don’t</p></html>'.encode("cp1252")
    assert text_of(content) == "Don’t"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_counts_before_a_label(encoding):
    content = "<meta charset=koi8-r><p>Don’t</p>".encode(encoding)
    assert decoded(content, "koi8-r") == "<meta charset=koi8-r><p>Don’t</p>"


def test_a_page_that_is_not_in_utf8_is_windows_1252_without_a_true_label():
    assert decoded("Don’t – 38 °C".encode("cp1252"), "utf-8") == "Don’t – 38 °C"
    assert decoded("Schluß“ – Händler, Grüße, Öl".encode("cp1252")) == "Schluß“ – Händler, Grüße, Öl"


def test_single_bad_bytes_of_utf8_do_not_garble_the_rest():
    assert decoded("Fièvre à 38 °C – ".encode() + b"\x92") == "Fièvre à 38 °C – \ufffd"


def test_an_encoding_that_no_browser_reads_is_refused():
    pytest.importorskip("webencodings", reason=NEEDS_LABELS)
    with pytest.raises(DocumentError, match="it is in hz-gb-2312, which cannot be read: save it as UTF-8"):
        decoded(b"~{<:Ky2;VJ~}", "hz-gb-2312")


def test_text_in_another_script_whose_encoding_is_not_declared_is_unreadable():
    words = "Звоните нам, если температура выше 38 градусов"
    for label in (None, "iso-8859-1", "utf-8"):
        if label == "iso-8859-1":
            pytest.importorskip("webencodings", reason=NEEDS_LABELS)
        text = decoded(words.encode("cp1251"), label)
        assert "38" in text
        assert quality(text) == 1
    # Words of Icelandic and French have fewer accents
    for words in ("Hringið í okkur ef hitinn fer yfir 38 gráður", "Été à Thônes : déjà brûlé"):
        assert decoded(words.encode("cp1252")) == words


@given(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0\r\ufeff"), max_size=40))
def test_text_in_utf8_is_read_as_it_is(text):
    assert decoded(text.encode(), "iso-8859-1" if not text.isascii() else None) == text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_each_end_of_a_line_is_one(end):
    assert decoded(f"one{end}two{end}{end}three".encode()) == "one\ntwo\n\nthree"


def quality(text: str) -> float:
    return quality_of(Document("a", "heart", "Alder", "post", (Section("s1", "", text),))).unreadable


def test_control_characters_of_latin_1_and_replaced_characters_are_unreadable():
    assert quality("You may swim. Don\x92t drive") == pytest.approx(1 / 5)
    assert quality("You may swim. Don\ufffdt drive") == pytest.approx(1 / 5)
    assert quality("Fever of 38\x9639 degrees") == pytest.approx(1 / 4)
    assert quality("You may swim.\x85Do not drive") == 0


def test_a_wrongly_declared_page_tells_what_is_unreadable(tmp_path):
    pytest.importorskip("webencodings", reason=NEEDS_LABELS)
    file = tmp_path / "heart_alder_post.html"
    file.write_bytes(b"<meta charset=euc-jp><p>Don\xfft drive after the operation</p>")
    text = "\n".join(section.text for section in read_source(file).sections)
    assert "Don\ufffdt" in text
    assert quality(text) > 0

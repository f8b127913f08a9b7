import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ingest.text.decoding import LineCounter, decode, with_line_feeds
from shared.errors import InvalidInput

GERMAN = "Die Größe der Straße beträgt fünf Meter, und übermäßig viel Überzeugung gehört dazu.\r\nÄpfel, Öl.\r"


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff", exclude_categories=["Cc"]) | st.just("\n")))
def test_utf_8_comes_out_as_it_went_in(text: str) -> None:
    assert decode(text.encode()) == text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_decides_and_goes(encoding: str) -> None:
    assert decode(GERMAN.encode(encoding)) == GERMAN


def test_utf_16_of_either_byte_order_is_read() -> None:
    assert decode(b"\xfe\xff" + "# Ä".encode("utf-16-be")) == "# Ä"
    assert decode(b"\xff\xfe" + "# Ä".encode("utf-16-le")) == "# Ä"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "cp1252"),
        ("Привет, мир. Это простая заметка о погоде и о городе.", "cp1251"),
        ("これは日本語のテキストです。検索できるようにします。", "shift_jis"),
    ],
)
def test_an_encoding_without_a_mark_is_detected_and_line_ends_stay(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_a_large_file_is_detected_by_its_head_and_read_whole() -> None:
    text = GERMAN * 5_000
    assert decode(text.encode("cp1252")) == text


def test_an_empty_file_is_the_empty_text() -> None:
    assert decode(b"") == ""


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"text with\0NUL", "NUL bytes"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(range(256)), "a JPEG image"),
        (b"\xff\xd8\xff\xe1" + bytes(range(1, 256)), "a JPEG image"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image"),
        (bytes(range(1, 256)) * 20, "not text"),
        (b"\xff\xfeab\0", "UTF-16"),
        (b"\xff\xfea\0\0\0", "NUL"),
    ],
)
def test_binary_data_is_refused_with_a_reason(content: bytes, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        decode(content)


def test_random_bytes_never_raise_anything_else() -> None:
    for size in range(200):
        try:
            decode(os.urandom(size).replace(b"\0", b"\x90"))
        except InvalidInput:
            continue


@given(st.text(st.sampled_from("a\r\n é"), max_size=40))
def test_lone_carriage_returns_become_line_feeds_in_place(text: str) -> None:
    lines = with_line_feeds(text)
    assert len(lines) == len(text)
    assert lines.count("\n") == len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")) - 1


@given(st.text(st.sampled_from("ab\n"), max_size=40), st.lists(st.integers(0, 40)))
def test_lines_are_counted_from_one_in_any_order(text: str, offsets: list[int]) -> None:
    counter = LineCounter(text)
    for offset in offsets:
        assert counter.at(offset) == text[:offset].count("\n") + 1

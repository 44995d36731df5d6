import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from memories.text import SEPARATOR, fold, forbidden_character, is_blank, search_text

text = st.text(st.characters(exclude_categories=["Cs"]))


@given(text)
def test_folding_twice_changes_nothing_more(value: str) -> None:
    assert fold(fold(value)) == fold(value)


@given(text)
def test_composition_does_not_matter(value: str) -> None:
    for form in ("NFC", "NFD"):
        assert fold(unicodedata.normalize(form, value)) == fold(value)


@given(st.text(alphabet="abcXYZ\u00e4\u00d6\u00e9\u00c9\u00df\u03a3\u03c3\u03c2\u0436\u0416"))
def test_case_does_not_matter(value: str) -> None:
    assert fold(value.upper()) == fold(value.lower()) == fold(value)


@given(st.lists(text.filter(lambda value: forbidden_character(value) is None), min_size=1))
def test_the_separator_only_separates(texts: list[str]) -> None:
    joined = search_text(texts[0], texts[1:])

    assert joined.split(SEPARATOR) == [fold(value) for value in texts]


@given(st.text())
def test_forbidden_are_c0_controls_but_three_and_surrogates(value: str) -> None:
    forbidden = [
        letter
        for letter in value
        if (letter < " " and letter not in "\t\n\r") or "\ud800" <= letter <= "\udfff"
    ]

    assert forbidden_character(value) == (f"U+{ord(forbidden[0]):04X}" if forbidden else None)


def test_blank_is_no_character_or_only_white_space() -> None:
    assert all(is_blank(value) for value in ("", " ", "\t\r\n", "\u00a0\u3000\u2028"))
    assert not any(is_blank(value) for value in (".", " x ", "\u200b"))

"""Words in a language, and which language somebody wants (RFC 9110, section 12.5.4)."""

from tables import each_row

from segtrack.language import ENGLISH, Language, preferred_language

WORDS = {"{name} drives": {"de": "{name} fährt"}}


def test_words_have_their_values_and_are_english_where_there_are_no_others():
    german = Language("de", WORDS)
    assert german("{name} drives", name="{name}") == "{name} fährt"
    assert german("{name} waits", name="Ann") == ENGLISH("{name} waits", name="Ann") == "Ann waits"
    assert Language("en", WORDS)("{name} drives", name=3) == "3 drives"
    assert ENGLISH("{name} drives") == "{name} drives"


@each_row(
    "wanted, tag",
    [
        ((), "en"),
        ((None, "de"), "de"),
        (("ja", "de"), "ja"),
        (("fr", "fr, de-AT;q=0.8, ja;q=0.9"), "ja"),
        (("DE-de, ja",), "de"),
        (("ja;q=0, de;q=0.1",), "de"),
        (("ja ; q=0.5 , de ; q=0.5",), "ja"),
        (("*", "fr"), "en"),
        (("de;q=nan, ja;q=1e9, ,;q=,=",), "en"),
    ],
)
def test_the_language_wanted_most_of_those_there_are_is_taken(wanted, tag):
    assert preferred_language(*wanted) == tag

"""Words in a person's language, from a table whose keys are the English words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

LANGUAGES = ("en", "de", "ja")
"""Languages that there are, by their tags (BCP 47)."""


@dataclass(frozen=True)
class Language:
    """Language of a person; called with English words, it returns them in that language.

    Attributes:
        tag: Tag of the language, one of `LANGUAGES`.
        words: Translations of each English text, by the tag of their language.
    """

    tag: str = "en"
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __call__(self, english: str, **values: object) -> str:
        """Return words in this language, with a value for each {name}; English where the table has none."""
        text = self.words.get(english, {}).get(self.tag, english)
        return re.sub(r"\{(\w+)\}", lambda place: str(values.get(place[1], place[0])), text)

    def number(self, value: float, decimals: int) -> str:
        """Return a number with so many decimals, behind this language's decimal sign."""
        return self.decimal(f"{value:.{decimals}f}")

    def decimal(self, text: str) -> str:
        """Return a number's text with this language's decimal sign."""
        return text.replace(".", ",") if self.tag == "de" else text


ENGLISH = Language()


def preferred_language(*wanted: str | None) -> str:
    """Return the tag of the first language that there is; English if there is none.

    Args:
        wanted: Lists of languages, in order, each as a header `Accept-Language` has it (RFC 9110).
    """
    for listed in wanted:
        weighed = []
        for place, each in enumerate((listed or "").split(",")):
            name, *parameters = (part.strip().lower() for part in each.split(";"))
            weight = next((text[2:] for text in parameters if text.startswith("q=")), "1")
            if re.fullmatch(r"[01](\.\d{0,3})?", weight) and float(weight) > 0:
                weighed.append((-float(weight), place, name.partition("-")[0]))
        for _, _, tag in sorted(weighed):
            if tag in LANGUAGES:
                return tag
    return "en"

"""What a refused turn says, in the question's language."""

from __future__ import annotations

from services.chat.languages import Language, language_of
from shared.contracts.chat import Refusal

_WORDS: dict[Refusal, dict[Language, str]] = {
    "nothing_found": {
        "en": "Nothing was found in this vault about that.",
        "de": "Dazu wurde in dieser Ablage nichts gefunden.",
        "fr": "Rien n'a été trouvé à ce sujet dans ce dossier.",
    },
    "weak_evidence": {
        "en": "The pages of this vault do not answer that.",
        "de": "Die Seiten dieser Ablage beantworten das nicht.",
        "fr": "Les pages de ce dossier n'y répondent pas.",
    },
}


def refusal_text(reason: Refusal, question: str) -> str:
    """Return the sentence for the reader."""
    return _WORDS[reason][language_of(question)]

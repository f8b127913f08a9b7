"""Words that say little, and by them the language of a short text: English, German or French.

Small on purpose: it chooses between three fixed sentences and finds the words that a follow-up lacks. It is wrong for
other languages, which get the English sentence.
"""

from __future__ import annotations

import re
from typing import Literal

Language = Literal["en", "de", "fr"]

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def word_set(text: str) -> frozenset[str]:
    """Return the words that `text` lists."""
    return frozenset(text.split())


STOP_WORDS: dict[Language, frozenset[str]] = {
    "en": word_set(
        "a about after all also an and any are as at be been before but by can could did do does for from had "
        "has have he her here him his how i if in into is it its just many may me more much my need no not of "
        "on one only or our out over please same she should so some tell than that the their them then there "
        "these they this those to under up us was we were what when where which who whom whose why will with "
        "would you your"
    ),
    "de": word_set(
        "aber alle als also am an auch auf aus bei beim bin bis bitte da damit dann das dass dazu dein dem "
        "den denn der deren des dessen die dies diese diesem diesen dieser dieses dort du durch ein eine "
        "einem einen einer eines er es für gibt haben hat hatte hier ich ihm ihn ihr ihre im in ist ja jede "
        "kann kein keine können man mein mir mit muss müssen nach nicht noch nur ob oder sein seine sich sie "
        "sind so soll über um und uns unter viel viele vom von vor wann war waren warum was welche welchem "
        "welchen welcher welches wenn wer werden wie wieso wieviel will wir wird wo worden wozu wurde wurden zu zum "
        "zur zwischen"
    ),
    "fr": word_set(
        "a ai au aussi aux avec avoir c ce cela celle celles celui ces cet cette ceux combien comme comment d "
        "dans de des donc du elle elles en entre est et eux faire fait faut il ils j je l la le les leur "
        "leurs lui m ma mais me même mes moi mon n ne nos notre nous on ont ou où par pas peut plus pour "
        "pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses si son sont sur t ta te "
        "tes toi ton tu un une vos votre vous y à ça était être"
    ),
}

_LETTERS: dict[Language, str] = {"en": "", "de": "äöüß", "fr": "éèêàçœù"}
"""Letters that a language has and the others lack."""

EVERY_STOP_WORD = frozenset[str]().union(*STOP_WORDS.values())


def words_of(text: str) -> list[str]:
    """Return the words of a text as written, French elisions apart (`l'eau` gives `l` and `eau`)."""
    return [part for word in WORD.findall(text) for part in re.split("['’]", word) if part]


def language_of(text: str) -> Language:
    """Return the language that the text shows most signs of; English when it shows none, or at a tie."""
    words = [word.lower() for word in words_of(text)]

    def signs(language: Language) -> int:
        letters = sum(text.lower().count(letter) for letter in _LETTERS[language])
        return letters + sum(word in STOP_WORDS[language] for word in words)

    return max(STOP_WORDS, key=signs)

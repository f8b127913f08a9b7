"""Makes a follow-up question standalone for the search, by rule and without a model.

A question depends on the one before when it has under two telling words, or under three and is no whole question
(`diesel in winter?`), opens like a continuation (`and`, `what about`, `und`, `et`), or points back (`it`, `davon`).
Then the telling words of the question before are appended; that one may itself have been a follow-up, so the words of
an exchange are carried on. The prompt shows the model the question as asked: it has the history.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from services.chat.languages import EVERY_STOP_WORD, word_set, words_of

_FEW_TELLING = 3
_FEW_OF_A_QUESTION = 2
"""What is asked with a question word names its subject in fewer words: "what is the capital of France" stands alone."""

_MOST_CARRIED = 12
"""Words: more would outweigh the question itself."""

_MOST_BACK = 4
"""Questions that are looked back over."""

_POINTING = word_set(
    "it its they them their theirs this these those he she him her his hers former latter ones ihn ihm "
    "ihr ihre ihrer ihren ihnen seine seinen seiner dies diese dieser dieses diesem diesen jene jener "
    "jenes dort dabei dafür dagegen daher damit danach daran darauf daraus darin darüber darum davon "
    "davor dazu dessen deren elle elles ils lui leur leurs ceci cela ça celui celle ceux celles cet cette "
    "ces dedans"
)
_POINTING_WITHOUT_NOUN = word_set("that er es sie das der die den")
"""Words that point back only when no noun follows."""

_CONTINUING = re.compile(
    r"\s*(?:and|or|but|also|so|then|what about|how about|why"
    r"|und|oder|aber|auch|dann|was ist mit|wie ist es mit|warum|wieso"
    r"|et|ou|mais|aussi|alors|qu['’]en est-il|pourquoi)\b",
    re.IGNORECASE,
)

_ASKING = re.compile(
    r"\s*(?:what|who|whom|whose|which|where|when|how"
    r"|was|wer|wen|wem|wessen|welche[rsmn]?|wo|woher|wohin|wann|wie"
    r"|que|quoi|qui|quel(?:le)?s?|où|quand|comment|combien|qu['’]est-ce)\b",
    re.IGNORECASE,
)


def standalone(question: str, earlier: Sequence[str]) -> str:
    """Return what to search for; `earlier` are the conversation's questions, oldest first. Pure."""
    before = ""
    for each in (*earlier[-_MOST_BACK:], question):
        before = _joined(each, before)
    return before


def depends(question: str) -> bool:
    """Tell whether the question can't be understood without the one before."""
    words = [word.lower() for word in words_of(question)]
    pairs = zip(words, (*words[1:], "?"), strict=True)
    return (
        len(_telling(question)) < (_FEW_OF_A_QUESTION if _ASKING.match(question) else _FEW_TELLING)
        or _CONTINUING.match(question) is not None
        or any(word in _POINTING for word in words)
        or any(word in _POINTING_WITHOUT_NOUN and after in EVERY_STOP_WORD | {"?"} for word, after in pairs)
    )


def _joined(question: str, before: str) -> str:
    if not before or not depends(question):
        return question
    own = {word.lower() for word in words_of(question)}
    carried = [word for word in _telling(before) if word.lower() not in own]
    return " ".join((question, *carried[:_MOST_CARRIED]))


def _telling(text: str) -> list[str]:
    """Return the words that say what a text is about, in order, without repeats."""
    telling = {word.lower(): word for word in reversed(words_of(text)) if word.lower() not in EVERY_STOP_WORD}
    return list(telling.values())[::-1]

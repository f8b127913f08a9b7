"""Answers for people: the text as it is written, then its sources, doubts and costs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from deploy.embedded.cli.answer import Answer, Source, doubtful_sentences
from deploy.embedded.cli.hits import place
from deploy.embedded.cli.screen import on_one_line, printable, text_width
from deploy.embedded.cli.search_view import older
from shared.contracts.chat import Money, TokenUsage, TurnCancelled, TurnDone, TurnEnd, TurnFailed
from shared.contracts.search import Citation

_MARKER = re.compile(r"\[\d+\]")
_TOKEN = re.compile(r"\n|[^\S\n]+|\S+")

_LONGEST_HELD = 24
"""Cells of an unfinished word that are held back; in scripts without blanks nothing would be shown until the end."""

_STYLES = {"quoted": "green", "supported": "green", "weak": "yellow", "unsupported": "red"}

_ENDS = {
    "length": "the answer was cut: a limit was reached",
    "filtered": "the provider kept back the rest of the answer",
    "repetition": "the provider began to repeat itself and was stopped",
}


class AnswerPrinter:
    """Prints an answer piece by piece: on a terminal broken between words, else character for character."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._held = ""
        self._gap = ""
        self._column = 0

    def write(self, text: str) -> None:
        """Print a piece; an unfinished word may be held back."""
        text = printable(text)
        if not self._console.is_terminal:
            self._emit(text)
            return
        tokens = _TOKEN.findall(self._held + text)
        self._held = tokens.pop() if tokens and not tokens[-1].isspace() else ""
        for token in tokens:
            self._place(token)
        if cell_len(self._held) > _LONGEST_HELD:
            self._place(self._held)
            self._held = ""

    def finish(self) -> None:
        """Print what was held back, and end the line if one was begun."""
        self._place(self._held)
        self._held = self._gap = ""
        if self._column:
            self._emit("\n")

    def _place(self, token: str) -> None:
        if token == "\n":
            self._gap = ""
            self._emit("\n")
        elif token.isspace():
            self._gap += token.expandtabs(4)
        elif token:
            fits = self._column + len(self._gap) + cell_len(token) <= text_width(self._console)
            self._emit((self._gap if fits or not self._column else "\n" if self._gap else "") + token)
            self._gap = ""

    def _emit(self, text: str) -> None:
        line = text.rpartition("\n")[2]
        self._column = cell_len(line) + (0 if "\n" in text else self._column)
        if self._console.is_terminal:
            shown = Text(text)
            shown.highlight_regex(_MARKER, "bold cyan")
            self._console.print(shown, end="", soft_wrap=True)
        else:
            self._console.file.write(text)
        self._console.file.flush()


def show_sources(console: Console, text: str, sources: Sequence[Source]) -> None:
    """Print a line per source with place and support, and below each what makes it doubtful."""
    if sources:
        console.print("\nSources", style="bold", soft_wrap=True)
    for source in sources:
        console.print(_line(source), soft_wrap=True)
        if source.citation.stale is not None:
            console.print(Text(f"    {older(source.citation.stale)}", style="yellow"), soft_wrap=True)
    for sentence, number, use in doubtful_sentences(text, sources):
        said = "is only weakly supported by" if use.support == "weak" else "is not supported by"
        style = _STYLES[use.support or "weak"]
        console.print(Text(printable(f"Check: “{sentence}” {said} [{number}]"), style=style), soft_wrap=True)


def show_end(console: Console, answer: Answer) -> None:
    """Print what made the answer less than whole."""
    notes: list[str] = []
    if answer.given is not None and answer.given.truncated:
        notes.append("the search's deadline cut it short: there may be more in the vault")
    if answer.given is not None and answer.given.degraded:
        notes.append(f"not the whole search ran: {answer.given.degraded}")
    if isinstance(answer.end, TurnDone) and answer.end.finish_reason in _ENDS:
        notes.append(_ENDS[answer.end.finish_reason])
    if answer.lost and answer.end is not None:
        where = f"citebus conversations show {answer.end.conversation_id}"
        notes.append(f"{answer.lost:,} characters were lost on the way; the whole answer: {where}")
    for note in notes:
        console.print(Text(printable(note), style="yellow"), soft_wrap=True)


def how_it_ended(end: TurnEnd | None) -> str:
    """Return in a sentence why there is no whole answer."""
    if isinstance(end, TurnFailed):
        return end.message
    reason = end.reason if isinstance(end, TurnCancelled) else "asked"
    return {
        "deadline": "the time for the answer was over (--timeout gives more)",
        "shutdown": "the chat service was stopped amid the answer; ask again",
    }.get(reason, "the answer was cancelled")


def cost_line(end: TurnEnd) -> str:
    """Return who answered, what that took and cost, and how long each phase lasted."""
    times = end.timings_ms
    phases = f"search {times.search:.0f}, evidence {times.evidence:.0f}, first words {times.first_token:.0f}"
    who = "no provider was asked" if end.provider is None else " ".join(filter(None, (end.provider, end.model)))
    parts = (who, usage_text(end.usage), cost_text(end.cost, end.usage), f"{times.total:.0f} ms ({phases})")
    return printable(" · ".join(part for part in parts if part))


def usage_text(usage: TokenUsage | None) -> str:
    """Return tokens in and out; empty when no provider was asked."""
    if usage is None:
        return ""
    about = "about " if usage.counted else ""
    return f"{about}{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out"


def cost_text(cost: Money | None, usage: TokenUsage | None) -> str:
    """Return dollars; an unknown price is said, and nothing when no provider was asked."""
    if cost is None:
        return "" if usage is None else "price not known"
    return f"${cost}"


def _line(source: Source) -> Text:
    citation = source.citation
    line = Text(f"[{citation.n}] ", style="bold cyan")
    line.append(printable(citation.ref.title), style="bold")
    line.append(on_one_line(f" — {place(citation)}{_under(citation)}"), style="default")
    if source.support:
        style = "yellow" if source.doubtful else "green"
        line.append(f"  {source.support}", style=style)
    return line


def _under(citation: Citation) -> str:
    """Return the headings over the first passage; a single one that is the title says nothing new."""
    headings = citation.passages[0].heading_path if citation.passages else ()
    return f" ({' > '.join(headings)})" if headings and headings != (citation.ref.title,) else ""

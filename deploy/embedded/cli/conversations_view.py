"""Conversations for people: lists, whole ones with their sources, hits, costs and scores."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from rich.console import Console
from rich.text import Text

from deploy.embedded.cli.answer import sources_of
from deploy.embedded.cli.answer_view import AnswerPrinter, cost_text, show_sources, usage_text
from deploy.embedded.cli.naming import SHORT
from deploy.embedded.cli.screen import open_table, printable
from shared.contracts.conversations import CostsReply, ListReply, MessageHit, ScoreReply
from shared.contracts.stored_turns import ChatTurn, ConversationSummary, StoredMessage


def show_list(console: Console, reply: ListReply) -> None:
    """Print a line per conversation."""
    if not reply.conversations:
        console.print('no conversations yet: citebus ask "your question"', soft_wrap=True)
        return
    table = open_table(console, "id", "last question", "questions", "cost", "title", right=("questions", "cost"))
    for each in reply.conversations:
        table.add_row(
            shown_id(console, each.conversation_id), _when(each.updated_at), str(each.turns), _cost(each), _title(each)
        )
    console.print(table)
    if reply.next_cursor is not None:
        console.print("there are more: --limit, or --cursor with what --json says", style="dim", soft_wrap=True)


def show_conversation(console: Console, conversation: ConversationSummary, turns: tuple[ChatTurn, ...]) -> None:
    """Print a conversation: every question, its answer with its sources, who answered and for how much."""
    console.print(Text(_title(conversation), style="bold"), soft_wrap=True)
    about = f"{conversation.conversation_id} · {_when(conversation.created_at)} · {_cost(conversation)}"
    console.print(Text(about, style="dim"), soft_wrap=True)
    for turn in turns:
        console.print()
        console.print(Text(printable(f"> {turn.question.text}"), style="bold"), soft_wrap=True)
        _show_answer(console, turn.answer)


def show_hits(console: Console, hits: tuple[MessageHit, ...]) -> None:
    """Print the messages that were found, best first."""
    if not hits:
        console.print("nothing found", soft_wrap=True)
    for hit in hits:
        who = "question" if hit.role == "user" else "answer"
        head = f"{shown_id(console, hit.conversation_id)}  {hit.title}  ({who}, {_when(hit.created_at)})"
        console.print(Text(printable(head), style="bold"), soft_wrap=True)
        console.print(f"    {' '.join(printable(hit.excerpt).split())}", soft_wrap=True)


def show_costs(console: Console, reply: CostsReply) -> None:
    """Print a line per day, and the sum of what is known."""
    table = open_table(console, "day", "answers", "tokens in", "out", "cost", right=("answers", "tokens in", "out"))
    for day in reply.days:
        unpriced = f" and {day.unpriced} without a known price" if day.unpriced else ""
        counts = (f"{day.answers:,}", f"{day.input_tokens:,}", f"{day.output_tokens:,}")
        table.add_row(str(day.day), *counts, f"${day.cost}{unpriced}")
    console.print(table)
    total = sum((Decimal(day.cost) for day in reply.days), Decimal(0))
    unpriced = sum(day.unpriced for day in reply.days)
    more = f", without {unpriced} answers whose price is not known" if unpriced else ""
    console.print(f"together ${total}{more}", soft_wrap=True)


def show_scores(console: Console, reply: ScoreReply) -> None:
    """Print what was scored, and what is left."""
    for score in reply.scores:
        line = f"{shown_id(console, score.conversation_id)}  {score.faithfulness:.2f}  {score.judge}"
        console.print(printable(line), soft_wrap=True)
    mean = "" if reply.mean is None else f", {reply.mean:.2f} on the mean"
    console.print(f"{len(reply.scores)} answers scored{mean}; {reply.remaining} remain", soft_wrap=True)
    if reply.stopped:
        console.print(printable(reply.stopped), style="yellow", soft_wrap=True)


def shown_id(console: Console, conversation_id: UUID) -> str:
    """Return an id as people need it: its first digits on a terminal, all of it in a pipe."""
    return str(conversation_id)[:SHORT] if console.is_terminal else str(conversation_id)


def _show_answer(console: Console, answer: StoredMessage) -> None:
    printer = AnswerPrinter(console)
    printer.write(answer.text)
    printer.finish()
    show_sources(console, answer.text, sources_of(answer))
    who = " ".join(part for part in (answer.provider, answer.model) if part)
    scored = "" if answer.faithfulness is None else f"faithfulness {answer.faithfulness:.2f}"
    spent = (usage_text(answer.usage), cost_text(answer.cost, answer.usage))
    parts = (answer.state, who, *spent, scored, f"turn {answer.turn_id}")
    console.print(Text(printable(" · ".join(part for part in parts if part)), style="dim"), soft_wrap=True)
    if answer.error:
        console.print(Text(printable(answer.error), style="red"), soft_wrap=True)


def _title(conversation: ConversationSummary) -> str:
    return " ".join(printable(conversation.title).split())


def _cost(conversation: ConversationSummary) -> str:
    unpriced = f" + {conversation.unpriced} unpriced" if conversation.unpriced else ""
    return f"${conversation.cost}{unpriced}"


def _when(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"

"""Finds out what kind of set a path names, and reads it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deploy.evaluation.beir import CORPUS, QUERIES, Corpus, read_questions
from deploy.evaluation.question_files import read_question_file
from deploy.evaluation.questions import JudgedSet, sampled
from deploy.evaluation.span_questions import FILES, QUESTIONS, read_span_questions
from deploy.evaluation.title_questions import read_title_questions
from deploy.evaluation.vault_copy import VaultCopy
from shared.errors import InvalidInput

KINDS = (
    f"a folder with {QUERIES}, qrels.tsv and {CORPUS} (BEIR; without {CORPUS} give --vault), "
    f"a folder with {QUESTIONS} and {FILES}/, a .json list of questions, or a .toml list of sets"
)


@dataclass(frozen=True, slots=True)
class SetOptions:
    """How a set is to be read, beyond where it lies."""

    vault: Path | None = None
    """Holds the pages that judgements name, for a set without documents of its own."""
    drop_keys: frozenset[str] = frozenset()
    language: str | None = None
    limit: int | None = None
    titles: bool = False
    """Ask for each document by its title, in place of the set's own questions."""


@dataclass(frozen=True, slots=True)
class SetPlace:
    """A set that is yet to be read."""

    path: Path
    options: SetOptions


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    path: str
    vault: str | None = None
    drop_keys: tuple[str, ...] = Field(default=(), strict=False)
    language: str | None = Field(default=None, pattern="^[a-z]{2}$")
    limit: int | None = Field(default=None, ge=1)
    titles: bool = False


class _List(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    set: tuple[_Entry, ...]


def read_set(place: SetPlace) -> JudgedSet:
    """Return the set at a path; raises InvalidInput, saying what is wrong and where, when there is none."""
    return sampled(_read(place.path.resolve(), place.options), place.options.limit)


def read_list(path: Path, data: Path) -> tuple[SetPlace, ...]:
    """Return the sets that a .toml list names; its paths are relative to `data`. Raises InvalidInput when it is wrong.

    The list is entries `[[set]]` with `path` and, if needed, `vault`, `drop_keys`, `language`, `limit`, `titles`.
    """
    try:
        entries = _List.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).set
    except OSError as error:
        raise InvalidInput(f"{path} can't be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: not TOML: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise InvalidInput(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    return tuple(_place(entry, data) for entry in entries)


def _place(entry: _Entry, data: Path) -> SetPlace:
    vault = None if entry.vault is None else data / entry.vault
    keys = frozenset(entry.drop_keys)
    return SetPlace(data / entry.path, SetOptions(vault, keys, entry.language, entry.limit, entry.titles))


def _read(path: Path, options: SetOptions) -> JudgedSet:
    if options.titles:
        source = Corpus(path / CORPUS, options.language)
        return JudgedSet(_name(path), "pages", read_title_questions(path), source, ("Asked by the documents' titles.",))
    if path.is_file() and path.suffix == ".json":
        return JudgedSet(path.stem, "answers", read_question_file(path), _vault(path, options))
    if (path / QUESTIONS).is_file():
        pages = VaultCopy(path / FILES, language=options.language)
        return JudgedSet(path.name, "spans", read_span_questions(path), pages)
    if not (path / QUERIES).is_file():
        raise InvalidInput(f"{path} is no judged set. A set is {KINDS}")
    questions, notes = read_questions(path)
    corpus = path / CORPUS
    source = Corpus(corpus, options.language) if corpus.is_file() else _vault(path, options)
    return JudgedSet(_name(path), "pages", questions, source, notes)


def _vault(path: Path, options: SetOptions) -> VaultCopy:
    if options.vault is None:
        raise InvalidInput(f"{path} has no documents of its own: name the vault that it is about with --vault")
    return VaultCopy(options.vault, options.drop_keys, options.language)


def _name(path: Path) -> str:
    """Return the folder's name, with its parent's in front where it is a language's code: `xquad/en`."""
    return f"{path.parent.name}/{path.name}" if len(path.name) == 2 else path.name

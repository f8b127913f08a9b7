"""Names on the bus, once: subjects, streams, consumers, buckets. Everything that talks to NATS takes its names here.

`Topology("citebus")` is the product's; another namespace gives a second, independent deployment on one server.
"""

from __future__ import annotations

from dataclasses import dataclass

QUEUE_RETRIEVAL = "retrieval"
"""Queue group of the retrieval service."""

SERVICE_RETRIEVAL = "citebus-retrieval"
"""Its name in the NATS service API (`$SRV.INFO.citebus-retrieval`)."""

QUEUE_CHAT = "chat"
"""Queue group of the chat service."""

SERVICE_CHAT = "citebus-chat"
"""Its name in the NATS service API."""

QUEUE_INGEST = "ingest"
"""Queue group of the ingest service's request handlers."""

CONSUMER_WORKERS = "workers"
"""Durable consumer of FILES that all workers share."""

CONSUMER_EMBEDDERS = "embedders"
"""Durable consumer of EMBED that all embedders share."""

FILE_STAMP_HEADER = "Citebus-File"
"""Header of a FileChanged with its FileStamp as ASCII JSON."""


@dataclass(frozen=True, slots=True)
class Topology:
    """All names under one namespace."""

    namespace: str = "citebus"

    @property
    def root(self) -> str:
        """First tokens of every subject."""
        return f"{self.namespace}.v1"

    def stream(self, name: str) -> str:
        """Return a stream's or consumer's name on the server: the namespace goes in front unless it is the default."""
        return name if self.namespace == "citebus" else f"{self.namespace}_{name}"

    @property
    def files(self) -> str:
        """Stream FILES: newest state of each file, one message per subject."""
        return self.stream("FILES")

    @property
    def embed(self) -> str:
        """Stream EMBED: texts that wait for a vector, one message per subject, removed when acked."""
        return self.stream("EMBED")

    @property
    def pages(self) -> str:
        """Stream PAGES: what became of pages."""
        return self.stream("PAGES")

    @property
    def turns(self) -> str:
        """Stream TURNS: events of turns, kept in memory for a while."""
        return self.stream("TURNS")

    @property
    def dead(self) -> str:
        """Stream DEAD: messages that no retry can help."""
        return self.stream("DEAD")

    @property
    def vaults(self) -> str:
        """Bucket of vault settings, key: vault id."""
        return f"{self.namespace}-vaults"

    @property
    def leases(self) -> str:
        """Bucket of leases: one watcher per vault."""
        return f"{self.namespace}-leases"

    def file(self, vault_id: str, file_key: str) -> str:
        """Subject of a file's newest state."""
        return f"{self.root}.file.{vault_id}.{file_key}"

    def chunk_text(self, space: str, text_hash: str) -> str:
        """Subject of a text that waits for its vector."""
        return f"{self.root}.embed.{space}.{text_hash}"

    def page(self, vault_id: str, event: str) -> str:
        """Subject of a page event: indexed, embedded, removed, moved or rejected."""
        return f"{self.root}.page.{vault_id}.{event}"

    def search(self, vault_id: str) -> str:
        """Subject of searches in a vault."""
        return f"{self.root}.search.{vault_id}"

    def resolve(self, vault_id: str) -> str:
        """Subject that tells what became of a citation."""
        return f"{self.root}.resolve.{vault_id}"

    def ingest(self, operation: str, vault_id: str) -> str:
        """Subject of an ingest request: status, wait, sync or text."""
        return f"{self.root}.ingest.{operation}.{vault_id}"

    def chat(self, vault_id: str) -> str:
        """Subject of questions to a vault."""
        return f"{self.root}.chat.{vault_id}"

    def turn(self, vault_id: str, turn_id: str) -> str:
        """Subject of a turn's events."""
        return f"{self.root}.turn.{vault_id}.{turn_id}"

    def cancel(self, vault_id: str, turn_id: str) -> str:
        """Subject that ends a turn."""
        return f"{self.root}.cancel.{vault_id}.{turn_id}"

    def conversation(self, operation: str, vault_id: str) -> str:
        """Subject of a conversation request: create, list, get, delete, search, export, share, save and so on."""
        return f"{self.root}.conversation.{operation}.{vault_id}"

    def calibrate(self, vault_id: str) -> str:
        """Subject of calibrations: from which evidence on a question an answer is tried."""
        return f"{self.root}.calibrate.{vault_id}"

    def dead_letter(self, consumer: str, key: str) -> str:
        """Subject of a message that no retry can help."""
        return f"{self.root}.dead.{consumer}.{key}"

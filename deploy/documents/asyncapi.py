"""The AsyncAPI 3.0 document of the bus, from the catalogue of channels and the contracts.

Method: https://www.asyncapi.com/docs/reference/specification/v3.0.0. Operations are told from the services' side: they
`receive` what others ask or publish to them and `send` what they publish. Schemas are beside it, by relative `$ref`.
"""

from __future__ import annotations

import re
from typing import Any

from deploy.documents.schemas import message_types, type_name
from shared.catalogue import PARAMETERS, Channel, channels
from shared.contracts.message import Message
from shared.version import VERSION

Node = dict[str, Any]

ANY_MESSAGE = "AnyMessage"
"""Stands for the payload of a channel that takes messages of all kinds."""


def asyncapi() -> Node:
    """Return the document of the default namespace."""
    table = channels()
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "citebus",
            "version": VERSION,
            "description": "Subjects and messages of citebus on NATS. Readers ignore unknown fields; within a major "
            "version only optional fields are added.",
            "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
        },
        "defaultContentType": "application/json",
        "servers": {"nats": {"host": "127.0.0.1:4222", "protocol": "nats"}},
        "channels": _channels(table),
        "operations": {name: operation for channel in table for name, operation in _operations(channel).items()},
        "components": {"messages": _messages(table)},
    }


def _channels(table: tuple[Channel, ...]) -> Node:
    """Each channel, and for each request the inbox that its replies go to."""
    nodes: Node = {}
    for channel in table:
        nodes[channel.name] = {
            "address": channel.subject,
            "description": _description(channel),
            "messages": _references(channel.messages or (None,)),
            "parameters": {name: {"description": PARAMETERS[name]} for name in parameters(channel.subject)},
        }
        if channel.replies:
            nodes[f"{channel.name}Reply"] = {"address": None, "messages": _references(channel.replies)}
    return nodes


def parameters(subject: str) -> list[str]:
    """Return the names in braces of a subject, in order."""
    return re.findall(r"\{(\w+)\}", subject)


def _description(channel: Channel) -> str:
    """One sentence on who speaks to whom, and what keeps the messages."""
    kept = f", kept in {channel.stream}" if channel.stream else ""
    return f"{channel.kind.capitalize()}: from {channel.publisher} to {channel.listener}{kept}."


def _operations(channel: Channel) -> Node:
    """What services do on a channel: answer a request, or publish (and, where a service listens, consume)."""
    target = {"channel": {"$ref": f"#/channels/{channel.name}"}}
    if channel.kind == "request":
        reply = {"address": {"location": "$message.header#/reply"}, "channel": _reply_channel(channel)}
        return {f"answer{_capital(channel.name)}": {"action": "receive", **target, "reply": reply}}
    if channel.kind == "signal":
        return {f"consume{_capital(channel.name)}": {"action": "receive", **target}}
    sends = {f"publish{_capital(channel.name)}": {"action": "send", **target}}
    if channel.listener in {"anyone", "operators"}:
        return sends
    return {**sends, f"consume{_capital(channel.name)}": {"action": "receive", **target}}


def _reply_channel(channel: Channel) -> Node:
    return {"$ref": f"#/channels/{channel.name}Reply"}


def _capital(name: str) -> str:
    return name[0].upper() + name[1:]


def _references(messages: tuple[type[Message] | None, ...]) -> Node:
    names = [ANY_MESSAGE if message is None else message.__name__ for message in messages]
    return {name: {"$ref": f"#/components/messages/{name}"} for name in names}


def _messages(table: tuple[Channel, ...]) -> Node:
    """Every message once, with the headers of the channel that it is published on."""
    headers = {message: channel.headers for channel in table for message in channel.messages}
    nodes: Node = {ANY_MESSAGE: {"name": ANY_MESSAGE, "summary": "The message that failed, as it was.", "payload": {}}}
    for message in message_types():
        name = type_name(message)
        nodes[message.__name__] = {
            "name": name,
            "summary": (message.__doc__ or "").splitlines()[0],
            "payload": {
                "schemaFormat": "application/schema+json;version=draft-2020-12",
                "schema": {"$ref": f"./{name}.json"},
            },
        }
        if headers.get(message):
            properties = {header: {"type": "string", "description": text} for header, text in headers[message]}
            nodes[message.__name__]["headers"] = {"type": "object", "properties": properties}
    return nodes

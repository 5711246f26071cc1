"""The OpenAPI document, made from the table of commands."""

from __future__ import annotations

from typing import Any

from weighbridge.commands.options import Option
from weighbridge.commands.table import Command
from weighbridge.web.api import CALLS, options

PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
}


def document(version: str) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of the API.

    >>> sorted(document("0")["paths"])[0]
    '/api/v1/audit'
    """
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Weighbridge",
            "version": version,
            "description": "Weighs a transformer without loading it. Integers are exact; read them as integers.",
        },
        "paths": {f"/api/v1/{call.name}": {"get": _operation(call), "post": _operation(call, body=True)} for call in CALLS},
        "components": {"schemas": {"Problem": PROBLEM}},
    }


def _operation(call: Command, *, body: bool = False) -> dict[str, Any]:
    """Describe one command as an operation: its options are parameters, or with *body* the keys of a JSON body."""
    operation: dict[str, Any] = {
        "operationId": call.name + ("Post" if body else ""),
        "summary": call.summary,
        "responses": {
            "200": {"description": "The answer", "content": {"application/json": {"schema": {"type": ["object", "array"]}}}},
            **{status: _problem(text) for status, text in _PROBLEMS.items()},
        },
    }
    taken = [option for option in options(call) if option.key != "set"]
    if body:
        operation["requestBody"] = {
            "required": any(option.needed for option in taken),
            "content": {
                "application/json": {
                    "schema": {
                        "type": "object",
                        "properties": {option.key: _schema(option) | {"description": option.help} for option in taken},
                        "required": [option.key for option in taken if option.needed],
                        "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
                    }
                }
            },
        }
    else:
        operation["parameters"] = [
            {"name": option.key, "in": "query", "required": option.needed, "description": option.help, "schema": _schema(option)}
            for option in taken
        ]
    return operation


def _schema(option: Option) -> dict[str, Any]:
    """Describe a value: every one is written as text in an address, and may be so in a body."""
    return {"type": "string", **({"enum": list(option.choices)} if option.choices else {})}


_PROBLEMS = {
    "400": "An invalid question",
    "404": "No such model",
    "405": "Not that method",
    "413": "Too large",
    "415": "Not JSON",
    "422": "A config that cannot be right, or is unknown",
    "429": "Too many requests",
    "503": "It took too long",
}


def _problem(text: str) -> dict[str, Any]:
    return {"description": text, "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}}

"""The OpenAPI document, made from the table of calls."""

from __future__ import annotations

from typing import Any

from weighbridge.core.messages import languages
from weighbridge.web.api import CALLS, Call

MODEL = (
    ("source", "a preset's name or a model type (its defaults); default bert-base-uncased"),
    ("config", "a config as JSON text, in place of source"),
    ("class", "the class to weigh; default what the config names, else the base class"),
    ("lang", f"language of the words: {', '.join(languages())}"),
    ("module", "a module's dotted path"),
    ("batch", "examples, for the arithmetic"),
    ("seq", "tokens per example, for the arithmetic"),
)
PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"}, "detail": {"type": "string"},
    },
}  # fmt: skip


def document(version: str) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of the API.

    >>> sorted(document("0")["paths"])[0]
    '/api/v1/audit'
    """
    return {
        "openapi": "3.1.0",
        "info": {"title": "Weighbridge", "version": version, "description": "Weighs a transformer without loading it. Integers are exact; read them as integers."},
        "paths": {f"/api/v1/{call.name}": {"get": _operation(call), "post": _operation(call, body=True)} for call in CALLS},
        "components": {"schemas": {"Problem": PROBLEM}},
    }  # fmt: skip


def _operation(call: Call, *, body: bool = False) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": call.name + ("Post" if body else ""),
        "summary": call.summary,
        "responses": {
            "200": {"description": "The answer", "content": {"application/json": {"schema": {"type": ["object", "array"]}}}},
            **{status: _problem(text) for status, text in _PROBLEMS.items()},
        },
    }
    fields = [(name, text, False) for name, text in (*MODEL, *call.takes)] + [(name, text, True) for name, text in call.needs]
    if body:
        operation["requestBody"] = {"required": bool(call.needs), "content": {"application/json": {"schema": {
            "type": "object",
            "properties": {name: {"type": "string", "description": text} for name, text, _ in fields},
            "required": [name for name, _, needed in fields if needed],
            "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
        }}}}  # fmt: skip
    else:
        operation["parameters"] = [
            {"name": name, "in": "query", "required": needed, "description": text, "schema": {"type": "string"}}
            for name, text, needed in fields
        ]
    return operation


_PROBLEMS = {
    "400": "What was asked cannot be meant", "404": "No such model", "405": "Not that method", "413": "Too large",
    "415": "Not JSON", "422": "A config that cannot be right, or is unknown", "429": "Too many requests", "503": "It took too long",
}  # fmt: skip


def _problem(text: str) -> dict[str, Any]:
    return {"description": text, "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}}

"""Additions to Schemathesis: models that exist, and the violations that are listed with a reason."""

import json
import os
import re
from pathlib import Path

import schemathesis

TEXT_MODELS = [
    "openai/gpt-5-mini",
    "anthropic/claude-haiku-4-5",
    "google/gemini-2.5-flash",
    "xai/grok-3-mini",
    "mistral/mistral-small-latest",
]
MODELS = {
    "/v1/chat/completions": TEXT_MODELS,
    "/v1/messages": TEXT_MODELS,
    "/v1/messages/count_tokens": TEXT_MODELS,
    "/v1/responses": TEXT_MODELS,
    "/v1/embeddings": ["openai/text-embedding-3-small", "google/gemini-embedding-001", "mistral/mistral-embed"],
    "/v1/images/generations": ["openai/gpt-image-1", "google/gemini-2.5-flash-image", "xai/grok-imagine-image"],
    "/v1/images/edits": ["openai/gpt-image-1", "google/gemini-2.5-flash-image", "xai/grok-imagine-image"],
    "/v1/videos": ["openai/sora-2", "xai/grok-imagine-video", "byteplus/seedance-1-5-pro-251215"],
    "/v1/videos/generations": ["openai/sora-2", "xai/grok-imagine-video"],
    "/v1/videos/edits": ["openai/sora-2", "xai/grok-imagine-video"],
    "/v1/videos/extensions": ["openai/sora-2", "xai/grok-imagine-video"],
    "/v1/audio/speech": ["openai/gpt-4o-mini-tts"],
    "/v1/audio/transcriptions": ["openai/gpt-4o-transcribe", "mistral/voxtral-mini-latest"],
    "/v1/audio/translations": ["openai/whisper-1"],
}
# A page's options are the same in each of these. POST /v2/scrape has them all; the others keep one, since every member of
# every combination is tried in each place.
SCRAPE = "/v2/scrape"
SCRAPE_OPTIONS_KEPT = "onlyMainContent"
# Every call with a body has this header, with the same few values: all but the first body would be refused as another call.
RETRY_KEY = "idempotency-key"
RETRIED = "/v1/moderations"
VIOLATIONS = json.loads((Path(__file__).parent / "violations.json").read_text())


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Narrows models and roles to some that exist. Otherwise nearly every call would end with an unknown model."""
    for path, models in MODELS.items():
        for media in raw_schema["paths"][path]["post"]["requestBody"]["content"].values():
            schema = resolve(raw_schema, media["schema"])
            properties = schema["properties"]
            narrow(properties, "model", models)
            for name in ("messages", "input"):
                for items in lists_in(properties.get(name, {})):
                    narrow(items.get("properties", {}), "role", ["user", "assistant"])
    options = set(body_of(raw_schema, SCRAPE)["properties"]) - {SCRAPE_OPTIONS_KEPT}
    places = [
        body_of(raw_schema, "/v2/batch/scrape"),
        body_of(raw_schema, "/v2/search")["properties"]["scrapeOptions"],
        raw_schema["components"]["schemas"]["ScrapeOptions"],
    ]
    for schema in places:
        for name in options & set(schema["properties"]):
            del schema["properties"][name]
    for path, methods in raw_schema["paths"].items():
        if path != RETRIED:
            for operation in methods.values():
                drop_parameter(operation, RETRY_KEY)


def drop_parameter(operation, name):
    operation["parameters"] = [each for each in operation.get("parameters", []) if each["name"] != name]


def body_of(raw_schema, path):
    content = raw_schema["paths"][path]["post"]["requestBody"]["content"]
    return resolve(raw_schema, content["application/json"]["schema"])


def resolve(raw_schema, schema):
    name = schema.get("$ref", "").removeprefix("#/components/schemas/")
    return raw_schema["components"]["schemas"][name] if name else schema


def lists_in(schema):
    return [each["items"] for each in [schema, *schema.get("anyOf", [])] if "items" in each]


def narrow(properties, name, values):
    if name in properties:
        properties[name] = {"enum": values}


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Drops the failures that violations.json lists, and notes them."""
    for violation in VIOLATIONS:
        if is_listed(failure, response, violation):
            with open(os.environ["ACCEPTED_FILE"], "a") as accepted:
                accepted.write(f"{violation['reason']}\n")
            return False
    return True


def is_listed(failure, response, violation):
    return (
        violation["failure"] == type(failure).__name__
        and re.fullmatch(violation["operation"], failure.operation or "") is not None
        and re.search(violation["answer"], f"{response.status_code} {response.text}") is not None
    )

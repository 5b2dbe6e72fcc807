"""Google's clients for Python in front of one model of each provider: prints each cell that fails, and then how many passed."""

import base64
import json
import sys
import traceback

from google import genai
from google.genai import types
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_google_genai import ChatGoogleGenerativeAI

url, token, png, models = sys.argv[1], sys.argv[2], base64.b64decode(sys.argv[3]), json.loads(sys.argv[4])
client = genai.Client(api_key=token, http_options=types.HttpOptions(base_url=url))
schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
weather = {
    "name": "get_weather",
    "description": "Weather of a city",
    "parameters_json_schema": schema,
}


def said(text: str) -> str:
    return f"You said: {text}. That is all I have to say."


def genai_plain(model: str, _: str) -> None:
    answer = client.models.generate_content(model=model, contents="Hello")
    assert answer.text == said("Hello"), answer.text
    assert answer.usage_metadata.prompt_token_count > 0


def genai_streamed(model: str, _: str) -> None:
    chunks = list(client.models.generate_content_stream(model=model, contents="Hello"))
    assert "".join(chunk.text or "" for chunk in chunks) == said("Hello")
    assert chunks[-1].usage_metadata.total_token_count > 0


def genai_tools(model: str, _: str) -> None:
    config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[weather])])
    contents = [types.Content(role="user", parts=[types.Part(text="weather in steps:2")])]
    for _ in range(2):
        answer = client.models.generate_content(model=model, contents=contents, config=config)
        [call] = answer.function_calls
        assert call.name == "get_weather", call
        contents.append(answer.candidates[0].content)
        result = types.FunctionResponse(id=call.id, name=call.name, response={"result": "18 degrees"})
        contents.append(types.Content(role="user", parts=[types.Part(function_response=result)]))
    told = client.models.generate_content(model=model, contents=contents, config=config)
    assert "18 degrees" in told.text, told.text


def genai_image(_: str, model: str) -> None:
    part = types.Part.from_bytes(data=png, mime_type="image/png")
    answer = client.models.generate_content(model=model, contents=["What is this?", part])
    assert "I see image/png" in answer.text, answer.text


def genai_thinking(model: str, _: str) -> None:
    thinking = types.ThinkingConfig(include_thoughts=True, thinking_budget=2_000)
    config = types.GenerateContentConfig(thinking_config=thinking)
    answer = client.models.generate_content(model=model, contents="Think.", config=config)
    assert answer.text == said("Think."), answer.text


def genai_structured(model: str, _: str) -> None:
    config = types.GenerateContentConfig(response_mime_type="application/json", response_json_schema=schema)
    answer = client.models.generate_content(model=model, contents="As JSON, please.", config=config)
    assert json.loads(answer.text) == {"city": "sample city"}, answer.text


def genai_count(model: str, _: str) -> None:
    assert client.models.count_tokens(model=model, contents="How many?").total_tokens > 0


def chat_of(model: str, **options: object) -> ChatGoogleGenerativeAI:
    return ChatGoogleGenerativeAI(model=model, google_api_key=token, base_url=url, max_retries=1, **options)


def langchain_plain(model: str, _: str) -> None:
    answer = chat_of(model).invoke("Hello")
    assert answer.text == said("Hello"), answer
    assert answer.usage_metadata["input_tokens"] > 0


def langchain_streamed(model: str, _: str) -> None:
    assert "".join(chunk.text for chunk in chat_of(model).stream("Hello")) == said("Hello")


@tool
def get_weather(city: str) -> str:
    """Weather of a city."""
    return "18 degrees"


def langchain_tools(model: str, _: str) -> None:
    chat = chat_of(model).bind_tools([get_weather])
    messages: list = [HumanMessage("weather in steps:2")]
    for _ in range(2):
        answer = chat.invoke(messages)
        [call] = answer.tool_calls
        messages += [answer, ToolMessage("18 degrees", tool_call_id=call["id"], name=call["name"])]
    told = chat.invoke(messages)
    assert "18 degrees" in told.text, told


def langchain_image(_: str, model: str) -> None:
    data = {"type": "image", "base64": base64.b64encode(png).decode(), "mime_type": "image/png"}
    answer = chat_of(model).invoke([HumanMessage([{"type": "text", "text": "What is this?"}, data])])
    assert "I see image/png" in answer.text, answer


def langchain_structured(model: str, _: str) -> None:
    found = chat_of(model).with_structured_output(schema, method="json_schema").invoke("As JSON, please.")
    assert found == {"city": "sample city"}, found


def langchain_thinking(model: str, _: str) -> None:
    answer = chat_of(model, include_thoughts=True, thinking_budget=2_000).invoke("Think.")
    assert said("Think.") in answer.text, answer


def langchain_count(model: str, _: str) -> None:
    assert chat_of(model).get_num_tokens("How many?") > 0


cells = [value for name, value in list(globals().items()) if name.startswith(("genai_", "langchain_"))]
passed = 0
for model, seeing in models:
    for cell in cells:
        try:
            cell(model, seeing)
            passed += 1
        except Exception:
            print(f"{cell.__name__} of {model}: {traceback.format_exc(limit=-2)}")
print(f"{passed} passed")

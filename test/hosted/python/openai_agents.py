"""Hosted tools through OpenAI's agents SDK: prints the answer of each run, and the types of its items, as JSON."""

import asyncio
import json
import os

from agents import (
    Agent,
    CodeInterpreterTool,
    FileSearchTool,
    HostedMCPTool,
    ImageGenerationTool,
    ModelSettings,
    OpenAIResponsesModel,
    Runner,
    WebSearchTool,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

set_tracing_disabled(True)
url = os.environ["URL"]
client = AsyncOpenAI(base_url=f"{url}/v1", api_key=os.environ["KEY"], max_retries=0)
model = OpenAIResponsesModel(model=os.environ["MODEL"], openai_client=client)


@function_tool
def population(city: str) -> str:
    """The number of people in a city."""
    return f"127 thousand people in {city}"


def cities(approve=None):
    config = {
        "type": "mcp",
        "server_label": "cities",
        "server_url": f"{url}/mcp/cities",
        "require_approval": "never" if approve is None else "always",
    }
    if approve is None:
        return HostedMCPTool(tool_config=config)
    answer = {"approve": approve, **({} if approve else {"reason": "not today"})}
    return HostedMCPTool(tool_config=config, on_approval_request=lambda _request: answer)


def shown(result):
    return {"answer": result.final_output, "items": [item.type for item in result.new_items]}


def made(result):
    """With the results of the calls of tools."""
    calls = [item.raw_item.model_dump(exclude_unset=True) for item in result.new_items if item.type == "tool_call_item"]
    known = ("outputs", "results", "result")
    return {**shown(result), "made": [call[name] for call in calls for name in known if name in call]}


def agent(*tools):
    return Agent(name="Assistant", model=model, tools=list(tools))


async def main():
    runs = {}
    searching = agent(WebSearchTool())
    first = await Runner.run(searching, "search")
    runs["search"] = shown(first)
    citations = [
        [annotation.url, content.text[annotation.start_index : annotation.end_index]]
        for item in first.raw_responses[-1].output
        if item.type == "message"
        for content in item.content
        for annotation in content.annotations
    ]
    runs["citations"] = citations
    again = first.to_input_list() + [{"role": "user", "content": "again"}]
    runs["continued"] = shown(await Runner.run(searching, again))
    streamed = Runner.run_streamed(searching, "search")
    events = {event.data.type async for event in streamed.stream_events() if event.type == "raw_response_event"}
    runs["streamed"] = {**shown(streamed), "events": sorted(each for each in events if "web_search" in each)}
    runs["server"] = shown(await Runner.run(agent(cities()), "weather"))
    runs["approved"] = shown(await Runner.run(agent(cities(True)), "weather"))
    runs["refused"] = shown(await Runner.run(agent(cities(False)), "weather"))
    runs["beside"] = shown(await Runner.run(agent(WebSearchTool(), population), "both"))
    code = CodeInterpreterTool(tool_config={"type": "code_interpreter", "container": {"type": "auto"}})
    coding = agent(code)
    coding.model_settings = ModelSettings(response_include=["code_interpreter_call.outputs"])
    runs["code"] = made(await Runner.run(coding, "code"))
    image = ImageGenerationTool(tool_config={"type": "image_generation", "quality": "low"})
    runs["image"] = made(await Runner.run(agent(image), "image"))
    files = FileSearchTool(vector_store_ids=[], include_search_results=True)
    runs["files"] = made(await Runner.run(agent(files), "files"))
    print(json.dumps(runs))


asyncio.run(main())

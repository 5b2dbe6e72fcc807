"""Scrapes and maps the test site with Firecrawl's SDK, and prints what it got as one line of JSON."""

import json
import sys

from firecrawl.v2.client import FirecrawlClient
from firecrawl.v2.utils.error_handler import FirecrawlError

url, token, site = sys.argv[1:]
client = FirecrawlClient(api_key=token, api_url=url, max_retries=1)


def refused(work):
    """The status of the error that a call raises."""
    try:
        work()
    except FirecrawlError as error:
        return [type(error).__name__, error.status_code]
    return None


page = client.scrape(f"{site}/hugo/sourdough")
schema = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
formats = ["markdown", "html", "raw_html", "links", "images", "summary", {"type": "json", "schema": schema}]
every = client.scrape(f"{site}/hugo/sourdough", formats=formats, max_age=0)
links = client.map(site, search="tiny garden hugo", limit=20).links
foreign = FirecrawlClient(api_key="tg_unknown", api_url=url, max_retries=1)

print(
    json.dumps(
        {
            "markdown": page.markdown,
            "title": page.metadata.title,
            "status": page.metadata.status_code,
            "formats": {name: bool(getattr(every, name)) for name in ["markdown", "html", "raw_html", "links", "images", "summary", "json"]},
            "links": [link.url for link in links],
            "unknown_token": refused(lambda: foreign.scrape(site)),
            "private": refused(lambda: client.scrape("http://169.254.169.254/")),
            "slow": refused(lambda: client.scrape(f"{site}/hostile/silent", timeout=1000)),
            "unresolved": refused(lambda: client.scrape("https://nowhere.invalid/")),
            "unread": refused(lambda: client.scrape(f"{site}/hostile/reset")),
        }
    )
)

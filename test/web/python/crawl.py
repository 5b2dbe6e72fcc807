"""Crawls, batches and searches with Firecrawl's SDK, and prints what it got as one line of JSON."""

import json
import sys

from firecrawl.v2.client import FirecrawlClient
from firecrawl.v2.types import ScrapeOptions
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


def paths(documents):
    return sorted(document.metadata.url.removeprefix(site) for document in documents)


crawl = client.crawl(f"{site}/start", limit=2, poll_interval=1, timeout=60)
started = client.start_crawl(f"{site}/gate/never", limit=1)
batch = client.batch_scrape([f"{site}/one", f"{site}/two"], poll_interval=1, wait_timeout=60)
errors = client.get_crawl_errors(started.id)
active = client.get_active_crawls()
cancelled = client.cancel_crawl(started.id)
found = client.search("tide", limit=5)
read = client.search("tide", limit=1, scrape_options=ScrapeOptions(formats=["markdown"]))

print(
    json.dumps(
        {
            "crawl": [crawl.status, crawl.completed, paths(crawl.data), crawl.credits_used],
            "batch": [batch.status, batch.completed, paths(batch.data), batch.credits_used],
            "errors": [errors.errors, errors.robots_blocked],
            "active": started.id in [each.id for each in active.crawls],
            "cancelled": [cancelled, client.get_crawl_status(started.id).status],
            "found": sorted(result.url.removeprefix(site) for result in found.web),
            "read": ["The tide" in (page.markdown or "") for page in read.web],
            "unknown": refused(lambda: client.get_crawl_status("00000000-0000-0000-0000-000000000000")),
        }
    )
)

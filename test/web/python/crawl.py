"""Crawls, batches and searches the test site with Firecrawl's SDK, and prints what it got as one line of JSON."""

import asyncio
import json
import sys
import threading

from firecrawl.v2.client import FirecrawlClient
from firecrawl.v2.client_async import AsyncFirecrawlClient
from firecrawl.v2.types import ScrapeOptions
from firecrawl.v2.utils.error_handler import FirecrawlError

url, token, site = sys.argv[1:]
client = FirecrawlClient(api_key=token, api_url=url, max_retries=1)
docs = f"{site}/docs/"
pages = [f"{site}/docs/chapter-1/page-{number}" for number in range(1, 4)]


def addresses(job):
    return sorted(document.metadata.url for document in job.data)


def facts(job):
    """The job's state, its count of pages, the addresses of its pages, and its credits."""
    return [job.status, job.completed, addresses(job), job.credits_used]


async def crawl_asynchronously():
    asynchronous = AsyncFirecrawlClient(api_key=token, api_url=url)
    return facts(await asynchronous.crawl(url=docs, limit=3, sitemap="skip", poll_interval=1))


def watch(job_id, kind):
    """The last snapshot that the watcher gives of a job."""
    watcher = client.watcher(job_id, kind=kind, poll_interval=1, timeout=30)
    seen = []
    ended = threading.Event()

    def note(job):
        seen.append(job)
        if job.status != "scraping":
            ended.set()

    watcher.add_listener(note)
    watcher.start()
    ended.wait(30)
    return [seen[-1].status, len(seen[-1].data), seen[-1].credits_used]


def unknown(job_id):
    try:
        FirecrawlClient(api_key=token, api_url=url, max_retries=1).get_crawl_status(job_id)
    except FirecrawlError as error:
        return error.status_code
    return None


crawl = client.crawl(docs, limit=7, sitemap="skip", max_discovery_depth=1, poll_interval=1, timeout=60)
first = client.start_crawl(docs, limit=90, max_concurrency=1)
active = [each.id for each in client.get_active_crawls().crawls]
cancelled = client.cancel_crawl(first.id)
watched = client.start_crawl(docs, limit=5)
batch = client.batch_scrape(pages, formats=["markdown", "links"], poll_interval=1)
keyed = [client.start_batch_scrape(pages, idempotency_key="python-1").id for _ in range(2)]
failing = client.start_batch_scrape([f"{site}/errors/500"]).id
failed = watch(failing, "batch")
found = client.search("chapter", limit=3)
read = client.search("chapter", limit=2, scrape_options=ScrapeOptions(formats=["markdown", "links"]))
part = client.get_crawl_status_page(f"{url}/v2/crawl/{crawl.id}?limit=3")
whole = client.get_crawl_status_page(part.next)

print(
    json.dumps(
        {
            "crawl": facts(crawl),
            "asynchronous": asyncio.run(crawl_asynchronously()),
            "active": first.id in active,
            "cancelled": [cancelled, client.get_crawl_status(first.id).status],
            "watched": watch(watched.id, "crawl"),
            "watched_batch": watch(keyed[0], "batch"),
            "parts": [len(part.data), len(whole.data)],
            "batch": facts(batch),
            "keyed": keyed[0] == keyed[1],
            "failed": failed,
            "errors": len(client.get_crawl_errors(crawl.id).errors),
            "batch_errors": [each.code for each in client.get_batch_scrape_errors(failing).errors],
            "found": [[result.url, bool(result.title)] for result in found.web or []],
            "read": [[bool(page.markdown), page.metadata.status_code] for page in read.web or []],
            "unknown": unknown("00000000-0000-7000-8000-000000000000"),
            "remaining": client.get_credit_usage().remaining_credits,
            "concurrency": client.get_concurrency().max_concurrency,
        }
    )
)

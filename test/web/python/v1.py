"""Firecrawl's v1 API with the last SDK for Python that speaks it; prints what it got as one line of JSON."""

import json
import sys

from firecrawl import FirecrawlApp, JsonConfig, ScrapeOptions

url, token, site, silent = sys.argv[1:]
app = FirecrawlApp(api_key=token, api_url=url)
docs = f"{site}/docs/"
pages = [f"{site}/docs/chapter-1/page-{number}" for number in range(1, 4)]


def refused(work):
    """The message of the error that a call raises."""
    try:
        work()
    except Exception as error:
        return str(error)
    return None


schema = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
page = app.scrape_url(docs, formats=["markdown", "links", "extract"], extract=JsonConfig(schema=schema))
crawl = app.crawl_url(docs, limit=4, max_depth=1, ignore_sitemap=True, poll_interval=1, scrape_options=ScrapeOptions(formats=["markdown"]))
started = app.async_crawl_url(docs, limit=90, max_concurrency=1)
cancelled = app.cancel_crawl(started.id)
batch = app.batch_scrape_urls(pages, formats=["markdown"], poll_interval=1)
begun = app.async_batch_scrape_urls([f"{site}/errors/500"])
failing = begun.id
while (status := app.check_batch_scrape_status(failing)).status == "scraping":
    pass
found = app.search("chapter", limit=3)
read = app.search("chapter", limit=2, scrape_options=ScrapeOptions(formats=["markdown"]))

print(
    json.dumps(
        {
            "page": [bool(page.markdown), len(page.links) > 0, bool(page.extract), page.metadata["statusCode"]],
            "crawl": [crawl.status, crawl.completed, len(crawl.data), crawl.creditsUsed],
            "cancelled": cancelled,
            "batch": [batch.status, sorted(each.metadata["sourceURL"] for each in batch.data)],
            "failed": [status.status, [each["code"] for each in app.check_batch_scrape_errors(failing).errors]],
            "errors": app.check_crawl_errors(crawl.model_dump().get("id") or started.id).robotsBlocked,
            "links": app.map_url(docs, limit=5).links,
            "found": [bool(each["url"]) for each in found.data],
            "read": [bool(each["markdown"]) for each in read.data],
            "refused": refused(lambda: app.scrape_url(docs, wait_for=900_000)),
            "private": refused(lambda: app.scrape_url("http://169.254.169.254/")),
            "slow": refused(lambda: app.scrape_url(silent, timeout=1000)),
        }
    )
)

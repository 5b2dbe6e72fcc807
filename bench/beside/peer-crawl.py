"""
Crawls a site with crawl4ai, without a browser and without politeness, until its input ends: main content as Markdown, as in
`bench/pages/peers.py`. The first line of its output says that it reads pages; each line of its input gets one with their number.
"""

import asyncio
import json
import logging
import os
import sys
import threading

# Its database and its log, in the folder that the benchmark deletes.
os.environ["CRAWL4_AI_BASE_DIRECTORY"] = os.getcwd()
os.environ["CRAWL4AI_NO_CLOUD_NOTICE"] = "1"
logging.disable(logging.CRITICAL)

from crawl4ai import AsyncWebCrawler, CrawlerRunConfig
from crawl4ai.async_configs import HTTPCrawlerConfig
from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy
from crawl4ai.cache_context import CacheMode
from crawl4ai.content_filter_strategy import PruningContentFilterLXML
from crawl4ai.content_scraping_strategy import LXMLWebScrapingStrategy
from crawl4ai.deep_crawling import BFSDeepCrawlStrategy
from crawl4ai.markdown_generation_strategy import DefaultMarkdownGenerator

pages = 0


def say(message):
    print(json.dumps(message), flush=True)


def answer():
    for _ in sys.stdin:
        say({"pages": pages})
    os._exit(0)


async def crawl(start):
    global pages
    config = CrawlerRunConfig(
        deep_crawl_strategy=BFSDeepCrawlStrategy(max_depth=100),
        scraping_strategy=LXMLWebScrapingStrategy(),
        markdown_generator=DefaultMarkdownGenerator(content_filter=PruningContentFilterLXML()),
        cache_mode=CacheMode.BYPASS,
        mean_delay=0,
        max_range=0,
        stream=True,
        verbose=False,
    )
    strategy = AsyncHTTPCrawlerStrategy(browser_config=HTTPCrawlerConfig())
    async with AsyncWebCrawler(crawler_strategy=strategy, verbose=False) as crawler:
        async for result in await crawler.arun(start, config=config):
            if not (result.success and result.markdown.fit_markdown):
                continue
            pages += 1
            if pages == 1:
                say({"pages": 1})
                threading.Thread(target=answer, daemon=True).start()


asyncio.run(crawl(sys.argv[1]))

"""Reads the pages named on the command line with one library, several times; prints the CPU time of one page each, as JSON."""

import json
import sys
import time


def reader(name):
    if name == "trafilatura":
        import trafilatura

        return lambda html: trafilatura.extract(html, output_format="markdown", include_tables=True, include_links=True)
    from crawl4ai.content_filter_strategy import PruningContentFilterLXML
    from crawl4ai.content_scraping_strategy import LXMLWebScrapingStrategy
    from crawl4ai.markdown_generation_strategy import DefaultMarkdownGenerator

    scraper = LXMLWebScrapingStrategy()
    generator = DefaultMarkdownGenerator(content_filter=PruningContentFilterLXML())

    def read(html):
        cleaned = scraper.scrap("https://bench.test/", html).cleaned_html
        return generator.generate_markdown(cleaned, base_url="https://bench.test/").fit_markdown

    return read


def main():
    name, rounds, *files = sys.argv[1:]
    read = reader(name)
    milliseconds = []
    for file in files:
        with open(file, encoding="utf-8") as page:
            html = page.read()
        read(html)
        start = time.process_time()
        for _ in range(int(rounds)):
            read(html)
        milliseconds.append((time.process_time() - start) * 1000 / int(rounds))
    print(json.dumps(milliseconds))


main()

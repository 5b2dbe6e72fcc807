"""Makes a token for two requests a minute, and shows what a client sees at the third.

Runs on the gateway's machine, since the command line writes to its storage.
"""

import json
import os
import subprocess
from pathlib import Path

from openai import OpenAI, RateLimitError

command = "npx tollgate token create --user example --credits 1 --rpm 2 --json"
repository = Path(__file__).resolve().parents[2]
created = subprocess.run(command.split(), cwd=repository, check=True, stdout=subprocess.PIPE)

client = OpenAI(
    base_url=os.environ.get("TOLLGATE_URL", "http://127.0.0.1:8787") + "/v1",
    api_key=json.loads(created.stdout)["token"],
    max_retries=0,  # by default the package waits as long as retry-after says, and tries twice more
)

for call in range(1, 4):
    try:
        response = client.embeddings.with_raw_response.create(model="openai/text-embedding-3-small", input="Hello!")
        print(f"call {call}: {response.headers['x-ratelimit-remaining-requests']} more in this minute")
    except RateLimitError as error:
        print(f"call {call}: {error.status_code} {error.code}, again in {error.response.headers['retry-after']} s")
        break
else:
    raise SystemExit("The limit was never reached.")

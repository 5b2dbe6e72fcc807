"""Makes a token with a small budget, calls until it is used up, and shows what a client sees then.

Runs on the gateway's machine, since the command line writes to its storage.
"""

import json
import os
import subprocess
from pathlib import Path

from openai import APIStatusError, OpenAI

command = "npx tollgate token create --user example --credits 1 --max-budget 0.00025 --json"
repository = Path(__file__).resolve().parents[2]
created = subprocess.run(command.split(), cwd=repository, check=True, stdout=subprocess.PIPE)

client = OpenAI(
    base_url=os.environ.get("TOLLGATE_URL", "http://127.0.0.1:8787") + "/v1",
    api_key=json.loads(created.stdout)["token"],
)

for call in range(1, 21):
    try:
        client.chat.completions.create(
            model="openai/gpt-5-mini",
            max_completion_tokens=100,  # a call needs room for the most that it may cost
            messages=[{"role": "user", "content": "Hello!"}],
        )
        print(f"call {call}: answered")
    except APIStatusError as error:
        if error.code != "insufficient_credits":
            raise
        # Trying again does not help, and the package does not: somebody has to raise the budget.
        print(f"call {call}: {error.status_code} {error.code} ({error.request_id})")
        print(error.body["message"])
        break
else:
    raise SystemExit("The budget was never used up.")

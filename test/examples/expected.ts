/** The output of each example in the sandbox, and the files that it creates. */
export interface Expected {
  /** In this order, each of them. */
  readonly prints: readonly RegExp[];
  readonly leaves?: readonly string[];
}

const said = /You said: .*Hello.*\. That is all I have to say\./;
const counted = /\d+ tokens in, \d+ out/;
const weather = /18 degrees and sunny in sample city/;
const calledWeather = /get_weather\(\{.*sample city.*\}\) -> 18 degrees and sunny in sample city/;
const similar = /0\.\d{3} {2}The red fox sleeps by day\.\n-?0\.\d{3} {2}Interest rates/;
const credits = /openai\/gpt-5-mini: 5 tokens in, 10 out, 0\.000021250 credits/;
const spent = /openai\/gpt-5-mini: 1 requests, 0\.000021250 credits\nall: 1 requests, 0\.000021250 credits/;

const images: Expected = {
  prints: [/saved fox\.png, [1-9]\d* bytes/, /saved fox-in-snow\.png, [1-9]\d* bytes/],
  leaves: ["fox-in-snow.png", "fox.png"],
};
const videos: Expected = { prints: [/queued/, /saved fox\.mp4, [1-9]\d* bytes/], leaves: ["fox.mp4"] };
const speech: Expected = {
  prints: [/saved hello\.mp3, [1-9]\d* bytes/, /heard: \w+|"text":"\w+/],
  leaves: ["hello.mp3"],
};
const retryKey: Expected = { prints: [/before|balance/, /The same answer twice, charged once\./] };
const rateLimit: Expected = {
  prints: [/call 1: 1 more/, /call 2: 0 more/, /call 3: 429 rate_limit_exceeded, again in \d+ s/],
};
const budget: Expected = {
  prints: [/call 1: answered/, /call \d: 402 insufficient_credits \(req_\w+\)/, /Not enough credits: this call needs/],
};
const loop: Expected = { prints: [calledWeather, weather] };
const chat: Expected = { prints: [said] };
const stream: Expected = { prints: [said, counted] };
const messages: Expected = { prints: [said, said, counted] };
const responses: Expected = { prints: [said, /You said: And in French\?/] };
const embeddings: Expected = { prints: [similar] };
const cost: Expected = { prints: [credits, spent] };

/** By the path in examples/. */
export const expected: Readonly<Record<string, Expected>> = {
  "coding-agents/claude-code.sh": { prints: [/"model":"claude-sonnet-5"/, said] },
  "coding-agents/codex.sh": { prints: [/"model":"gpt-5-mini"/, /event: response\.completed/, said] },
  "curl/budget.sh": { prints: [/call 1: 200/, /call \d: 402/, /"code":"insufficient_credits"/] },
  "curl/chat.sh": { prints: [said] },
  "curl/cost.sh": { prints: [/"object":"generation".*"credits":0\.00002125/, /"group_by":"model"/] },
  "curl/embeddings.sh": { prints: [/"index":0,"embedding":\[(-?[\d.e-]+,){7}-?[\d.e-]+\]/, /"index":1/] },
  "curl/images.sh": images,
  "curl/messages.sh": { prints: [/"type":"message"/, said] },
  "curl/models.sh": { prints: [/^openai\/gpt-5-mini$/m, /^anthropic\/claude-haiku-4-5$/m] },
  "curl/responses.sh": { prints: [/"id":"resp_\w+"/, said, /You said: And in French\?/] },
  "curl/retry-key.sh": retryKey,
  "curl/speech.sh": speech,
  "curl/videos.sh": videos,
  "curl/stream.sh": { prints: [/^data: .*"delta":/m, /^data: \[DONE\]$/m] },
  "python/budget.py": budget,
  "python/videos.py": videos,
  "python/chat.py": chat,
  "python/cost.py": cost,
  "python/embeddings.py": embeddings,
  "python/images.py": images,
  "python/messages.py": messages,
  "python/messages_tools.py": loop,
  "python/rate_limit.py": rateLimit,
  "python/responses.py": responses,
  "python/retry_key.py": retryKey,
  "python/speech.py": speech,
  "python/stream.py": stream,
  "python/tools.py": loop,
  "typescript/ai-sdk-tools.ts": { prints: [weather, /\(2 steps\)/] },
  "typescript/ai-sdk.ts": stream,
  "typescript/budget.ts": budget,
  "typescript/videos.ts": videos,
  "typescript/chat.ts": chat,
  "typescript/cost.ts": cost,
  "typescript/embeddings.ts": embeddings,
  "typescript/images.ts": images,
  "typescript/messages-tools.ts": loop,
  "typescript/messages.ts": messages,
  "typescript/rate-limit.ts": rateLimit,
  "typescript/responses.ts": responses,
  "typescript/retry-key.ts": retryKey,
  "typescript/speech.ts": speech,
  "typescript/stream.ts": stream,
  "typescript/tools.ts": loop,
};

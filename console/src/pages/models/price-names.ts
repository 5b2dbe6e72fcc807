/** The prices that models have beside those of plain input and output, as a table can name them. */
export const priceNames = {
  cache_read_mtok: "cached input",
  cache_write_mtok: "into the cache",
  cache_write_1h_mtok: "into the cache for an hour",
  output_reasoning_mtok: "reasoning",
  input_audio_mtok: "input audio",
  cache_audio_read_mtok: "cached audio",
  output_audio_mtok: "output audio",
  input_image_mtok: "input images",
  output_image_mtok: "output images",
  image: "an image",
  input_image: "an image sent along",
  input_mchars: "a million characters",
  input_audio_hours: "an hour of audio",
  output_video_seconds: "a second of video",
  connection_hours: "an hour of connection",
  web_searches_kcount: "a thousand web searches",
  search_units_kcount: "a thousand search units",
  requests_kcount: "a thousand calls",
} as const;

export type PriceKey = keyof typeof priceNames;

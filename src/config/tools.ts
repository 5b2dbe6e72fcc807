/** The part of the configuration for tools of models that the gateway runs. */
import { z } from "zod";
import { fromText } from "./values/from-text.ts";
import { duration as time } from "./values/units.ts";

const mode = z.enum(["auto", "native", "gateway", "off"]).prefault("auto");

export const tools = z
  .strictObject({
    hosted: z
      .strictObject({
        web_search: mode.describe(
          "Who runs web_search of Responses, web_search_* of Messages and web_search_options of chat. auto: the provider if it has the tool and its price is known, else the gateway, with web.search, if that is not local; native, gateway: that one alone; off: nobody.",
        ),
        web_fetch: mode.describe("The same for web_fetch_* of Messages, whose pages the gateway reads as scrapes."),
      })
      .prefault({})
      .describe("Tools that clients expect the provider to run."),
    deadline: fromText(time)
      .prefault("10m")
      .describe("How long the tools of one answer may be called; then the model has to answer."),
  })
  .prefault({})
  .describe("Tools of models that the gateway runs for providers without them.");

import OpenAI from "openai";
import type { Driver } from "./driver.ts";

const classes: Record<number, ReturnType<Driver["errorClass"]>> = {
  400: OpenAI.BadRequestError,
  401: OpenAI.AuthenticationError,
  404: OpenAI.NotFoundError,
  422: OpenAI.UnprocessableEntityError,
  429: OpenAI.RateLimitError,
};

/** The exception of OpenAI's SDK for this status. */
export const openaiError: Driver["errorClass"] = (status) =>
  status >= 500 ? OpenAI.InternalServerError : (classes[status] ?? OpenAI.APIError);

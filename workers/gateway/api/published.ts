/** What everybody may read (HTTP-4, HTTP-6). */
import * as z from "zod";
import { health } from "../../../src/shared/wire/http.ts";
import type { Route } from "./route.ts";

export const published: readonly Route[] = [
  {
    method: "GET",
    path: "/healthz",
    summary: "Which version runs",
    auth: "none",
    answer: health,
  },
  {
    method: "GET",
    path: "/openapi.json",
    summary: "This document",
    auth: "none",
    answer: z.looseObject({ openapi: z.string() }),
  },
  {
    method: "GET",
    path: "/docs",
    summary: "This document as a page",
    auth: "none",
    answer: "text/html",
  },
  {
    method: "GET",
    path: "/docs/*",
    summary: "The script and the style of that page",
    auth: "none",
    answer: "text/javascript",
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: "/schemas/*",
    summary: "The JSON Schema of a message",
    description: "`/schemas/index.json` lists them; `/schemas/room/message.new.json` is one.",
    auth: "none",
    answer: z.looseObject({}),
    errors: ["not_found"],
  },
];

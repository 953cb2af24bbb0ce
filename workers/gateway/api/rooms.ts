/** Reads of spaces and of what is in them (HTTP-2). */
import * as http from "../../../src/shared/wire/http.ts";
import { id } from "../../../src/shared/wire/ids.ts";
import * as query from "../../../src/shared/wire/query.ts";
import type { Route } from "./route.ts";

const space = { id: id("spc") };

export const rooms: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/spaces",
    summary: "Your spaces, and the open ones",
    query: query.pageQuery,
    answer: http.page(http.spaceItem),
  },
  {
    method: "GET",
    path: "/v1/spaces/:id",
    summary: "One space",
    params: space,
    answer: http.spaceItem,
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: "/v1/spaces/:id/members",
    summary: "Who is in a space",
    params: space,
    answer: http.page(http.memberItem),
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: "/v1/spaces/:id/context",
    summary: "What was said in a space, page by page back to its first line",
    params: space,
    query: query.contextQuery,
    answer: http.contextAnswer,
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: "/v1/spaces/:id/files",
    summary: "A space's files, or every version of one",
    params: space,
    query: query.filesQuery,
    answer: http.page(http.fileItem),
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: "/v1/spaces/:id/runs",
    summary: "A space's runs, newest first",
    params: space,
    query: query.pageQuery,
    answer: http.page(http.runItem),
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: "/v1/search",
    summary: "Messages that hold the words, newest first",
    query: query.searchQuery,
    answer: http.page(http.searchItem),
  },
  {
    method: "GET",
    path: "/v1/why/:id",
    summary: "Why the room did what it did",
    description:
      "The decisions behind an event that you may see, each with the rule that made it and the facts it used. " +
      "With a message's id: behind the event that said it.",
    params: { id: id("evt", "msg") },
    answer: http.whyAnswer,
    errors: ["not_found"],
  },
];

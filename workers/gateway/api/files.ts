/** Attachments (ATT). */
import * as http from "../../../src/shared/wire/http.ts";
import { id } from "../../../src/shared/wire/ids.ts";
import { uploadQuery } from "../../../src/shared/wire/query.ts";
import type { Route } from "./route.ts";

export const files: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/attachments",
    summary: "Upload a file",
    description:
      "The body is the file's bytes. What it is, is found out from them; `content-type` is not looked at.",
    query: uploadQuery,
    body: "bytes",
    status: 201,
    answer: http.attachmentUploaded,
  },
  {
    method: "GET",
    path: "/v1/attachments/:id",
    summary: "A file's bytes",
    description:
      "A person may ask by id alone. A harness uses the signed `url` that it was given, with the token that it " +
      "was given it for. One `range` is answered in part, and `if-none-match` without the bytes.",
    params: { id: id("att") },
    answer: "application/octet-stream",
    also: {
      206: "The range that was asked for.",
      304: "You have these bytes.",
      416: "`invalid`: no such range.",
    },
    errors: ["not_found", "gone"],
  },
  {
    method: "GET",
    path: "/v1/attachments/:id/url",
    summary: "A fresh signed URL of a file",
    params: { id: id("att") },
    answer: http.attachmentUrl,
    errors: ["not_found"],
  },
];

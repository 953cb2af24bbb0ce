import { describe, expect, test } from "vitest";
import { fakeFetch } from "../../test/sdk/fakes.ts";
import { BullpenError } from "./errors.ts";
import { BullpenHttp } from "./http.ts";

const url = "https://rooms.example.com/";

describe("HTTP-1: requests", () => {
  test("AUTH-1: the token is the bearer, and a body is JSON both ways", async () => {
    const seen: unknown[] = [];
    const { calls, fetch } = fakeFetch({
      "POST /v1/events": async (request) => {
        seen.push(request.headers.get("content-type"), await request.json());
        return Response.json({ receipts: [] });
      },
    });
    const http = new BullpenHttp({ url, token: "bp_x", fetch });
    await expect(http.post("/v1/events", [{ a: 1 }])).resolves.toEqual({ receipts: [] });
    expect(calls).toEqual([{ method: "POST", url: "/v1/events", authorization: "Bearer bp_x" }]);
    expect(seen).toEqual(["application/json", [{ a: 1 }]]);
  });

  test("HTTP-2: a query leaves out what is undefined, and 204 is nothing", async () => {
    const { calls, fetch } = fakeFetch({ "GET /v1/events": () => new Response(null, { status: 204 }) });
    const http = new BullpenHttp({ url: "https://h.example/", fetch });
    await expect(http.get("/v1/events", { after: 0, space_id: undefined })).resolves.toBeUndefined();
    expect(calls[0]).toEqual({ method: "GET", url: "/v1/events?after=0", authorization: null });
  });

  test("HTTP-2: a path in the origin stays as a prefix", () => {
    const http = new BullpenHttp({ url: "https://h.example/rooms/" });
    expect(http.url("/v1/me").href).toBe("https://h.example/rooms/v1/me");
  });

  test.each(["", "rooms.example.com", "ftp://h.example", "ws://h.example"])(
    "ERR-1: %j is no origin",
    (bad) => {
      expect(() => new BullpenHttp({ url: bad })).toThrow(BullpenError);
    },
  );

  test("ERR-1: the server's refusal arrives whole", async () => {
    const { fetch } = fakeFetch({
      "GET /v1/me": () =>
        Response.json(
          { type: "error", code: "rate_limited", message: "Wait.", retryable: true, retry_after_s: 3 },
          { status: 429 },
        ),
    });
    await expect(new BullpenHttp({ url, fetch }).get("/v1/me")).rejects.toMatchObject({
      code: "rate_limited",
      retryable: true,
      retryAfterS: 3,
      status: 429,
      message: "Wait.",
    });
  });

  test.each([
    [401, "unauthenticated"],
    [404, "not_found"],
    [422, "invalid"],
    [502, "unavailable"],
    [503, "unavailable"],
  ])("ERR-2: %i from somebody in between is %s", async (status, code) => {
    const { fetch } = fakeFetch({ "GET /v1/me": () => new Response("<html>", { status }) });
    await expect(new BullpenHttp({ url, fetch }).get("/v1/me")).rejects.toMatchObject({ code, status });
  });

  test("ERR-2: a server that cannot be reached, or is none of ours, is unavailable", async () => {
    const { fetch } = fakeFetch({ "GET /v1/spaces": () => new Response("hello") });
    const http = new BullpenHttp({ url, fetch });
    await expect(http.get("/v1/me")).rejects.toMatchObject({ code: "unavailable", retryable: true });
    await expect(http.get("/v1/spaces")).rejects.toMatchObject({ code: "unavailable" });
  });
});

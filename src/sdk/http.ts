/** HTTP with the token, JSON both ways, and every refusal as a `BullpenError`. */
import { BullpenError, codeOfStatus, isErrorFrame } from "./errors.ts";

export type Fetch = typeof globalThis.fetch;

export interface HttpOptions {
  /** The server's origin, `https://…`. A path in it is kept as a prefix. */
  url: string;
  token?: string | undefined;
  fetch?: Fetch | undefined;
}

export type Query = Record<string, string | number | boolean | undefined>;

export interface RequestOptions {
  query?: Query | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is: bytes, a `Blob` or a stream. */
  content?: unknown;
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
}

/** A typed client for the routes. Nothing is retried here: the caller knows what may be sent twice. */
export class BullpenHttp {
  readonly #base: URL;
  readonly #token: string | undefined;
  readonly #fetch: Fetch;

  constructor({ url, token, fetch }: HttpOptions) {
    this.#base = baseUrl(url);
    this.#token = token;
    // A bare reference would be called without its global, which Workers and browsers refuse.
    this.#fetch = fetch ?? ((...args: Parameters<Fetch>) => globalThis.fetch(...args));
  }

  /** The full URL of a path on this server. */
  url(path: string, query: Query = {}): URL {
    const url = new URL(`${this.#base.pathname}${path.replace(/^\/+/, "")}`, this.#base);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    return url;
  }

  get<T>(path: string, query?: Query, options: RequestOptions = {}): Promise<T> {
    return this.json<T>("GET", path, { ...options, query });
  }

  post<T>(path: string, body?: unknown, options: RequestOptions = {}): Promise<T> {
    return this.json<T>("POST", path, { ...options, body });
  }

  put<T>(path: string, body?: unknown, options: RequestOptions = {}): Promise<T> {
    return this.json<T>("PUT", path, { ...options, body });
  }

  patch<T>(path: string, body?: unknown, options: RequestOptions = {}): Promise<T> {
    return this.json<T>("PATCH", path, { ...options, body });
  }

  delete<T = void>(path: string, options: RequestOptions = {}): Promise<T> {
    return this.json<T>("DELETE", path, options);
  }

  /** One request whose answer is JSON, or nothing with 204. */
  async json<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    const response = await this.request(method, path, options);
    const text = await response.text();
    if (text === "") return undefined as T;
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw new BullpenError("unavailable", `${this.#base.origin} did not answer with JSON: check the url.`, {
        status: response.status,
        cause,
      });
    }
  }

  /** One request, its answer as it comes; anything but success is thrown. */
  async request(method: string, path: string | URL, options: RequestOptions = {}): Promise<Response> {
    const { query, body, content, signal } = options;
    const headers: Record<string, string> = { ...options.headers };
    if (this.#token !== undefined) headers["authorization"] = `Bearer ${this.#token}`;
    if (body !== undefined) headers["content-type"] = "application/json";
    const init = {
      method,
      headers,
      signal,
      body: body === undefined ? content : JSON.stringify(body),
      // Streams can only be sent while the answer is still out.
      ...(content instanceof ReadableStream ? { duplex: "half" } : {}),
    };
    const url = typeof path === "string" ? this.url(path, query) : this.#own(path);
    let response: Response;
    try {
      response = await this.#fetch(url.href, init as RequestInit);
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw new BullpenError("unavailable", `Cannot reach ${url.origin}: check the url and the network.`, {
        cause,
      });
    }
    if (!response.ok) throw await refusal(response);
    return response;
  }

  /** The same path on our own server: the token goes nowhere else, whatever host a URL names. */
  #own(url: URL): URL {
    return url.origin === this.#base.origin ? url : new URL(`${url.pathname}${url.search}`, this.#base);
  }
}

/** The origin as a base to resolve against; anything but http and https is refused. */
function baseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw new BullpenError(
      "invalid",
      "url must be an http or https origin, as in https://rooms.example.com.",
    );
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/`;
  url.search = "";
  url.hash = "";
  return url;
}

async function refusal(response: Response): Promise<BullpenError> {
  const { status } = response;
  const body: unknown = await response.json().catch(() => undefined);
  if (isErrorFrame(body)) return BullpenError.of(body, status);
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new BullpenError(codeOfStatus(status), `The server answered ${status} without saying why.`, {
    status,
    retryAfterS: Number.isFinite(retryAfter) ? retryAfter : undefined,
  });
}

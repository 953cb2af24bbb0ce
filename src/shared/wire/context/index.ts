import type * as z from "zod";
import { streamEvent } from "./event.ts";
import { contextItem } from "./item.ts";

export * from "./call.ts";
export * from "./event.ts";
export * from "./http.ts";
export * from "./item.ts";

/** What is published under `schemas/context/`, by file name (HTTP-4). */
export const CONTEXT_SCHEMAS: Record<string, z.ZodType> = { item: contextItem, event: streamEvent };

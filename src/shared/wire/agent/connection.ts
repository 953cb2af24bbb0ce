import * as z from "zod";
import { agentErrorCode, frame } from "./frame.ts";
import { report } from "./parts.ts";

export const hello = frame(
  "hello",
  { person: z.string(), token: z.string(), protocolVersion: z.int(), agentVersion: z.string() },
  "The first frame of every connection: who the agent is, and that it speaks version 3 (OFF-2).",
);

export const welcome = frame(
  "welcome",
  {
    protocolVersion: z.int(),
    heartbeatMs: z.int(),
    team: z.record(z.string(), z.unknown()),
    resume: z.array(z.string()),
    reports: z.array(report).optional(),
    acts: z.array(z.object({ id: z.string(), ops: z.array(z.unknown()) })).optional(),
  },
  "The connection stands: the team's config, what to resume, and what is still to be posted or made (OFF-5).",
);

export const heartbeat = frame(
  "heartbeat",
  { workItemId: z.string().optional() },
  "Says that the agent is alive, and what it is on (OFF-6).",
);

export const ack = frame("ack", {}, "It was done, and there is nothing to return.");

export const error = frame(
  "error",
  { code: agentErrorCode, message: z.string() },
  "It was not done, or not understood (OFF-4).",
);

export const ping = frame("ping", {}, "Asks for a sign of life.");

export const pong = frame("pong", {}, "A sign of life.");

/** An export as the tests in workerd read it. */
import { exports } from "cloudflare:workers";
import { type Any, ORIGIN, type Party } from "./client.ts";

/**
 * The text of an export and its lines. `meanwhile` may read a first part and then do something, while the rest
 * is not made yet.
 */
export async function exportOf(
  by: Party,
  meanwhile?: (read: () => Promise<void>) => Promise<void>,
): Promise<{ text: string; lines: Any[] }> {
  const response = await exports.default.fetch(
    new Request(`${ORIGIN}/v1/export`, { headers: { authorization: `Bearer ${by.token}` } }),
  );
  if (!response.ok || !response.body) throw new Error(`no export: ${response.status}`);
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const read = async (): Promise<boolean> => {
    const { done, value } = await reader.read();
    if (value) text += decoder.decode(value as Uint8Array, { stream: true });
    return !done;
  };
  await meanwhile?.(async () => void (await read()));
  while (await read());
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line): Any => JSON.parse(line));
  return { text, lines };
}

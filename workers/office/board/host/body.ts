/** Bodies of strangers' answers, read no further than they may be large (WORK-5). */

/** The whole text, or undefined when it is larger. A body that breaks off throws. */
export async function readAll(response: Response, most: number): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of chunksOf(response)) {
    size += part.byteLength;
    if (size > most) return undefined;
    parts.push(part);
  }
  return textOf(parts);
}

/** The text's end, or undefined when all of it is larger than `most`. A body that breaks off throws. */
export async function readEnd(response: Response, end: number, most: number): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let kept = 0;
  let size = 0;
  for await (const part of chunksOf(response)) {
    size += part.byteLength;
    if (size > most) return undefined;
    parts.push(part);
    kept += part.byteLength;
    while (kept - (parts[0]?.byteLength ?? 0) >= end) kept -= parts.shift()?.byteLength ?? 0;
  }
  const text = textOf(parts);
  // The first line of what is left may be half a one.
  return size > kept ? text.slice(text.indexOf("\n") + 1) : text;
}

/** What came; left early, the rest is let go of. */
async function* chunksOf(response: Response): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value as Uint8Array;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function textOf(parts: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
}

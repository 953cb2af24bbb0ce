/** Voice notes as text, where a transcriber is bound (ATT-7). Nothing depends on it. */

/** The part of Workers AI that is used. The binding is optional: a deployment without it has no transcripts. */
export interface Transcriber {
  run(model: string, input: { audio: string }): Promise<unknown>;
}

const MODEL = "@cf/openai/whisper-large-v3-turbo";
/** Longer recordings are no notes: half an hour at what a browser records, and what base64 makes of it in memory. */
const NOTE_BYTES = 6 * 1024 * 1024;
/** As much as a message's text (LIMIT-1). */
const TRANSCRIPT_CHARS = 16 * 1024;
/** A multiple of three, so that the pieces' base64 can be joined. */
const PIECE_BYTES = 24_576;

export function transcriberOf(env: Env & { AI?: Transcriber }): Transcriber | undefined {
  return env.AI;
}

export function isVoiceNote(file: { mime_type: string; byte_size: number }): boolean {
  return file.mime_type.startsWith("audio/") && file.byte_size <= NOTE_BYTES;
}

/** What is said in a stored recording; undefined when nothing is, or nobody can tell. */
export async function transcribe(
  ai: Transcriber,
  bucket: R2Bucket,
  key: string,
): Promise<string | undefined> {
  const object = await bucket.get(key);
  if (!object) return undefined;
  const audio = base64(new Uint8Array(await object.arrayBuffer()));
  return textOf(await ai.run(MODEL, { audio }));
}

function base64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES)
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES))));
  return pieces.join("");
}

/** The text of a transcriber's answer, fit to be stored. */
function textOf(answer: unknown): string | undefined {
  if (typeof answer !== "object" || answer === null || !("text" in answer)) return undefined;
  if (typeof answer.text !== "string") return undefined;
  const text = answer.text.toWellFormed().replaceAll("\0", "").trim();
  if (text === "") return undefined;
  return text.length > TRANSCRIPT_CHARS ? `${text.slice(0, TRANSCRIPT_CHARS).toWellFormed()}…` : text;
}

/** Text that somebody wrote, made such that it can be no more than text (RENDER-2). */

// Ranges are spelled out: what a runtime's Unicode tables know differs between Node and workerd (RENDER-4).
const UNSEEN =
  "\\t \\u00a0\\u00ad\\u034f\\u061c\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f\\u2000-\\u200f\\u202a-\\u202f" +
  "\\u205f-\\u206f\\u2800\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}";
const BREAKS = "\\n\\r\\u2028\\u2029";
// One attempt a line, and none crosses a line: a long text of blanks or of breaks costs its length, once.
const LINE_START = new RegExp(
  `(^|[${BREAKS}])(?=[${UNSEEN}]*(?:\\[[${UNSEEN}]*#|<[${UNSEEN}]*/?[${UNSEEN}]*developer))`,
  "giu",
);
const MAY_START = /#|developer/i;

// Marks of turns and roles in the templates of open models: a server that knows them takes them for its own,
// wherever they stand. A mark is never written with white space inside.
const MARK =
  /<(?=[|｜][^\s<>|｜]{1,60}[|｜]?>|[^\s<>|｜]{1,60}[|｜]>|(?:start|end)_of_turn>|<\/?SYS>>|\/?s>)|\[(?=\/?(?:INST|SYSTEM_PROMPT)\])/g;

const CONTROLS = /[^\P{Cc}\t\n\r]+/gu;

/**
 * A content as a model reads it (RENDER-2). A line that looks like a header or a tag of the developer's lane gets
 * a leading `\`, also when unseen characters stand before it; marks of open models' templates get one inside, so
 * that they are none; control characters are shown as pictures, and what is no Unicode as `�`. Linear in its length.
 */
export function plainText(content: string): string {
  let text = content.toWellFormed().replace(CONTROLS, pictures);
  if (MAY_START.test(text)) text = text.replace(LINE_START, "$1\\");
  return text.replace(MARK, "$&\\");
}

/** The same inside JSON, which stays the same JSON: one line, without marks. */
export function plainJson(json: string): string {
  return json.replace(MARK, escaped).replace(/[\u007f-\u009f\u2028\u2029]/g, escaped);
}

/** The pictures that Unicode has for control characters; the later ones have none. */
function pictures(controls: string): string {
  let shown = "";
  for (let i = 0; i < controls.length; i++) {
    const code = controls.charCodeAt(i);
    shown += code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd";
  }
  return shown;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

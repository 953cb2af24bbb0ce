const NAME_LIMIT = 80;

// Three things that are invisible by themselves and yet part of how people write: a variation selector after
// what it varies, the joiner inside an emoji, and the joiners of Arabic, Indic and their neighbour scripts.
const VARIANT = /(?<=[\p{sc=Han}\p{sc=Mong}\p{sc=Mymr}\p{Emoji}])\p{Variation_Selector}/gu;
const EMOJI_JOINER =
  /(?<=\p{Extended_Pictographic}[\p{Emoji_Modifier}\ufe0f]?)\u200d(?=\p{Extended_Pictographic})/gu;
const JOINING =
  "\\p{sc=Arab}\\p{sc=Syrc}\\p{sc=Mong}\\p{sc=Deva}\\p{sc=Beng}\\p{sc=Guru}\\p{sc=Gujr}\\p{sc=Orya}" +
  "\\p{sc=Taml}\\p{sc=Telu}\\p{sc=Knda}\\p{sc=Mlym}\\p{sc=Sinh}\\p{sc=Khmr}\\p{sc=Mymr}";
/** Such a script has signs that are not seen themselves. */
const LETTER = `(?!\\p{Default_Ignorable_Code_Point})[${JOINING}]`;
const BETWEEN_LETTERS = `(?<=${LETTER})[\\u200c\\u200d](?=${LETTER})`;
const LETTER_JOINER = new RegExp(BETWEEN_LETTERS, "gu");

const REFUSED = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/u;
const VISIBLE = /[^\p{M}\p{Z}\u2800]/u;

/**
 * A name of a participant or title of a space as it is stored: ends trimmed, inner white space folded to one
 * space each, NFC. `undefined` if nothing visible is left, it is longer than 80 code points (LIMIT-1), or it
 * holds what could make it look like another's or turn the text around it: control and format characters, other
 * invisible ones, text direction overrides, lone surrogates. Idempotent.
 */
export function cleanName(name: string): string | undefined {
  // A byte order mark is white space to JavaScript and must not pass as a space.
  const clean = name
    .replace(/[^\S\ufeff]+/gu, " ")
    .replace(/^ | $/g, "")
    .normalize("NFC");
  const written = clean.replace(EMOJI_JOINER, "").replace(LETTER_JOINER, "").replace(VARIANT, "");
  if (REFUSED.test(written) || !VISIBLE.test(written)) return undefined;
  return codePoints(clean) > NAME_LIMIT ? undefined : clean;
}

const EMOJI = "\\p{Extended_Pictographic}[\\ufe0f\\p{Emoji_Modifier}]?";
/**
 * What is unseen and stays: the joiners and the variation selector of an emoji, and a joiner between letters that
 * are written with one. Beside each stands something that is seen.
 */
const STAYS = `[0-9#*]\\ufe0f\\u20e3|${EMOJI}(?:\\u200d${EMOJI})*|${BETWEEN_LETTERS}`;
/**
 * Controls but the tab and the newline; what turns the direction of the text around it; what readers show nothing
 * for, such as zero-width spaces, variation selectors, annotations and tags, which spell words that only a model sees.
 */
const UNSEEN =
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\ufff9-\\ufffb\\u{13430}-\\u{1343f}" +
  "\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}]";
const SEEN_OR_NOT = new RegExp(`(${STAYS})|${UNSEEN}`, "gu");

/**
 * A text without what nobody sees, so that it neither hides words nor passes for another; nothing that is seen is
 * lost, and emoji stay whole.
 */
export function withoutUnseen(text: string): string {
  return text.replace(SEEN_OR_NOT, (_, stays: string | undefined) => stays ?? "");
}

/** Whether a text may be stored: no lone surrogate, which UTF-8 cannot hold, and no NUL, where SQLite may end it. */
export function isWellFormedText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** How many bytes a text has in UTF-8, without encoding it (LIMIT-1). A lone surrogate counts three, as encoders write it. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) bytes += 1;
    // Each half of a pair adds one to its own unit: four for both. A half alone is three.
    if (unit >= 0x800 && !isPairAt(text, i) && !isPairAt(text, i - 1)) bytes += 1;
  }
  return bytes;
}

/** How many code points a text has (WIN-3, LIMIT-1); a lone surrogate is one. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i + 1 < text.length; i++) if (isPairAt(text, i)) count -= 1;
  return count;
}

/** The first `count` code points of a text: never half a surrogate pair. */
export function firstCodePoints(text: string, count: number): string {
  let end = 0;
  for (let n = 0; n < count && end < text.length; n++) end += isPairAt(text, end) ? 2 : 1;
  return text.slice(0, end);
}

/** As much of a text's beginning as fits so many bytes of UTF-8: never half a character (WORK-1, ITEM-1). */
export function firstBytes(text: string, max: number): string {
  // A unit is three bytes at most.
  if (text.length * 3 <= max) return text;
  let bytes = 0;
  for (let i = 0; i < text.length; ) {
    const pair = isPairAt(text, i);
    const unit = text.charCodeAt(i);
    bytes += pair ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    if (bytes > max) return text.slice(0, i);
    i += pair ? 2 : 1;
  }
  return text;
}

function isPairAt(text: string, i: number): boolean {
  const first = text.charCodeAt(i);
  if (!(first >= 0xd800 && first <= 0xdbff)) return false;
  const second = text.charCodeAt(i + 1);
  return second >= 0xdc00 && second <= 0xdfff;
}

/** What a call is called in rooms: whose it is, of which stream, and which (CTX-9). */

const KEY = /^[^/]+\/((?:itm_[0-9A-Z]{26})?)\/(exe_\d+_\d+)$/;

export function keyOf(handle: string, item: string, call: string): string {
  return `${handle}/${item}/${call}`;
}

export function placeOfKey(key: string): { item: string; call: string } | undefined {
  const [, item, call] = KEY.exec(key) ?? [];
  return item === undefined || call === undefined ? undefined : { item, call };
}

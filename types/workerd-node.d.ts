// The part of Node that the Worker may use, and no more: what Web Crypto has only as promises, while
// a write must not await. Node's own types would declare all of Node, most of which workerd lacks.
declare module "node:crypto" {
  interface Digest {
    update(data: string | ArrayBufferView): this;
    digest(): Uint8Array<ArrayBuffer>;
    digest(encoding: "hex" | "base64" | "base64url"): string;
  }
  export function createHash(algorithm: "sha256"): Digest;
  export function createHmac(algorithm: "sha256", key: string | ArrayBufferView): Digest;
  export function timingSafeEqual(a: ArrayBufferView, b: ArrayBufferView): boolean;
}

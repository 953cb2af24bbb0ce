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
  interface Hex {
    toString(encoding: "hex"): string;
  }
  interface Cipher {
    setAAD(data: ArrayBufferView): this;
    update(data: string, from: "utf8", to: "hex"): string;
    final(to: "hex"): string;
    getAuthTag(): Hex;
  }
  interface Decipher {
    setAAD(data: ArrayBufferView): this;
    setAuthTag(tag: ArrayBufferView): this;
    update(data: string, from: "hex", to: "utf8"): string;
    final(to: "utf8"): string;
  }
  export function createCipheriv(algorithm: "aes-256-gcm", key: ArrayBufferView, iv: ArrayBufferView): Cipher;
  export function createDecipheriv(
    algorithm: "aes-256-gcm",
    key: ArrayBufferView,
    iv: ArrayBufferView,
  ): Decipher;
  export function hkdfSync(
    digest: "sha256",
    key: string,
    salt: string,
    info: string,
    length: number,
  ): ArrayBuffer;
  export function timingSafeEqual(a: ArrayBufferView, b: ArrayBufferView): boolean;
}

/**
 * How large an image is and how long a recording (ATT-7), by libraries that read hostile bytes: each is given
 * little to read, and what it makes of nonsense is left out.
 */
import { imageSize } from "image-size";
import type * as MusicMetadata from "music-metadata";
import type { IFormat, IOptions } from "music-metadata";
import { AbstractTokenizer, EndOfStreamError } from "strtok3/core";

export interface MediaFacts {
  width?: number;
  height?: number;
  duration_ms?: number;
  /** The type, where the tracks say it better than the beginning: a container without pictures is audio. */
  mime_type?: string;
}

/** Sizes stand near the beginning; a search through more of a broken file costs time for nothing. */
const HEADER_BYTES = 1024 * 1024;
/** Raw formats of cameras are TIFF to the library, which would answer with the size of their thumbnails. */
const SIZED =
  /^image\/(?:png|apng|jpeg|gif|webp|avif|heic|heif|bmp|tiff|jxl|jp2|x-icon|vnd\.adobe\.photoshop)$/;

/** An image's size as it is shown: a photograph that is to be turned is as wide as it was high. */
export function imageFacts(head: Uint8Array, mimeType: string): MediaFacts {
  if (!SIZED.test(mimeType)) return {};
  try {
    const { width, height, orientation = 1 } = imageSize(head.subarray(0, HEADER_BYTES));
    if (!isLength(width) || !isLength(height)) return {};
    return orientation > 4 ? { width: height, height: width } : { width, height };
  } catch {
    return {};
  }
}

function isLength(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value < 2 ** 31;
}

export function isMedia(mimeType: string): boolean {
  return /^(?:audio|video)\//.test(mimeType);
}

/** Facts of a recording that is whole in memory: it may be read through when its header says too little. */
export function mediaInMemory(bytes: Uint8Array, mimeType: string): Promise<MediaFacts> {
  return mediaFacts(mimeType, async ({ parseBuffer }, options) =>
    parseBuffer(bytes, { mimeType, size: bytes.byteLength }, { ...options, duration: true }),
  );
}

/** Facts of a recording in the bucket, from a few stretches of it. */
export function mediaInBucket(
  bucket: R2Bucket,
  key: string,
  byteSize: number,
  mimeType: string,
): Promise<MediaFacts> {
  return mediaFacts(mimeType, async ({ parseFromTokenizer }, options) =>
    parseFromTokenizer(new BucketTokenizer(bucket, key, byteSize, mimeType), options),
  );
}

async function mediaFacts(
  mimeType: string,
  parse: (library: typeof MusicMetadata, options: IOptions) => Promise<unknown>,
): Promise<MediaFacts> {
  let format: Partial<IFormat> = {};
  const options: IOptions = {
    duration: false,
    skipCovers: true,
    skipPostHeaders: true,
    mkvUseIndex: true,
    observer: ({ metadata }) => {
      format = metadata.format;
    },
  };
  try {
    // Parsers of a dozen formats: loaded with the first recording, not with every start of the Worker.
    await parse(await import("music-metadata"), options);
  } catch {
    // What was found before it gave up, such as the header of a long video, still counts.
  }
  const ofTracks = (format.trackInfo ?? []).map((t) => t.duration ?? 0);
  const milliseconds = Math.round((format.duration ?? Math.max(0, ...ofTracks)) * 1000);
  const isAudio = format.hasAudio === true && format.hasVideo === false;
  return {
    ...(isLength(milliseconds) ? { duration_ms: milliseconds } : {}),
    ...(isAudio ? { mime_type: mimeType.replace(/^video\//, "audio/") } : {}),
  };
}

/** One read from the bucket, and how many of them a file is worth: 4 MiB in all. */
const STRETCH_BYTES = 128 * 1024;
const MAX_STRETCHES = 32;

/** Reads a stored object here and there, remembering one stretch, and gives up on what wants too much. */
class BucketTokenizer extends AbstractTokenizer {
  override readonly fileInfo: { size: number; mimeType: string };
  readonly #bucket: R2Bucket;
  readonly #key: string;
  #stretch = { offset: 0, bytes: new Uint8Array() };
  #left = MAX_STRETCHES;

  constructor(bucket: R2Bucket, key: string, size: number, mimeType: string) {
    super({ maxBufferSize: STRETCH_BYTES * MAX_STRETCHES });
    this.fileInfo = { size, mimeType };
    this.#bucket = bucket;
    this.#key = key;
  }

  override supportsRandomAccess(): boolean {
    return true;
  }

  setPosition(position: number): void {
    this.position = position;
  }

  override async readBuffer(target: Uint8Array, options?: ReadOptions): Promise<number> {
    const { position } = this.normalizeOptions(target, options);
    const read = await this.peekBuffer(target, options);
    this.position = position + read;
    return read;
  }

  override async peekBuffer(target: Uint8Array, options?: ReadOptions): Promise<number> {
    const { position, length, mayBeLess } = this.normalizeOptions(target, options);
    const wanted = Math.max(0, Math.min(length, this.fileInfo.size - position));
    if (wanted < length && !mayBeLess) throw new EndOfStreamError();
    for (let done = 0; done < wanted; ) {
      const piece = await this.#at(position + done);
      const taken = piece.subarray(0, wanted - done);
      target.set(taken, done);
      done += taken.byteLength;
    }
    return wanted;
  }

  /** What is stored from a position on, at least a byte of it. */
  async #at(position: number): Promise<Uint8Array> {
    const { offset, bytes } = this.#stretch;
    if (position >= offset && position < offset + bytes.byteLength) return bytes.subarray(position - offset);
    if (this.#left === 0) throw new Error("this file wants more reads than it is worth");
    this.#left -= 1;
    const length = Math.min(STRETCH_BYTES, this.fileInfo.size - position);
    const object = await this.#bucket.get(this.#key, { range: { offset: position, length } });
    if (!object) throw new Error("the object is gone");
    this.#stretch = { offset: position, bytes: new Uint8Array(await object.arrayBuffer()) };
    return this.#stretch.bytes;
  }
}

type ReadOptions = Parameters<AbstractTokenizer["readBuffer"]>[1];

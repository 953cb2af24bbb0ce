/** A person's connection: what a page or a command line reads and writes. */
import type { Receipt, Welcome } from "../shared/wire/connection.ts";
import type { VerbType } from "../shared/wire/index.ts";
import { Client, type ClientOptions, type SendOptions, type VerbFields } from "./client.ts";
import type { BullpenError } from "./errors.ts";
import type { Content, Downloadable, Uploaded, UploadOptions } from "./files.ts";
import type { BullpenHttp } from "./http.ts";

export interface PersonOptions extends ClientOptions {
  /**
   * Acknowledges what has arrived, so that a later connection without `afterSeq` goes on there. Off unless
   * asked for: all the connections of one person share the one cursor.
   */
  acks?: boolean | undefined;
  /** Asks to be told what changes in the team's office, on every connection: `onEvent` gets `office.changed`. */
  office?: boolean | undefined;
}

/** A live connection as a person. It resumes and reconnects by itself until closed or refused. */
export interface PersonConnection {
  readonly http: BullpenHttp;
  readonly ready: Promise<Welcome>;
  readonly closed: Promise<BullpenError | undefined>;
  readonly welcome: Welcome | undefined;
  readonly lastSeq: number;
  send<T extends VerbType>(type: T, fields: VerbFields<T>, options?: SendOptions): Promise<Receipt>;
  signal(type: "read" | "typing", fields: { space_id: string; seq?: number }): boolean;
  upload(content: Content, options: UploadOptions): Promise<Uploaded>;
  download(file: Downloadable, options?: { signal?: AbortSignal }): Promise<Response>;
  idle(): Promise<void>;
  close(): void;
}

/** Connects as a person: `onEvent` gets every frame, events once each and in order. */
export function connectPerson(options: PersonOptions): PersonConnection {
  const client = new Client(options, {
    acks: options.acks ?? false,
    hello: () => ({ can: ["batch"] }),
    caughtUp() {
      if (options.office) client.signal("watch", { office: true });
    },
  });
  return client;
}

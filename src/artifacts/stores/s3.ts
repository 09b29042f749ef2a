import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { S3mini } from 's3mini';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import type { LogSink } from '../../primitives/log.ts';
import {
  checkVersion,
  defaultMaxBytes,
  missingVersionError,
  readChunks,
  storageError,
  wrapStorageErrors,
} from './content.ts';
import { userFolders, storagePath, sharedPrefix } from './storage-path.ts';
import { Spool } from '../middleware/spool.ts';
import type { ArtifactContent, ArtifactKey, ArtifactStore, StoredArtifact } from '../artifact-store.ts';

/** Where {@link s3ArtifactStore} keeps files. */
export interface S3ArtifactStoreOptions {
  /** Where the service is, such as `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  /** The bucket, which must be there. */
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** @defaultValue `us-east-1` */
  readonly region?: string;
  /** How large one version may be. @defaultValue 100 MiB */
  readonly maxBytes?: number;
  /** How large a piece of a large file is; services want 5 MiB at least. @defaultValue 5 MiB */
  readonly partBytes?: number;
  /** Where large files wait until they are whole. @defaultValue the folder of the system for temporary files */
  readonly spoolFolder?: string;
  /**
   * Whether the service keeps a second writer from replacing an object (`If-None-Match: *`). Where it does not, only
   * one process may write.
   * @defaultValue found out by trying, once
   */
  readonly conditionalWrites?: boolean;
  readonly fetch?: typeof fetch;
  readonly log?: LogSink;
}

/** How often a version may turn out to be taken before something is wrong. */
const maxAttempts = 1000;

/** The longest key that services take. */
const maxKeyBytes = 1024;

/** Takes the headers of an answer, which the library keeps for itself. */
const heads = new AsyncLocalStorage<{ headers?: Headers }>();

/** Keeps files in a bucket of an S3-compatible service, as `app/user/session/filename/version`. */
export function s3ArtifactStore(options: S3ArtifactStoreOptions): ArtifactStore {
  const { maxBytes = defaultMaxBytes, partBytes = 5 * 1024 * 1024, spoolFolder: folder, log } = options;
  const turns = new Turns();
  let opening: Promise<S3mini> | undefined;
  let trying: Promise<boolean> | undefined;
  /** Whether objects are written only where none is. */
  let isConditional = options.conditionalWrites ?? true;

  function client(): Promise<S3mini> {
    opening ??= openClient({ ...options, fetch: writeOnce(options.fetch ?? fetch, () => isConditional) });
    return opening;
  }

  /** Finds out whether the service keeps writers from each other. */
  function keepsApart(): Promise<boolean> {
    trying ??= (async () => {
      if (options.conditionalWrites !== undefined) return options.conditionalWrites;
      isConditional = await refusesSecondWrite(await client());
      if (!isConditional) {
        const message = `The bucket ${options.bucket} lets writers replace each other's files: only one process may write to it`;
        log?.({ level: 'warn', message });
      }
      return isConditional;
    })();
    trying.catch(() => {
      trying = undefined;
    });
    return trying;
  }

  async function receive(content: ArtifactContent): Promise<Spool> {
    const spool = new Spool({ maxBytes, maxMemory: partBytes, ...(folder !== undefined && { folder }) });
    try {
      for await (const piece of readChunks(content, maxBytes)) await spool.write(piece);
      return spool;
    } catch (thrown) {
      await spool.close();
      throw thrown;
    }
  }

  /** Writes an object, large ones in pieces. @returns false when there is one already */
  async function publish(spool: Spool, key: ArtifactKey, name: string, mimeType: string): Promise<boolean> {
    const s3 = await client();
    if (!(await keepsApart()) && (await s3.objectExists(name))) return false;
    const labels = {
      'x-amz-meta-original_filename': ascii(key.filename),
      'x-amz-meta-user_id': ascii(key.user),
      'x-amz-meta-session_id': ascii(key.session),
    } as const;
    try {
      if (spool.size <= partBytes) {
        await s3.putObject(
          name,
          await spool.read(0, new Uint8Array(spool.size)),
          mimeType,
          undefined,
          labels,
        );
      } else await putInPieces(s3, spool, name, mimeType, partBytes, labels);
      return true;
    } catch (thrown) {
      // 409: somebody else is writing the same object at this moment.
      if (statusOf(thrown) === 412 || statusOf(thrown) === 409) return false;
      throw thrown;
    }
  }

  async function whole(prefix: string): Promise<number[]> {
    const versions: number[] = [];
    const depth = prefix.split('/').length;
    for (const name of await keysUnder(prefix)) {
      const segments = name.split('/');
      const last = segments.at(-1) ?? '';
      if (segments.length === depth && /^\d+$/.test(last)) versions.push(Number(last));
    }
    return versions.sort((a, b) => a - b);
  }

  async function keysUnder(prefix: string): Promise<string[]> {
    const objects = await (await client()).listObjects('/', prefix);
    if (!objects) throw new Error(`there is no bucket ${options.bucket}`);
    return objects.map(({ Key }) => Key);
  }

  async function namesUnder(prefix: string): Promise<string[]> {
    const names = new Set<string>();
    const depth = prefix.split('/').length + 1;
    for (const key of await keysUnder(prefix)) {
      const segments = key.split('/');
      const name = segments.at(-2);
      if (segments.length === depth && name && /^\d+$/.test(segments.at(-1) ?? ''))
        names.add(unescaped(name));
    }
    return [...names];
  }

  return {
    save: (key, content, mimeType) =>
      wrapStorageErrors(async () => {
        const prefix = prefixOf(key);
        const spool = await receive(content);
        try {
          const version = await turns.take(prefix, async () => {
            for (let attempt = 0, number = 0; attempt < maxAttempts; attempt++, number++) {
              number = Math.max(number, ((await whole(prefix)).at(-1) ?? -1) + 1);
              if (await publish(spool, key, `${prefix}${number}`, mimeType)) return number;
            }
            throw new A2AError('CONFLICT', 'Too many save the same file');
          });
          return { version, size: spool.size };
        } finally {
          await spool.close();
        }
      }),
    saveAs: (key, version, content, mimeType) =>
      wrapStorageErrors(async () => {
        checkVersion(version);
        const prefix = prefixOf(key);
        const spool = await receive(content);
        try {
          return await turns.take(prefix, () => publish(spool, key, `${prefix}${version}`, mimeType));
        } finally {
          await spool.close();
        }
      }),
    load: (key, wanted) =>
      wrapStorageErrors(async () => {
        const prefix = prefixOf(key);
        const version = wanted ?? (await whole(prefix)).at(-1);
        return version === undefined
          ? undefined
          : await found(await client(), `${prefix}${version}`, version);
      }),
    versions: (key) => wrapStorageErrors(async () => await whole(prefixOf(key))),
    list: (scope) =>
      wrapStorageErrors(async () => {
        const { app, user, session, shared } = userFolders(scope);
        const folders = `${appPrefix(app)}/${user}/`;
        const everywhere = await namesUnder(`${folders}${shared}/`);
        const own = await namesUnder(`${folders}${session}/`);
        return [...own, ...everywhere.map((name) => sharedPrefix + name)].sort();
      }),
    delete: (key) =>
      wrapStorageErrors(async () => {
        const prefix = prefixOf(key);
        const s3 = await client();
        // The newest goes last: as long as it is there, its number is not given again.
        for (const version of await whole(prefix)) {
          if (!(await s3.deleteObject(`${prefix}${version}`)))
            throw new Error(`${prefix}${version} was not deleted`);
        }
      }),
  };
}

async function openClient(options: S3ArtifactStoreOptions): Promise<S3mini> {
  const { endpoint, bucket, accessKeyId, secretAccessKey, region = 'us-east-1' } = options;
  let library: typeof import('s3mini');
  try {
    library = await import('s3mini');
  } catch (cause) {
    const hint = 'npm install s3mini';
    throw new A2AError('INTERNAL_ERROR', `Artifacts in a bucket need a library: ${hint}`, { cause, hint });
  }
  const address = `${endpoint.replace(/\/+$/, '')}/${bucket}`;
  const { fetch } = options;
  return new library.S3mini({
    endpoint: address,
    accessKeyId,
    secretAccessKey,
    region,
    ...(fetch && { fetch }),
  });
}

/**
 * Does what the library has no word for: a request that would make an object says that it must not replace one, and
 * bytes are sent as they are, because `fetch` copies what it does not have to stream.
 */
function writeOnce(send: typeof fetch, isWanted: () => boolean): typeof fetch {
  return async (input, init = {}) => {
    const { searchParams } = new URL(input instanceof Request ? input.url : input);
    const isPart = searchParams.has('partNumber');
    const isWrite =
      (init.method === 'PUT' && !isPart) || (init.method === 'POST' && searchParams.has('uploadId'));
    const headers = new Headers(init.headers);
    if (isWrite && isWanted()) headers.set('if-none-match', '*');
    const { body } = init;
    if (!isPart || !(body instanceof Uint8Array)) {
      // `fetch` counts what it does not stream. Said twice it is refused by the newer undici, which becomes everybody's in a
      // process of Node 20 that loads it first.
      if (!(body instanceof ReadableStream)) headers.delete('content-length');
      const response = await send(input, { ...init, headers });
      const seen = heads.getStore();
      if (seen) seen.headers = response.headers;
      return response;
    }
    headers.set('content-length', String(body.byteLength));
    // Those who stream say that they do not listen meanwhile; the types do not know it.
    const streamed: RequestInit & { duplex: 'half' } = {
      ...init,
      headers,
      body: slices(body),
      duplex: 'half',
    };
    return await send(input, streamed);
  };
}

/** The same bytes, piece by piece. */
function slices(bytes: Uint8Array): ReadableStream<Uint8Array> {
  const step = 64 * 1024;
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.subarray(at, at + step));
      at += step;
      if (at >= bytes.byteLength) controller.close();
    },
  });
}

async function refusesSecondWrite(s3: S3mini): Promise<boolean> {
  const name = `.dragoman-probe/${randomUUID()}`;
  try {
    await s3.putObject(name, 'x');
    await s3.putObject(name, 'y');
    return false;
  } catch (thrown) {
    if (statusOf(thrown) === 412) return true;
    // A service that does not know the header may say so.
    if (statusOf(thrown) === 501) return false;
    throw thrown;
  } finally {
    await s3.deleteObject(name).catch(() => false);
  }
}

async function putInPieces(
  s3: S3mini,
  spool: Spool,
  name: string,
  mimeType: string,
  partBytes: number,
  labels: { readonly [header: `x-amz-${string}`]: string },
): Promise<void> {
  const upload = await s3.getMultipartUploadId(name, mimeType, undefined, labels);
  try {
    const parts = [];
    // The same bytes for every piece: each is sent before the next one is read.
    const buffer = new Uint8Array(partBytes);
    for (let at = 0; at < spool.size; at += partBytes) {
      parts.push(await s3.uploadPart(name, upload, await spool.read(at, buffer), parts.length + 1));
    }
    const result = await s3.completeMultipartUpload(name, upload, parts);
    // A service may find out that it fails after it has said that all is well.
    if (!result.etag) throw new Error(`the upload of ${name} was not completed`);
  } catch (thrown) {
    await s3.abortMultipartUpload(name, upload).catch(() => {});
    throw thrown;
  }
}

async function found(s3: S3mini, name: string, version: number): Promise<StoredArtifact | undefined> {
  const facts = await factsOf(s3, name);
  if (!facts) return undefined;
  const get = async (): Promise<Response> => {
    const response = await s3.getObjectResponse(name);
    if (!response) throw missingVersionError();
    return response;
  };
  return {
    ...facts,
    version,
    bytes: () =>
      wrapStorageErrors(async () => new Uint8Array(facts.size > 0 ? await (await get()).arrayBuffer() : [])),
    async *stream() {
      if (facts.size === 0) return;
      try {
        const { body } = await get();
        if (body) for await (const piece of body) yield piece as Uint8Array;
      } catch (thrown) {
        throw storageError(thrown);
      }
    },
  };
}

/** Size and type of an object. */
async function factsOf(s3: S3mini, name: string): Promise<{ size: number; mimeType: string } | undefined> {
  const seen: { headers?: Headers } = {};
  if (!(await heads.run(seen, () => s3.objectExists(name)))) return undefined;
  return {
    size: Number(seen.headers?.get('content-length') ?? 0),
    mimeType: seen.headers?.get('content-type') ?? 'application/octet-stream',
  };
}

/** What the keys of all versions of a file begin with. */
function prefixOf(key: ArtifactKey): string {
  const { app, user, folder, name } = storagePath(key);
  const prefix = `${appPrefix(app)}/${user}/${folder}/${name}/`;
  if (Buffer.byteLength(prefix) > maxKeyBytes - 16)
    throw invalidField('artifact', 'has names that are too long together');
  return prefix;
}

function appPrefix(app: string): string {
  const prefix = app.replaceAll(/^\/+|\/+$/g, '');
  if (prefix.split('/').some((segment) => ['', '.', '..'].includes(segment))) {
    throw invalidField('artifact.app', 'must be a name');
  }
  return prefix;
}

/** Headers are ASCII. */
function ascii(text: string): string {
  return text.replaceAll(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The library knows the entities that have names. */
function unescaped(text: string): string {
  return text.replaceAll(/&#(?:x([\da-f]{1,6})|(\d{1,7}));/gi, (entity, hex?: string, decimal?: string) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : entity;
  });
}

function statusOf(thrown: unknown): number | undefined {
  return (thrown as { status?: number } | undefined)?.status;
}

/** Lets those who want the same thing have it one after the other. */
class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(key: string, action: () => Promise<T>): Promise<T> {
    const mine = (this.#last.get(key) ?? Promise.resolve()).then(action);
    const settled = mine.catch(() => {});
    this.#last.set(key, settled);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    }
  }
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { S3mini } from 's3mini';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import { loadLibrary } from '../../protocol/optional/load-library.ts';
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
import { stripTrailing } from '../../primitives/text.ts';

/** Options of {@link s3ArtifactStore}. */
export interface S3ArtifactStoreOptions {
  /** URL of the service, such as `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  /** An existing bucket. */
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** @defaultValue `us-east-1` */
  readonly region?: string;
  /** Maximum size of a version, in bytes. @defaultValue 100 MiB */
  readonly maxBytes?: number;
  /** Size of the parts of a multipart upload; S3 requires at least 5 MiB. @defaultValue 5 MiB */
  readonly partBytes?: number;
  /** Directory for large files before their upload. @defaultValue the system's temporary directory */
  readonly spoolFolder?: string;
  /**
   * Whether the service supports conditional writes (`If-None-Match: *`). Without them only one process may write.
   * @defaultValue probed once
   */
  readonly conditionalWrites?: boolean;
  readonly fetch?: typeof fetch;
  readonly log?: LogSink;
}

/** Maximum number of version conflicts of one save. */
const maxAttempts = 1000;

/** Limit of S3. */
const maxKeyBytes = 1024;

/** Captures response headers, which the library does not expose. */
const headerCapture = new AsyncLocalStorage<{ headers?: Headers }>();

/** Stores files in a bucket of an S3-compatible service as `app/user/session/filename/version`. */
export function s3ArtifactStore(options: S3ArtifactStoreOptions): ArtifactStore {
  const { maxBytes = defaultMaxBytes, partBytes = 5 * 1024 * 1024, spoolFolder: folder, log } = options;
  const mutex = new KeyedMutex();
  let opening: Promise<S3mini> | undefined;
  let probing: Promise<boolean> | undefined;
  /** True if writes must not replace existing objects. */
  let isConditional = options.conditionalWrites ?? true;

  function client(): Promise<S3mini> {
    opening ??= openClient({
      ...options,
      fetch: withConditionalWrites(options.fetch ?? fetch, () => isConditional),
    });
    return opening;
  }

  /** Probes once whether the service supports conditional writes. */
  function supportsConditionalWrites(): Promise<boolean> {
    probing ??= (async () => {
      if (options.conditionalWrites !== undefined) return options.conditionalWrites;
      isConditional = await rejectsSecondWrite(await client());
      if (!isConditional) {
        const message = `Bucket ${options.bucket} does not support conditional writes: only one process may write to it`;
        log?.({ level: 'warn', message });
      }
      return isConditional;
    })();
    probing.catch(() => {
      probing = undefined;
    });
    return probing;
  }

  async function withSpool<T>(content: ArtifactContent, action: (spool: Spool) => Promise<T>): Promise<T> {
    const spool = new Spool({ maxBytes, maxMemory: partBytes, ...(folder !== undefined && { folder }) });
    try {
      for await (const chunk of readChunks(content, maxBytes)) await spool.write(chunk);
      return await action(spool);
    } finally {
      await spool.close();
    }
  }

  /** Writes an object, large ones as multipart upload. @returns false if it exists */
  async function publish(spool: Spool, key: ArtifactKey, name: string, mimeType: string): Promise<boolean> {
    const s3 = await client();
    if (!(await supportsConditionalWrites()) && (await s3.objectExists(name))) return false;
    const labels = {
      'x-amz-meta-original_filename': escapeNonAscii(key.filename),
      'x-amz-meta-user_id': escapeNonAscii(key.user),
      'x-amz-meta-session_id': escapeNonAscii(key.session),
    } as const;
    try {
      if (spool.size <= partBytes) {
        const bytes = await spool.read(0, new Uint8Array(spool.size));
        await s3.putObject(name, bytes, mimeType, undefined, labels);
      } else await putMultipart(s3, spool, name, mimeType, partBytes, labels);
      return true;
    } catch (thrown) {
      // 409: another client is writing the same object concurrently.
      if (errorStatus(thrown) === 412 || errorStatus(thrown) === 409) return false;
      throw thrown;
    }
  }

  async function completeVersions(prefix: string): Promise<number[]> {
    const versions: number[] = [];
    const depth = prefix.split('/').length;
    for (const name of await listKeys(prefix)) {
      const segments = name.split('/');
      const last = segments.at(-1) ?? '';
      if (segments.length === depth && /^\d+$/.test(last)) versions.push(Number(last));
    }
    return versions.sort((a, b) => a - b);
  }

  async function listKeys(prefix: string): Promise<string[]> {
    const objects = await (await client()).listObjects('/', prefix);
    if (!objects) throw new Error(`bucket not found: ${options.bucket}`);
    return objects.map(({ Key }) => Key);
  }

  async function listNames(prefix: string): Promise<string[]> {
    const names = new Set<string>();
    const depth = prefix.split('/').length + 1;
    for (const key of await listKeys(prefix)) {
      const segments = key.split('/');
      const name = segments.at(-2);
      if (segments.length === depth && name && /^\d+$/.test(segments.at(-1) ?? ''))
        names.add(decodeEntities(name));
    }
    return [...names];
  }

  return {
    save: (key, content, mimeType) =>
      wrapStorageErrors(() => {
        const prefix = keyPrefix(key);
        return withSpool(content, async (spool) => {
          const version = await mutex.run(prefix, async () => {
            for (let attempt = 0, number = 0; attempt < maxAttempts; attempt++, number++) {
              number = Math.max(number, ((await completeVersions(prefix)).at(-1) ?? -1) + 1);
              if (await publish(spool, key, `${prefix}${number}`, mimeType)) return number;
            }
            throw new A2AError('CONFLICT', 'Too many concurrent saves of the same file');
          });
          return { version, size: spool.size };
        });
      }),
    saveAs: (key, version, content, mimeType) =>
      wrapStorageErrors(() => {
        checkVersion(version);
        const prefix = keyPrefix(key);
        return withSpool(content, (spool) =>
          mutex.run(prefix, () => publish(spool, key, `${prefix}${version}`, mimeType)),
        );
      }),
    load: (key, requested) =>
      wrapStorageErrors(async () => {
        const prefix = keyPrefix(key);
        const version = requested ?? (await completeVersions(prefix)).at(-1);
        return version === undefined
          ? undefined
          : await loadVersion(await client(), `${prefix}${version}`, version);
      }),
    versions: (key) => wrapStorageErrors(async () => await completeVersions(keyPrefix(key))),
    list: (scope) =>
      wrapStorageErrors(async () => {
        const { app, user, session, shared } = userFolders(scope);
        const folders = `${appPrefix(app)}/${user}/`;
        const userFiles = await listNames(`${folders}${shared}/`);
        const own = await listNames(`${folders}${session}/`);
        return [...own, ...userFiles.map((name) => sharedPrefix + name)].sort();
      }),
    delete: (key) =>
      wrapStorageErrors(async () => {
        const prefix = keyPrefix(key);
        const s3 = await client();
        // Deletes the newest version last, so that its number is not reused meanwhile.
        for (const version of await completeVersions(prefix)) {
          if (!(await s3.deleteObject(`${prefix}${version}`)))
            throw new Error(`${prefix}${version} was not deleted`);
        }
      }),
  };
}

async function openClient(
  options: S3ArtifactStoreOptions & Required<Pick<S3ArtifactStoreOptions, 'fetch'>>,
): Promise<S3mini> {
  const { endpoint, bucket, accessKeyId, secretAccessKey, region = 'us-east-1', fetch } = options;
  const library = await loadLibrary('The S3 artifact store', 's3mini', () => import('s3mini'));
  const address = `${stripTrailing(endpoint, '/')}/${bucket}`;
  return new library.S3mini({ endpoint: address, accessKeyId, secretAccessKey, region, fetch });
}

/**
 * Adds what the library does not support: conditional writes, and parts sent as streams, because `fetch` copies other
 * bodies.
 */
function withConditionalWrites(send: typeof fetch, isConditional: () => boolean): typeof fetch {
  return async (input, init = {}) => {
    const { searchParams } = new URL(input instanceof Request ? input.url : input);
    const isPart = searchParams.has('partNumber');
    const isWrite =
      (init.method === 'PUT' && !isPart) || (init.method === 'POST' && searchParams.has('uploadId'));
    const headers = new Headers(init.headers);
    if (isWrite && isConditional()) headers.set('if-none-match', '*');
    const { body } = init;
    if (!isPart || !(body instanceof Uint8Array)) {
      // `fetch` sets the content length itself. Newer undici versions reject a second one, also for the global `fetch` of
      // Node 20 if undici was loaded first.
      if (!(body instanceof ReadableStream)) headers.delete('content-length');
      const response = await send(input, { ...init, headers });
      const captured = headerCapture.getStore();
      if (captured) captured.headers = response.headers;
      return response;
    }
    headers.set('content-length', String(body.byteLength));
    // `fetch` requires `duplex` for streams, but the types do not declare it.
    const streamed: RequestInit & { duplex: 'half' } = {
      ...init,
      headers,
      body: toStream(body),
      duplex: 'half',
    };
    return await send(input, streamed);
  };
}

function toStream(bytes: Uint8Array): ReadableStream<Uint8Array> {
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

async function rejectsSecondWrite(s3: S3mini): Promise<boolean> {
  const name = `.dragoman-probe/${randomUUID()}`;
  try {
    await s3.putObject(name, 'x');
    await s3.putObject(name, 'y');
    return false;
  } catch (thrown) {
    if (errorStatus(thrown) === 412) return true;
    // Some services reject the header as not implemented.
    if (errorStatus(thrown) === 501) return false;
    throw thrown;
  } finally {
    await s3.deleteObject(name).catch(() => false);
  }
}

async function putMultipart(
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
    // One buffer for all parts: each is sent before the next one is read.
    const buffer = new Uint8Array(partBytes);
    for (let at = 0; at < spool.size; at += partBytes) {
      parts.push(await s3.uploadPart(name, upload, await spool.read(at, buffer), parts.length + 1));
    }
    const result = await s3.completeMultipartUpload(name, upload, parts);
    // S3 may report an error in the body of a 200 response.
    if (!result.etag) throw new Error(`multipart upload of ${name} failed`);
  } catch (thrown) {
    await s3.abortMultipartUpload(name, upload).catch(() => {});
    throw thrown;
  }
}

async function loadVersion(s3: S3mini, name: string, version: number): Promise<StoredArtifact | undefined> {
  const facts = await readFacts(s3, name);
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
        if (body) for await (const chunk of body) yield chunk as Uint8Array;
      } catch (thrown) {
        throw storageError(thrown);
      }
    },
  };
}

async function readFacts(s3: S3mini, name: string): Promise<{ size: number; mimeType: string } | undefined> {
  const captured: { headers?: Headers } = {};
  if (!(await headerCapture.run(captured, () => s3.objectExists(name)))) return undefined;
  return {
    size: Number(captured.headers?.get('content-length') ?? 0),
    mimeType: captured.headers?.get('content-type') ?? 'application/octet-stream',
  };
}

/** Returns the key prefix of all versions of a file. */
function keyPrefix(key: ArtifactKey): string {
  const { app, user, folder, name } = storagePath(key);
  const prefix = `${appPrefix(app)}/${user}/${folder}/${name}/`;
  if (Buffer.byteLength(prefix) > maxKeyBytes - 16)
    throw invalidField('artifact', `must have a key of at most ${maxKeyBytes} bytes`);
  return prefix;
}

function appPrefix(app: string): string {
  const prefix = stripTrailing(app.replace(/^\/+/, ''), '/');
  if (prefix.split('/').some((segment) => ['', '.', '..'].includes(segment)))
    throw invalidField('artifact.app', 'must not contain empty or relative path segments');
  return prefix;
}

/** Escapes non-ASCII characters, which headers must not contain. */
function escapeNonAscii(text: string): string {
  return text.replaceAll(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Decodes numeric XML entities; the library decodes only named ones. */
function decodeEntities(text: string): string {
  return text.replaceAll(/&#(?:x([\da-f]{1,6})|(\d{1,7}));/gi, (entity, hex?: string, decimal?: string) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : entity;
  });
}

function errorStatus(thrown: unknown): number | undefined {
  return (thrown as { status?: number } | undefined)?.status;
}

/** Serializes actions with the same key. */
class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(key: string, action: () => Promise<T>): Promise<T> {
    const current = (this.#last.get(key) ?? Promise.resolve()).then(action);
    const settled = current.catch(() => {});
    this.#last.set(key, settled);
    try {
      return await current;
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    }
  }
}

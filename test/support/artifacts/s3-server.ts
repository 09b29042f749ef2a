import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A running S3 service. */
export interface S3Server {
  readonly endpoint: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The received requests, such as `PUT /bucket/key`. */
  readonly requests: string[];
  close(): Promise<void>;
}

/** The part of `s3rver` that is used here; the package has no types. */
interface Service {
  configureBuckets(): Promise<unknown>;
  callback(): (request: IncomingMessage, response: ServerResponse) => unknown;
  store: { existsObject(bucket: string, key: string): Promise<boolean> };
}

/**
 * Starts an S3 service on a free loopback port.
 *
 * @param isConditional - whether writes support `If-None-Match: *`. `s3rver` does not, so it is implemented here.
 */
export async function startS3({ isConditional = true } = {}): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'dragoman-s3-'));
  const bucket = 'artifacts';
  // @ts-expect-error -- the package has no types
  const { default: S3rver } = (await import('s3rver')) as { default: new (options: object) => Service };
  const service = new S3rver({ directory, silent: true, configureBuckets: [{ name: bucket }] });
  await service.configureBuckets();
  const handle = service.callback();
  const requests: string[] = [];
  /** Serializes all requests except reads of objects. */
  let last: Promise<unknown> = Promise.resolve();
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const ended = new Promise((resolve) => response.on('close', resolve));
    const serve = async (): Promise<void> => {
      if (request.method === 'PUT' && request.headers['content-length'] === undefined) {
        request.resume();
        response.writeHead(411).end();
        return;
      }
      if (isConditional && request.headers['if-none-match'] === '*') {
        const key = decodeURIComponent(request.url?.split('?')[0]?.slice(bucket.length + 2) ?? '');
        if (await service.store.existsObject(bucket, key)) {
          request.resume();
          response.writeHead(412, { 'content-type': 'application/xml' });
          response.end('<Error><Code>PreconditionFailed</Code><Message>The object exists</Message></Error>');
          return;
        }
        // s3rver supports this header for reads only.
        delete request.headers['if-none-match'];
      }
      await handle(request, response);
    };
    // s3rver exposes half-written objects, so listings wait for writes. Reads are not serialized: clients may read slowly.
    const isRead =
      request.method === 'HEAD' || (request.method === 'GET' && !request.url?.includes('list-type'));
    if (isRead) void serve();
    else last = last.then(serve).then(() => ended);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    accessKeyId: 'S3RVER',
    secretAccessKey: 'S3RVER',
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

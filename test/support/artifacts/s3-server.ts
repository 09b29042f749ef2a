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
  /** What was asked for, as `PUT /bucket/key`. */
  readonly requests: string[];
  close(): Promise<void>;
}

/** As much of `s3rver` as is used; it has no types. */
interface Service {
  configureBuckets(): Promise<unknown>;
  callback(): (request: IncomingMessage, response: ServerResponse) => unknown;
  store: { existsObject(bucket: string, key: string): Promise<boolean> };
}

/**
 * Starts a real S3 service on a free port of this machine.
 *
 * @param isConditional - whether it knows `If-None-Match: *` for writes, as newer services do; `s3rver` is older, so that
 * this stands before it
 */
export async function startS3({ isConditional = true } = {}): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'dragoman-s3-'));
  const bucket = 'artifacts';
  // @ts-expect-error -- it has no types
  const { default: S3rver } = (await import('s3rver')) as { default: new (options: object) => Service };
  const service = new S3rver({ directory, silent: true, configureBuckets: [{ name: bucket }] });
  await service.configureBuckets();
  const answer = service.callback();
  const requests: string[] = [];
  /** What is done one after the other. */
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
          response.end('<Error><Code>PreconditionFailed</Code><Message>It is there</Message></Error>');
          return;
        }
        // Only reads have such a header in the service itself.
        delete request.headers['if-none-match'];
      }
      await answer(request, response);
    };
    // The service shows objects that are half written; contents of objects are read as slowly as anybody likes.
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

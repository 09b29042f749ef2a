import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { LogSink } from '../../../primitives/log.ts';
import { readBody } from '../../../primitives/node/read-body.ts';

interface FetchListenerOptions {
  readonly maxBodyBytes: number;
  readonly log: LogSink | undefined;
}

/** Handles a web request; `body` is its text. */
type FetchHandler = (request: Request, body: string) => Promise<Response>;

/** Converts a fetch handler to a `node:http` listener. A disconnect of the client aborts the request. */
export function fetchListener(
  handler: FetchHandler,
  { maxBodyBytes, log }: FetchListenerOptions,
): RequestListener {
  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const disconnected = new AbortController();
    outgoing.on('close', () => {
      if (!outgoing.writableFinished) disconnected.abort();
    });
    const body = await readText(incoming, maxBodyBytes);
    if (body === undefined) {
      outgoing.writeHead(413, { connection: 'close' }).end();
      return;
    }
    const { method = 'GET', headers, url = '/' } = incoming;
    const entries = Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((each): [string, string] => [name, each]),
    );
    const request = new Request(new URL(url, 'http://localhost'), {
      method,
      headers: entries,
      signal: disconnected.signal,
      ...(method !== 'GET' && method !== 'HEAD' && { body }),
    });
    const response = await handler(request, body);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    // Clients wait for the head of a stream, which may have no events yet.
    outgoing.flushHeaders();
    if (response.body) await pipeline(Readable.fromWeb(response.body), outgoing);
    else outgoing.end();
  }
  return (incoming, outgoing) => {
    handle(incoming, outgoing).catch((error: unknown) => {
      if (outgoing.destroyed) return;
      log?.({ level: 'error', message: 'MCP over HTTP', error });
      if (!outgoing.headersSent) outgoing.writeHead(500);
      outgoing.end();
    });
  };
}

/** @returns undefined if the body is too large */
async function readText(incoming: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  try {
    return (await readBody(incoming, maxBytes)).toString('utf8');
  } catch (thrown) {
    if (thrown instanceof RangeError) return undefined;
    throw thrown;
  }
}

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { LogSink } from '../../../primitives/log.ts';

/** How requests are taken in. */
interface NodeFetchOptions {
  readonly maxBodyBytes: number;
  readonly log: LogSink | undefined;
}

/** Answers a request of the web; the text of its body is there as well. */
type Answer = (request: Request, body: string) => Promise<Response>;

/** Makes a listener for `node:http` of a function of the web. A client that leaves aborts its request. */
export function fetchListener(answer: Answer, { maxBodyBytes, log }: NodeFetchOptions): RequestListener {
  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const left = new AbortController();
    outgoing.on('close', () => {
      if (!outgoing.writableFinished) left.abort();
    });
    const body = await bodyOf(incoming, maxBodyBytes);
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
      signal: left.signal,
      ...(method !== 'GET' && method !== 'HEAD' && { body }),
    });
    const response = await answer(request, body);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    // A client waits for the head of a stream before there is anything to tell.
    outgoing.flushHeaders();
    if (response.body) await pour(response.body, outgoing);
    outgoing.end();
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

/** Reads the body. @returns undefined when it is too large. */
async function bodyOf(incoming: IncomingMessage, max: number): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > max) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Sends a stream, as fast as it is read. */
async function pour(stream: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const reader = stream.getReader();
  const leave = (): void => void reader.cancel().catch(() => {});
  outgoing.on('close', leave);
  for (;;) {
    const { done, value } = await reader.read();
    if (done || outgoing.destroyed) return;
    if (outgoing.write(value)) continue;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        outgoing.off('drain', go).off('close', go);
        resolve();
      };
      outgoing.on('drain', go).on('close', go);
    });
  }
}

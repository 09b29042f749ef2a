import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received HTTP request. */
export interface RawServerRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  text: string;
  /** The parsed body; undefined if it is not JSON. */
  json: any;
}

/** An HTTP server whose responses are written by the test. */
export interface RawServer extends AsyncDisposable {
  url: string;
  requests: RawServerRequest[];
  close(): Promise<void>;
}

/** Starts a server on a free loopback port. */
export async function startRawServer(
  respond: (request: RawServerRequest, response: ServerResponse, url: string) => unknown,
): Promise<RawServer> {
  const requests: RawServerRequest[] = [];
  let url = '';
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      let json: unknown;
      try {
        json = JSON.parse(text);
      } catch {
        json = undefined;
      }
      const { method = '', url: path = '', headers } = incoming;
      const request = { method, path, headers, text, json };
      requests.push(request);
      respond(request, response, url);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url, requests, close, [Symbol.asyncDispose]: close };
}

export function respondJson(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Starts an SSE response. */
export function startEventStream(response: ServerResponse): {
  event(data: unknown, id?: string | number): void;
  write(text: string): void;
  end(): void;
  reset(): void;
} {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  return {
    event: (data, id) =>
      response.write(`${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`),
    write: (text) => response.write(text),
    end: () => response.end(),
    // Destroys the connection only after the pending data has been written.
    reset: () => response.write(':\n\n', () => response.destroy()),
  };
}

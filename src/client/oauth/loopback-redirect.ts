import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { canceledError } from '../../protocol/errors.ts';
import { LoginError } from './oauth-request.ts';

const path = '/callback';

/** Receives the redirect of an authorization server on a free port of the loopback address (RFC 8252, section 7.3). */
export interface LoopbackRedirect {
  readonly url: string;
  /**
   * Waits for the redirect with this state. Others are rejected, and the first one ends the server.
   *
   * @throws LoginError after the time limit
   */
  receive(
    state: string,
    limits: { timeout: number; signal?: AbortSignal | undefined },
  ): Promise<URLSearchParams>;
  close(): Promise<void>;
}

/** Starts to listen for a redirect. */
export async function listenForRedirect(): Promise<LoopbackRedirect> {
  let take: ((query: URLSearchParams) => boolean) | undefined;
  const server = createServer({ maxHeaderSize: 16_384, requestTimeout: 10_000 }, (request, response) => {
    const host = `127.0.0.1:${(server.address() as AddressInfo | null)?.port}`;
    const query = readQuery(request, host);
    if (query && take?.(query)) {
      const title = query.has('error') ? 'The login failed' : 'You are logged in';
      respond(response, 200, title, 'Close this window and return to Dragoman.');
    } else respond(response, 400, 'No login waits for this page', 'Start the login again.');
  });
  server.maxConnections = 16;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = async (): Promise<void> => {
    server.closeIdleConnections();
    server.close();
    // The browser gets its page first.
    setTimeout(() => server.closeAllConnections(), 500).unref();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    close,
    receive: (state, { timeout, signal }) =>
      new Promise((resolve, reject) => {
        const end = (work: () => void): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          take = undefined;
          work();
        };
        const onAbort = (): void => end(() => reject(canceledError(signal?.reason)));
        const timer = setTimeout(
          () => end(() => reject(new LoginError('The login was not finished in time', 'Log in again.'))),
          timeout,
        );
        signal?.addEventListener('abort', onAbort);
        if (signal?.aborted) onAbort();
        else
          take = (query) => {
            if (!isEqual(query.get('state') ?? '', state)) return false;
            end(() => resolve(query));
            return true;
          };
      }),
  };
}

/** Returns the parameters of a redirect; undefined for any other request. */
function readQuery(
  { method, url = '', headers }: IncomingMessage,
  host: string,
): URLSearchParams | undefined {
  // Another host name is a sign of DNS rebinding.
  if (method !== 'GET' || headers.host !== host) return undefined;
  const [requested, query = ''] = url.split('?', 2);
  return requested === path ? new URLSearchParams(query) : undefined;
}

/** Nothing of the request appears in the page. */
function respond(response: ServerResponse, status: number, title: string, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  });
  response.end(
    `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>`,
  );
}

function isEqual(one: string, other: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(one), hash(other));
}

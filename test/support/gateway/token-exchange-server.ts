import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Closable } from '../close-after-each.ts';

/** A response of a token endpoint. */
interface TokenResponse {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A token endpoint for token exchange (RFC 8693), and the requests that it received. */
export interface TokenExchangeServer {
  readonly url: string;
  /** Forms of all requests. */
  readonly forms: URLSearchParams[];
  /** Returns the subject of a token that the server issued and did not revoke. */
  subjectOf: (token: string) => string | undefined;
  /** Stops the server. */
  close: () => Promise<void>;
  /** Replaces the response to all further requests; undefined restores it. */
  respondWith: (response: TokenResponse | undefined) => void;
  /** Makes all tokens that were issued invalid. */
  revokeAll: () => void;
}

const tokenType = 'urn:ietf:params:oauth:token-type:access_token';

/** Starts a token endpoint. It knows the client `gateway` with the secret `gateway-secret`. */
export async function startTokenExchange(
  subjects: Readonly<Record<string, string>>,
  open: Closable[],
): Promise<TokenExchangeServer> {
  const forms: URLSearchParams[] = [];
  let replaced: TokenResponse | undefined;
  const issued = new Map<string, string>();
  const answer = (form: URLSearchParams): [number, object] => {
    if (form.get('client_id') !== 'gateway' || form.get('client_secret') !== 'gateway-secret')
      return [401, { error: 'invalid_client' }];
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:token-exchange')
      return [400, { error: 'unsupported_grant_type' }];
    if (form.get('subject_token_type') !== tokenType) return [400, { error: 'invalid_request' }];
    if (form.has('actor_token') !== form.has('actor_token_type')) return [400, { error: 'invalid_request' }];
    if (form.get('audience') !== 'weather') return [400, { error: 'invalid_target' }];
    const subject = subjects[form.get('subject_token') ?? ''];
    if (subject === undefined) return [400, { error: 'invalid_grant', error_description: 'secret reason' }];
    const token = `exchanged-${crypto.randomUUID()}`;
    issued.set(token, subject);
    return [
      200,
      { access_token: token, issued_token_type: tokenType, token_type: 'Bearer', expires_in: 120 },
    ];
  };
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const form = new URLSearchParams(body);
      forms.push(form);
      const [status, json] = replaced ? [replaced.status, replaced.body] : answer(form);
      response.writeHead(status, {
        'content-type': 'application/json',
        'cache-control': 'no-store',
        ...replaced?.headers,
      });
      response.end(JSON.stringify(json));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  open.push({ close });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    forms,
    subjectOf: (token) => issued.get(token),
    close,
    respondWith: (response) => (replaced = response),
    revokeAll: () => issued.clear(),
  };
}

import { createHash, timingSafeEqual } from 'node:crypto';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { PushAuthentication } from '../../protocol/push.ts';
import type { Task } from '../../protocol/task.ts';
import { type FetchJwks, type ResolveJwk, jwksResolver } from './jwks-resolver.ts';
import { deliveryIdHeader, tokenHeader } from '../sending/notification.ts';
import { readNotification } from './read-notification.ts';
import { stripQuery, type JsonWebKeySet } from '../sending/signer.ts';

/** What a webhook knows of those who may speak to it. At least one of the first three is needed, or `anybody`. */
export interface PushReceiverOptions {
  /** The token that was registered, or several while they change. */
  token?: string | readonly string[];
  /** The credentials that were registered. */
  authentication?: Required<PushAuthentication>;
  /** The public keys of the sender, or the https address that shows them, such as `…/.well-known/jwks.json`. */
  keys?: JsonWebKeySet | string;
  /** Takes notifications from anybody. For development. */
  allowUnauthenticated?: boolean;
  /** The address that was registered. A signature for another one is then refused. */
  url?: string;
  /** How old a signature may be, in milliseconds. @defaultValue 5 minutes */
  maxAge?: number;
  /** How many deliveries are remembered, to tell when one comes again. @defaultValue 10,000 */
  maxRemembered?: number;
  /** Fetches the keys. @defaultValue `fetch`, without following redirects */
  fetch?: FetchJwks;
  /** @defaultValue `Date.now` */
  now?: () => number;
}

/** A notification that was let in. */
export interface ReceivedNotification {
  readonly ok: true;
  readonly event: StreamEvent;
  /** The task, where the notification carries all of it. */
  readonly task: Task | undefined;
  readonly version: ProtocolVersion;
  /** The name of the delivery, if the sender gives one. */
  readonly id: string | undefined;
  /** True when it came before. It is to be answered like the first, and not to be acted on. */
  readonly isDuplicate: boolean;
}

/** A notification that was not let in, and the HTTP status to answer with. */
export interface RejectedNotification {
  readonly ok: false;
  readonly status: number;
  readonly reason: string;
}

/** A request as any framework has it. The body must be as it came, not parsed and printed again. */
export interface WebhookRequest {
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  body: string | Uint8Array;
}

/** Lets notifications in that are real. */
export interface PushReceiver {
  /** Checks a notification and reads it, whichever version it is in. Never rejects. */
  readonly receive: (incoming: WebhookRequest) => Promise<ReceivedNotification | RejectedNotification>;
  /** Forgets a delivery that could not be handled, so that it is no duplicate when it comes again. */
  readonly forget: (id: string | undefined) => void;
}

const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/**
 * Makes the receiving end of push notifications, for any web server.
 *
 * @throws {@link A2AError} `INVALID_PARAMS` when it could not tell friend from stranger.
 */
export function pushReceiver(options: PushReceiverOptions): PushReceiver {
  const { token, authentication, keys, now = Date.now, maxRemembered = 10_000 } = options;
  const tokens = token === undefined ? undefined : typeof token === 'string' ? [token] : token;
  if (!tokens && !authentication && !keys && !options.allowUnauthenticated)
    throw invalidField('options', 'must have a token, authentication or keys, or say anybody');
  if (authentication && keys)
    throw invalidField('keys', 'cannot go with authentication: there is one header');
  if (tokens && (tokens.length === 0 || tokens.includes('')))
    throw invalidField('token', 'must not be empty');
  const fetchKeys: FetchJwks = options.fetch ?? ((url) => fetch(url, { redirect: 'error' }));
  const findKey = keys === undefined ? undefined : jwksResolver(keys, fetchKeys, now);
  const seen = new Set<string>();

  async function check(incoming: WebhookRequest): Promise<string | undefined> {
    const header = (name: string): string | undefined => headerOf(incoming, name);
    const named = header(deliveryIdHeader);
    if (tokens && !tokens.some((each) => isSame(each, header(tokenHeader) ?? ''))) throw refuse('token');
    const authorization = header('authorization') ?? '';
    if (authentication) checkCredentials(authentication, authorization);
    if (!findKey) return named;
    const signed = await checkSignature(authorization, incoming.body, findKey, options, now);
    // The header is anybody's to change; the signed name is not.
    if (named !== undefined && signed !== undefined && named !== signed) throw refuse('delivery id');
    return signed ?? named;
  }

  return {
    async receive(incoming) {
      try {
        const id = await check(incoming);
        const { event, version } = readNotification(textOf(incoming.body));
        const isDuplicate = id !== undefined && seen.delete(id);
        if (id !== undefined) seen.add(id);
        for (const oldest of seen) {
          if (seen.size <= maxRemembered) break;
          seen.delete(oldest);
        }
        const task = event.kind === 'task' ? event.task : undefined;
        return { ok: true, event, task, version, id, isDuplicate };
      } catch (thrown) {
        const { reason, message } = A2AError.from(thrown);
        const status = reason === 'UNAUTHENTICATED' ? 401 : reason === 'UNAVAILABLE' ? 503 : 400;
        return { ok: false, status, reason: message };
      }
    },
    forget(id) {
      if (id !== undefined) seen.delete(id);
    },
  };
}

async function checkSignature(
  authorization: string,
  body: string | Uint8Array,
  findKey: ResolveJwk,
  { maxAge = 300_000, url }: PushReceiverOptions,
  now: () => number,
): Promise<string | undefined> {
  const token = /^bearer +(\S+)$/i.exec(authorization)?.[1];
  if (token === undefined) throw refuse('signature');
  const { jwtVerify } = await import('jose');
  let claims: { jti?: unknown; htu?: unknown; aud?: unknown; request_body_sha256?: unknown };
  try {
    const { payload } = await jwtVerify(token, findKey, {
      algorithms,
      currentDate: new Date(now()),
      maxTokenAge: maxAge / 1_000,
      clockTolerance: 10,
      requiredClaims: ['iat', 'request_body_sha256'],
    });
    claims = payload;
  } catch (thrown) {
    if (thrown instanceof A2AError) throw thrown;
    throw refuse('signature', thrown);
  }
  const digest = createHash('sha256').update(body).digest('hex');
  if (!isSame(digest, String(claims.request_body_sha256).toLowerCase())) throw refuse('body');
  if (url !== undefined) checkAddress(url, claims);
  return typeof claims.jti === 'string' ? claims.jti : undefined;
}

function checkAddress(url: string, { htu, aud }: { htu?: unknown; aud?: unknown }): void {
  const here = stripQuery(url);
  const named = [htu, ...(Array.isArray(aud) ? (aud as unknown[]) : [aud])].filter(
    (each) => each !== undefined,
  );
  const isMeant = named.some(
    (each) => typeof each === 'string' && URL.canParse(each) && stripQuery(each) === here,
  );
  if (!isMeant) throw refuse('address');
}

function checkCredentials(
  { scheme, credentials }: Required<PushAuthentication>,
  authorization: string,
): void {
  const [, said = '', secret = ''] = /^(\S+) +(.*)$/.exec(authorization) ?? [];
  const isRight = isSame(credentials, secret);
  if (said.toLowerCase() !== scheme.toLowerCase() || !isRight) throw refuse('credentials');
}

function refuse(what: string, cause?: unknown): A2AError {
  return new A2AError('UNAUTHENTICATED', `The ${what} of this notification is not right`, { cause });
}

/** Compares in a time that does not depend on where they differ, or on their lengths. */
function isSame(expected: string, given: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(expected), digest(given));
}

function headerOf({ headers }: WebhookRequest, wanted: string): string | undefined {
  let value = headers[wanted];
  if (value === undefined) {
    const name = Object.keys(headers).find((each) => each.toLowerCase() === wanted);
    if (name !== undefined) value = headers[name];
  }
  return typeof value === 'string' ? value : value?.join(', ');
}

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body);
}

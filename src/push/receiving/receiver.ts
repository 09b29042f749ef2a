import { createHash } from 'node:crypto';
import { LruSet } from '../../primitives/lru-map.ts';
import { constantTimeEqual } from '../../primitives/node/constant-time-equal.ts';
import type { JsonWebKeySet } from '../../primitives/web/jwks.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { PushAuthentication } from '../../protocol/push.ts';
import type { Task } from '../../protocol/task.ts';
import { type FetchJwks, type ResolveJwk, jwksResolver } from './jwks-resolver.ts';
import { deliveryIdHeader, tokenHeader } from '../sending/notification.ts';
import { readNotification } from './read-notification.ts';
import { stripQuery } from '../sending/signer.ts';
import { isUrl } from '../../primitives/web/parse-url.ts';

/** Options of {@link pushReceiver}. One of `token`, `authentication`, `keys` or `allowUnauthenticated` is required. */
export interface PushReceiverOptions {
  /** Registered token, or several during rotation. */
  token?: string | readonly string[];
  /** Registered credentials. */
  authentication?: Required<PushAuthentication>;
  /** JWKS of the sender, or its https URL, such as `…/.well-known/jwks.json`. */
  keys?: JsonWebKeySet | string;
  /** Accepts notifications without authentication. Only for development. */
  allowUnauthenticated?: boolean;
  /** Registered URL. If set, signatures for other URLs are rejected. */
  url?: string;
  /** Maximum age of a signature, in milliseconds. @defaultValue 5 minutes */
  maxAge?: number;
  /** Number of delivery ids that are remembered to detect duplicates. @defaultValue 10,000 */
  maxRemembered?: number;
  /** Fetches the JWKS. @defaultValue `fetch` without redirects */
  fetch?: FetchJwks;
  /** @defaultValue `Date.now` */
  now?: () => number;
}

/** A verified notification. */
export interface ReceivedNotification {
  readonly ok: true;
  readonly event: StreamEvent;
  /** The task, if the notification contains the whole task. */
  readonly task: Task | undefined;
  readonly version: ProtocolVersion;
  /** Delivery id, if the sender provides one. */
  readonly id: string | undefined;
  /** True for a redelivery: respond as to the first one, but do not process it again. */
  readonly isDuplicate: boolean;
}

/** A rejected notification with the HTTP status of the response. */
export interface RejectedNotification {
  readonly ok: false;
  readonly status: number;
  readonly reason: string;
}

/** A request of any web framework. The body must be the original bytes, not re-serialized JSON. */
export interface WebhookRequest {
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  body: string | Uint8Array;
}

/** Verifies and parses notifications. */
export interface PushReceiver {
  /** True if notifications must be authenticated. */
  readonly requiresAuthentication: boolean;
  /** Verifies and parses a notification of any version. Never rejects. */
  readonly receive: (request: WebhookRequest) => Promise<ReceivedNotification | RejectedNotification>;
  /** Removes a delivery id after a processing error, so that the redelivery is not treated as a duplicate. */
  readonly forget: (id: string | undefined) => void;
}

const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/**
 * Creates a receiver of push notifications for any web server.
 *
 * @throws {@link A2AError} `INVALID_PARAMS` if the options allow no authentication.
 */
export function pushReceiver(options: PushReceiverOptions): PushReceiver {
  const { token, authentication, keys, now = Date.now, maxRemembered = 10_000 } = options;
  const tokens = token === undefined ? undefined : typeof token === 'string' ? [token] : token;
  if (!tokens && !authentication && !keys && !options.allowUnauthenticated)
    throw invalidField('options', 'must set token, authentication, keys or allowUnauthenticated');
  if (authentication && keys) throw invalidField('keys', 'must not be combined with authentication');
  if (tokens && (tokens.length === 0 || tokens.includes('')))
    throw invalidField('token', 'must not be empty');
  const fetchKeys: FetchJwks = options.fetch ?? ((url) => fetch(url, { redirect: 'error' }));
  const resolveKey = keys === undefined ? undefined : jwksResolver(keys, fetchKeys, now);
  const deliveryIds = new LruSet<string>({ maxEntries: maxRemembered });

  async function check(request: WebhookRequest): Promise<string | undefined> {
    const header = (name: string): string | undefined => getHeader(request, name);
    const headerId = header(deliveryIdHeader);
    if (tokens && !tokens.some((each) => constantTimeEqual(each, header(tokenHeader) ?? '')))
      throw unauthenticated('token');
    const authorization = header('authorization') ?? '';
    if (authentication) checkCredentials(authentication, authorization);
    if (!resolveKey) return headerId;
    const signedId = await checkSignature(authorization, request.body, resolveKey, options, now);
    // The header is not signed; the id in the token is.
    if (headerId !== undefined && signedId !== undefined && headerId !== signedId)
      throw unauthenticated('delivery id');
    return signedId ?? headerId;
  }

  return {
    requiresAuthentication: tokens !== undefined || authentication !== undefined || keys !== undefined,
    async receive(request) {
      try {
        const id = await check(request);
        const { event, version } = readNotification(decodeText(request.body));
        const isDuplicate = id !== undefined && deliveryIds.has(id);
        if (id !== undefined) deliveryIds.add(id);
        const task = event.kind === 'task' ? event.task : undefined;
        return { ok: true, event, task, version, id, isDuplicate };
      } catch (thrown) {
        const { reason, message } = A2AError.from(thrown);
        const status = reason === 'UNAUTHENTICATED' ? 401 : reason === 'UNAVAILABLE' ? 503 : 400;
        return { ok: false, status, reason: message };
      }
    },
    forget(id) {
      if (id !== undefined) deliveryIds.delete(id);
    },
  };
}

async function checkSignature(
  authorization: string,
  body: string | Uint8Array,
  resolveKey: ResolveJwk,
  { maxAge = 300_000, url }: PushReceiverOptions,
  now: () => number,
): Promise<string | undefined> {
  const token = /^bearer +(\S+)$/i.exec(authorization)?.[1];
  if (token === undefined) throw unauthenticated('signature');
  const { jwtVerify } = await import('jose');
  let claims: { jti?: unknown; htu?: unknown; aud?: unknown; request_body_sha256?: unknown };
  try {
    const { payload } = await jwtVerify(token, resolveKey, {
      algorithms,
      currentDate: new Date(now()),
      maxTokenAge: maxAge / 1_000,
      clockTolerance: 10,
      requiredClaims: ['iat', 'request_body_sha256'],
    });
    claims = payload;
  } catch (thrown) {
    if (thrown instanceof A2AError) throw thrown;
    throw unauthenticated('signature', thrown);
  }
  const digest = createHash('sha256').update(body).digest('hex');
  if (!constantTimeEqual(digest, String(claims.request_body_sha256).toLowerCase()))
    throw unauthenticated('body');
  if (url !== undefined) checkUrl(url, claims);
  return typeof claims.jti === 'string' ? claims.jti : undefined;
}

function checkUrl(url: string, { htu, aud }: { htu?: unknown; aud?: unknown }): void {
  const expected = stripQuery(url);
  const targets = [htu, ...(Array.isArray(aud) ? (aud as unknown[]) : [aud])].filter(
    (each) => each !== undefined,
  );
  const isMatch = targets.some(
    (each) => typeof each === 'string' && isUrl(each) && stripQuery(each) === expected,
  );
  if (!isMatch) throw unauthenticated('URL');
}

function checkCredentials(
  { scheme, credentials }: Required<PushAuthentication>,
  authorization: string,
): void {
  const space = authorization.indexOf(' ');
  const presentedScheme = authorization.slice(0, Math.max(0, space));
  const secret = space < 0 ? '' : authorization.slice(space).trimStart();
  const isMatch = constantTimeEqual(credentials, secret);
  if (presentedScheme.toLowerCase() !== scheme.toLowerCase() || !isMatch)
    throw unauthenticated('credentials');
}

function unauthenticated(what: string, cause?: unknown): A2AError {
  return new A2AError('UNAUTHENTICATED', `Invalid ${what} in notification`, { cause });
}

function getHeader({ headers }: WebhookRequest, wanted: string): string | undefined {
  let value = headers[wanted];
  if (value === undefined) {
    const name = Object.keys(headers).find((each) => each.toLowerCase() === wanted);
    if (name !== undefined) value = headers[name];
  }
  return typeof value === 'string' ? value : value?.join(', ');
}

function decodeText(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body);
}

import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { A2AError } from '../../protocol/errors.ts';
import { invalidField } from '../../protocol/errors.ts';
import type { LogSink } from '../../primitives/log.ts';
import { apiKeyAuth } from '../../server/auth/schemes/api-key.ts';
import type { Authenticator, AuthOptions } from '../../server/auth/authenticator.ts';
import { bearerAuth } from '../../server/auth/schemes/bearer.ts';
import { jwtAuth } from '../../server/auth/schemes/jwt.ts';
import type { HttpServerRequest } from '../../server/http/http-message.ts';
import type { ServerOptions } from '../../server/server-options.ts';
import type { SigningKey } from '../../signing/algorithms.ts';
import { signCard } from '../../signing/sign-card.ts';
import type { GatewaySettings } from '../gateway-settings.ts';

/** Who listens to what happens at the faces of a gateway. */
export interface GatewayObservers {
  /** Gets one entry for each request. */
  requests?: LogSink | undefined;
  /** Hears of faults that are not the caller's. */
  fault?: ((error: A2AError, exchange: HttpServerRequest) => void) | undefined;
}

/** How agents are shown over HTTP, as a file says it. */
export function buildServerOptions(settings: GatewaySettings, listeners: GatewayObservers): ServerOptions {
  const { limits, auth, sign, publicUrl, trustForwarded, file } = settings;
  const perSecond = limits.requests_per_second;
  return {
    publicUrl,
    trustForwarded,
    maxBodyBytes: limits.body_bytes,
    maxStreams: limits.streams,
    limits: {
      ...(limits.streams_per_caller !== undefined && { streamsPerClient: limits.streams_per_caller }),
      ...(limits.requests_per_caller !== undefined && { requestsPerClient: limits.requests_per_caller }),
      ...(perSecond !== undefined && { rate: { perSecond } }),
    },
    auth: auth && authOf(auth),
    signCard: sign && signerOf(sign, file),
    log: listeners.requests,
    onError: listeners.fault,
  };
}

function authOf(given: NonNullable<GatewaySettings['auth']>): AuthOptions {
  const any: Authenticator[] = [];
  if (given.bearer) {
    const tokens = new Map(given.bearer.map(({ token, caller }) => [token, caller]));
    any.push(bearerAuth({ tokens }));
  }
  if (given.api_keys) {
    const keys = new Map(given.api_keys.keys.map(({ key, caller }) => [key, caller]));
    any.push(apiKeyAuth({ in: 'header', name: given.api_keys.header ?? 'X-API-Key', keys }));
  }
  if (given.jwt) {
    const { issuer, audience, jwks_url: jwks } = given.jwt;
    any.push(jwtAuth({ issuer, audience, jwks }));
  }
  if (any.length === 0) throw invalidField('auth', 'must have bearer, api_keys or jwt');
  return { authenticators: any, allowAnonymous: given.optional };
}

function signerOf(
  { key_file, kid, jku }: NonNullable<GatewaySettings['sign']>,
  file: string,
): ServerOptions['signCard'] {
  const key = readKey(resolve(dirname(file), key_file));
  // Upstreams write cards with empty values; a second signature is for those who read these otherwise.
  return (card) => signCard(card, { key, kid, jku, onDivergence: 'both' });
}

function readKey(file: string): SigningKey {
  try {
    const text = readFileSync(file, 'utf8');
    return text.trimStart().startsWith('{') ? (JSON.parse(text) as SigningKey) : createPrivateKey(text);
  } catch (thrown) {
    throw invalidField('sign.key_file', `cannot be read: ${(thrown as Error).message}`);
  }
}

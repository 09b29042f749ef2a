import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Principal } from '../../protocol/agent.ts';
import type { A2AError } from '../../protocol/errors.ts';
import { invalidField } from '../../protocol/errors.ts';
import type { LogSink } from '../../primitives/log.ts';
import { apiKeyAuth } from '../../server/auth/schemes/api-key.ts';
import type { Authenticator, AuthOptions } from '../../server/auth/authenticator.ts';
import { bearerAuth } from '../../server/auth/schemes/bearer.ts';
import { mutualTlsAuth } from '../../server/auth/schemes/mutual-tls.ts';
import { authenticatesClients } from './tls-files.ts';
import { jwtAuth } from '../../server/auth/schemes/jwt.ts';
import type { HttpServerRequest } from '../../server/http/http-message.ts';
import type { ServerLimits } from '../../server/limits/limits.ts';
import type { ServerOptions } from '../../server/server-options.ts';
import type { SigningKey } from '../../signing/algorithms.ts';
import { signCard } from '../../signing/sign-card.ts';
import type { GatewaySettings } from '../gateway-settings.ts';

/** Observers of the HTTP server of a gateway. */
export interface GatewayObservers {
  /** Receives one log entry per request. */
  requestLog?: LogSink | undefined;
  /** Called with internal errors. */
  onError?: ((error: A2AError, request: HttpServerRequest) => void) | undefined;
}

/** Builds the options of the HTTP server from the settings. */
export function buildServerOptions(settings: GatewaySettings, observers: GatewayObservers): ServerOptions {
  const { limits, sign, publicUrl, trustForwarded, trustProxy, allowedHosts, cors, file } = settings;
  const perSecond = limits.requests_per_second;
  return {
    publicUrl,
    trustForwarded,
    ...(trustProxy && { trustProxy }),
    ...(allowedHosts && { allowedHosts }),
    ...(cors && { cors }),
    maxBodyBytes: limits.body_bytes,
    maxStreams: limits.streams,
    limits: {
      ...(limits.streams_per_client !== undefined && { streamsPerClient: limits.streams_per_client }),
      ...(limits.requests_per_client !== undefined && { requestsPerClient: limits.requests_per_client }),
      ...(perSecond !== undefined && { rate: { perSecond } }),
      ...toByteLimits(limits),
    },
    auth: authenticatesClients(settings) ? buildAuth(settings) : undefined,
    signCard: sign && createCardSigner(sign, file),
    log: observers.requestLog,
    onError: observers.onError,
  };
}

/** Converts the limits that protect memory and credentials. */
function toByteLimits(limits: GatewaySettings['limits']): ServerLimits {
  const { address_requests_per_second: perAddress, failed_auth_per_second: failures } = limits;
  const { body_bytes_in_transit, output_bytes, output_bytes_per_client, page_bytes } = limits;
  return {
    ...(perAddress !== undefined && { addressRate: { perSecond: perAddress } }),
    ...(failures !== undefined && { failedAuthRate: { perSecond: failures } }),
    ...(body_bytes_in_transit !== undefined && { bodyBytes: body_bytes_in_transit }),
    ...(output_bytes !== undefined && { outputBytes: output_bytes }),
    ...(output_bytes_per_client !== undefined && { outputBytesPerClient: output_bytes_per_client }),
    ...(page_bytes !== undefined && { pageBytes: page_bytes }),
  };
}

function buildAuth({ auth: config = {}, tls }: GatewaySettings): AuthOptions {
  const authenticators: Authenticator[] = [];
  if (config.bearer) {
    const tokens = new Map(config.bearer.map(({ token, ...holder }) => [token, toHolder(holder)]));
    authenticators.push(bearerAuth({ tokens }));
  }
  if (config.api_keys) {
    const keys = new Map(config.api_keys.keys.map(({ key, ...holder }) => [key, toHolder(holder)]));
    authenticators.push(apiKeyAuth({ in: 'header', name: config.api_keys.header ?? 'X-API-Key', keys }));
  }
  if (config.jwt) {
    const { issuer, audience, jwks_url: jwks } = config.jwt;
    authenticators.push(jwtAuth({ issuer, audience, jwks }));
  }
  // Last: the token of a user says more than the certificate of the program that sends it.
  if (tls?.clientCaFile !== undefined)
    authenticators.push(
      mutualTlsAuth({ principal: ({ subject, issuer }) => toCertificateHolder(subject, issuer) }),
    );
  if (authenticators.length === 0) throw invalidField('auth', 'must set bearer, api_keys or jwt');
  return { authenticators, allowAnonymous: config.optional };
}

/** Names in certificates have one attribute per line; commas in values must not look like further attributes. */
function toCertificateHolder(subject: string, issuer: string): Principal {
  const oneLine = (name: string) => name.replaceAll(/[,+\\]/g, '\\$&').replaceAll('\n', ', ');
  return { id: oneLine(subject), issuer: oneLine(issuer) };
}

function toHolder({
  principal: id,
  scopes,
}: {
  principal: string;
  scopes?: string[] | undefined;
}): Principal {
  return { id, ...(scopes && { scopes }) };
}

function createCardSigner(
  { key_file, kid, jku }: NonNullable<GatewaySettings['sign']>,
  file: string,
): ServerOptions['signCard'] {
  const key = readKey(resolve(dirname(file), key_file));
  // Cards of upstreams may contain empty values, which verifiers canonicalize differently: sign both forms.
  return (card) => signCard(card, { key, kid, jku, onDivergence: 'both' });
}

function readKey(file: string): SigningKey {
  try {
    const text = readFileSync(file, 'utf8');
    return text.trimStart().startsWith('{') ? (JSON.parse(text) as SigningKey) : createPrivateKey(text);
  } catch (thrown) {
    throw invalidField('sign.key_file', `must be a readable private key: ${(thrown as Error).message}`);
  }
}

import type { JsonWebKeySet } from '../../primitives/web/jwks.ts';
import { A2AError } from '../../protocol/errors.ts';
import { parseJsonOrUndefined } from '../../primitives/json.ts';
import { requestBuffered, parseTarget } from '../http/send-request.ts';
import { unexpectedResponseError } from '../http/response-errors.ts';
import type { ClientSettings } from '../connect-options.ts';

/** Result of a card verification, as `verifyCard` of `dragoman/signing` returns it. */
export interface CardVerification {
  /** `invalid`: a signature is wrong. `unverifiable`: no key is available. `absent`: the card is not signed. */
  result: 'verified' | 'invalid' | 'unverifiable' | 'absent';
  /** Explanation in a few words. */
  reason: string;
  /** The signed content, which replaces the fetched card. */
  card?: object;
}

/** Context of {@link VerifyCard}. */
export interface CardVerificationContext {
  /** URL of the card; undefined if it was passed to `connect()`. */
  readonly url: string | undefined;
  /**
   * Fetches the key set (`jku`) of a signature if the option `egress` allows it, without following redirects. Pass it as
   * `fetchKey` to `verifyCard` of `dragoman/signing`.
   */
  readonly fetchKey: (kid: string, jku: string | undefined) => Promise<JsonWebKeySet | undefined>;
}

/** Verifies the signatures of a card. */
export type VerifyCard = (
  card: object,
  context: CardVerificationContext,
) => CardVerification | Promise<CardVerification>;

/**
 * Verifies a card according to the options.
 *
 * @returns the card to use and the result of the verification.
 * @throws {@link A2AError} `PERMISSION_DENIED` if the card must not be used.
 */
export async function verifyDiscoveredCard(
  settings: ClientSettings,
  wire: object,
  url: string | undefined,
): Promise<{ wire: object; verification: CardVerification | undefined }> {
  const { verifyCard, requireVerified } = settings;
  if (!verifyCard) return { wire, verification: undefined };
  const verification = await callVerifier(verifyCard, wire, {
    url,
    fetchKey: (_kid, jku) => fetchKeySet(settings, jku),
  });
  if (verification.result === 'verified') return { wire: verification.card ?? wire, verification };
  const subject = url === undefined ? 'The card' : `The card at ${url}`;
  const error = new A2AError('PERMISSION_DENIED', `${subject} is not verified: ${verification.reason}`, {
    details: { result: verification.result },
    hint:
      verification.result === 'invalid'
        ? 'The card was changed after it was signed, or the keys do not belong to its publisher.'
        : 'Pass the keys of the publisher to `verifyCard`, or accept unverified cards with `requireVerified: false`.',
  });
  if (requireVerified || verification.result === 'invalid') throw error;
  settings.warn({ kind: 'unverified', message: error.message, error });
  return { wire, verification };
}

/** Creates the error for an agent without a card if a verified card is required. */
export function missingCardError(url: string): A2AError {
  return new A2AError('PERMISSION_DENIED', `No agent card to verify for ${url}`, {
    hint: 'Accept agents without a verified card with `requireVerified: false`.',
  });
}

async function callVerifier(
  verify: VerifyCard,
  wire: object,
  context: CardVerificationContext,
): Promise<CardVerification> {
  try {
    return await verify(wire, context);
  } catch (thrown) {
    throw thrown instanceof A2AError
      ? thrown
      : new A2AError('INTERNAL_ERROR', 'The card could not be verified', { cause: thrown });
  }
}

async function fetchKeySet(
  settings: ClientSettings,
  jku: string | undefined,
): Promise<JsonWebKeySet | undefined> {
  if (jku === undefined) return undefined;
  const response = await requestBuffered(settings, {
    operation: 'card',
    method: 'GET',
    target: parseTarget(jku),
    headers: { accept: 'application/jwk-set+json, application/json', 'user-agent': 'dragoman' },
    call: {},
    auth: undefined,
    redirects: 'nowhere',
  });
  const { status, text } = response;
  const contentType = response.header('content-type');
  if (status !== 200)
    throw unexpectedResponseError({ status, url: jku, contentType, authenticate: undefined, body: text });
  return parseJsonOrUndefined(text) as JsonWebKeySet | undefined;
}

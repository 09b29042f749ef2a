import { A2AError } from '../../protocol/errors.ts';
import { parseJsonOrUndefined } from '../../primitives/json.ts';
import { requestBuffered, parseTarget } from '../http/send-request.ts';
import { unexpectedResponseError } from '../http/response-errors.ts';
import type { ClientSettings } from '../connect-options.ts';

/** What is known about the signatures of a card; what `verifyCard` of `dragoman/signing` gives is one. */
export interface CardVerification {
  /** `invalid`: a signature is wrong. `unverifiable`: no key is at hand. `absent`: there is no signature. */
  result: 'verified' | 'invalid' | 'unverifiable' | 'absent';
  /** In a few words, why. */
  reason: string;
  /** What the signature covers. It is read instead of what came. */
  card?: object;
}

/** What whoever verifies a card may use. */
export interface CardVerificationContext {
  /** Where the card was; undefined when it was given. */
  readonly url: string | undefined;
  /**
   * Fetches the key set that a signature names, as far as the option `egress` allows it; for the option `fetchKey` of
   * `verifyCard` of `dragoman/signing`. Redirects are not followed.
   */
  readonly fetchKey: (kid: string, jku: string | undefined) => Promise<JsonWebKeySet | undefined>;
}

/** A JSON Web Key Set, as far as anybody here looks. */
export interface JsonWebKeySet {
  keys: { kty: string; kid?: string; [member: string]: unknown }[];
}

/** Says whether a card is what its writer wrote. */
export type VerifyCard = (
  card: object,
  verification: CardVerificationContext,
) => CardVerification | Promise<CardVerification>;

/**
 * Has a card verified as the options want it.
 *
 * @returns what to read, and what is known about it.
 */
export async function verifyDiscoveredCard(
  settings: ClientSettings,
  wire: object,
  url: string | undefined,
): Promise<{ wire: object; verdict: CardVerification | undefined }> {
  const { verifyCard, requireVerified } = settings;
  if (!verifyCard) return { wire, verdict: undefined };
  const verdict = await judge(verifyCard, wire, { url, fetchKey: (_kid, jku) => fetchKeySet(settings, jku) });
  if (verdict.result === 'verified') return { wire: verdict.card ?? wire, verdict };
  const whose = url === undefined ? 'The card' : `The card at ${url}`;
  const error = new A2AError('PERMISSION_DENIED', `${whose} is not verified: ${verdict.reason}`, {
    details: { result: verdict.result },
    hint:
      verdict.result === 'invalid'
        ? 'Somebody changed the card, or the keys are not those of its writer.'
        : 'Give `verifyCard` the keys of its writer, or take cards without a proof with `requireVerified: false`.',
  });
  if (requireVerified || verdict.result === 'invalid') throw error;
  settings.report({ kind: 'unverified', message: error.message, error });
  return { wire, verdict };
}

/** The error for an agent that has no card, where a verified one is wanted. */
export function missingCardError(url: string): A2AError {
  return new A2AError('PERMISSION_DENIED', `There is no agent card for ${url}, so nothing can be verified`, {
    hint: 'Take agents without a proof with `requireVerified: false`.',
  });
}

async function judge(
  verify: VerifyCard,
  wire: object,
  verification: CardVerificationContext,
): Promise<CardVerification> {
  try {
    return await verify(wire, verification);
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
  const answer = await requestBuffered(settings, {
    operation: 'card',
    method: 'GET',
    target: parseTarget(jku),
    headers: { accept: 'application/jwk-set+json, application/json', 'user-agent': 'dragoman' },
    call: {},
    auth: undefined,
    follow: 'nowhere',
  });
  const { status, text } = answer;
  const contentType = answer.header('content-type');
  if (status !== 200)
    throw unexpectedResponseError({ status, url: jku, contentType, authenticate: undefined, body: text });
  return parseJsonOrUndefined(text) as JsonWebKeySet | undefined;
}

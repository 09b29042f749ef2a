import { isJsonObject } from '../primitives/json.ts';
import type { AgentCardSignature } from '../protocol/card.ts';
import { cardAlgorithms, checkAlgorithms, type SigningKey } from './algorithms.ts';
import { type SignedPayload, type PayloadForm, candidatePayloads, type WireCard } from './canonical-card.ts';
import { lookUpKeys, type KeySources, quoteUntrusted } from './key-lookup.ts';

/** Options of {@link verifyCard}. */
export interface VerifyCardOptions extends KeySources {
  /** Accepted algorithms; must be asymmetric. @defaultValue all ES, RS, PS and EdDSA algorithms */
  algorithms?: readonly string[];
  /**
   * Also accepts the forms that the official SDKs sign. Such a signature does not cover empty values and members that 1.0
   * does not define.
   *
   * @defaultValue false
   */
  acceptSdkForms?: boolean;
  /** Maximum number of signatures of a card. @defaultValue 16 */
  maxSignatures?: number;
}

/** Result of {@link verifyCard}. */
export interface VerificationResult {
  /**
   * `verified`: a signature is valid. `invalid`: no signature is valid and at least one is wrong. `unverifiable`: no key
   * is available. `absent`: the card is not signed.
   */
  result: 'verified' | 'invalid' | 'unverifiable' | 'absent';
  /** Explanation for users. */
  reason: string;
  /** Key id of the signature. */
  kid?: string;
  alg?: string;
  /** URL from which the key was fetched. The trust in the card depends on the trust in this URL. */
  jku?: string;
  /** Canonical form that was signed. */
  form?: PayloadForm;
  /** The verified card without signatures, and in forms 2 and 3 without unsigned members. Use this card. */
  card?: WireCard;
}

/**
 * Verifies the signatures of a card, given as the JSON received from its agent (§8.4.3). One valid signature is enough.
 *
 * Throws only for invalid options, never because of the card.
 *
 * @throws {@link A2AError} `INVALID_PARAMS` for an invalid option
 *
 * @example
 * ```ts
 * const { result, reason } = await verifyCard(await response.json(), { jwks });
 * ```
 */
export async function verifyCard(card: unknown, options: VerifyCardOptions): Promise<VerificationResult> {
  const algorithms = checkAlgorithms(options.algorithms ?? cardAlgorithms, 'algorithms');
  if (!isJsonObject(card)) return { result: 'invalid', reason: 'the card is not a JSON object' };
  const signatures = card.signatures ?? [];
  if (!Array.isArray(signatures)) return { result: 'invalid', reason: 'signatures is not a list' };
  if (signatures.length === 0) return { result: 'absent', reason: 'the card is not signed' };
  const maxSignatures = options.maxSignatures ?? 16;
  if (signatures.length > maxSignatures) {
    return {
      result: 'invalid',
      reason: `the card has ${signatures.length} signatures; maximum ${maxSignatures}`,
    };
  }
  let payloads: SignedPayload[];
  try {
    payloads = await candidatePayloads(card, options.acceptSdkForms ?? false);
  } catch {
    return { result: 'invalid', reason: 'the card has no canonical JSON' };
  }
  const results: VerificationResult[] = [];
  for (const signature of signatures) {
    const result = await verifySignature(signature, payloads, { ...options, algorithms });
    if (result.result === 'verified') return result;
    results.push(result);
  }
  const [first] = results;
  return results.find(({ result }) => result === 'invalid') ?? (first as VerificationResult);
}

/** A well-formed signature. */
interface ParsedSignature {
  signature: AgentCardSignature;
  alg: string;
  kid: string;
  jku: unknown;
}

async function verifySignature(
  signature: unknown,
  payloads: readonly SignedPayload[],
  options: VerifyCardOptions & { algorithms: readonly string[] },
): Promise<VerificationResult> {
  const parsed = await parseSignature(signature, options.algorithms);
  if ('result' in parsed) return parsed;
  const { alg, kid } = parsed;
  const lookup = await lookUpKeys(options, kid, parsed.jku);
  if (!lookup.keys) return { result: 'unverifiable', reason: lookup.reason, kid, alg };
  let reason = `the signature of key ${quoteUntrusted(kid)} does not match the card`;
  for (const key of lookup.keys) {
    const outcome = await tryKey(parsed, key, payloads);
    if (outcome === 'unsuitable-key') {
      reason = `key ${quoteUntrusted(kid)} is not a public key for ${alg}`;
    } else if (outcome !== 'mismatch') {
      const { form, card } = outcome;
      const verified: VerificationResult = {
        result: 'verified',
        reason: `signed by key ${quoteUntrusted(kid)}`,
        kid,
        alg,
      };
      return { ...verified, ...(lookup.jku !== undefined && { jku: lookup.jku }), form, card };
    }
  }
  return { result: 'invalid', reason, kid, alg };
}

/** Reads only the protected header: the other header is not signed. */
async function parseSignature(
  signature: unknown,
  algorithms: readonly string[],
): Promise<ParsedSignature | VerificationResult> {
  const invalid = (reason: string): VerificationResult => ({ result: 'invalid', reason });
  if (!isJsonObject(signature) || typeof signature.protected !== 'string') {
    return invalid('a signature has no protected header');
  }
  if (typeof signature.signature !== 'string') return invalid('a signature is not a string');
  const { decodeProtectedHeader } = await import('jose');
  let header: { [name: string]: unknown };
  try {
    header = decodeProtectedHeader({ protected: signature.protected });
  } catch {
    return invalid('a protected header is malformed');
  }
  const { alg, kid, jku, crit } = header;
  if (typeof alg !== 'string' || !algorithms.includes(alg)) {
    return invalid(`algorithm ${quoteUntrusted(alg)} is not accepted`);
  }
  if (crit !== undefined) return invalid(`critical header ${quoteUntrusted(crit)} is not supported`);
  if (typeof kid !== 'string' || kid === '') return invalid('a signature has no kid');
  return { signature: signature as unknown as AgentCardSignature, alg, kid, jku };
}

async function tryKey(
  { signature, alg }: ParsedSignature,
  key: SigningKey,
  payloads: readonly SignedPayload[],
): Promise<SignedPayload | 'mismatch' | 'unsuitable-key'> {
  const { base64url, errors, flattenedVerify } = await import('jose');
  for (const payload of payloads) {
    const jws = {
      protected: signature.protected,
      signature: signature.signature,
      payload: base64url.encode(payload.text),
      ...(signature.header !== undefined && signature.header !== null && { header: signature.header }),
    };
    try {
      await flattenedVerify(jws, key, { algorithms: [alg] });
      return payload;
    } catch (error) {
      const isMismatch =
        error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWSInvalid;
      if (!isMismatch) return 'unsuitable-key';
    }
  }
  return 'mismatch';
}

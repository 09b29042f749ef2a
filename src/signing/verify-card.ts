import type { AgentCardSignature } from '../protocol/card.ts';
import { cardAlgorithms, checkAlgorithms, type SigningKey } from './algorithms.ts';
import { type SignedPayload, type PayloadForm, candidatePayloads, type WireCard } from './canonical-card.ts';
import { lookUpKeys, type KeySources, quoteUntrusted } from './key-lookup.ts';
import { isJsonObject } from './presence-rules.ts';

/** How a card is verified. */
export interface VerifyCardOptions extends KeySources {
  /**
   * The algorithms that are accepted. Neither `none` nor a shared secret can be among them.
   *
   * @defaultValue every ES, RS, PS and EdDSA algorithm
   */
  algorithms?: readonly string[];
  /**
   * Accepts the payloads that the official SDKs sign beside the specified one. Such a signature does not cover empty
   * values and members that 1.0 does not know.
   *
   * @defaultValue false
   */
  acceptSdkForms?: boolean;
  /**
   * How many signatures a card may have.
   *
   * @defaultValue 16
   */
  maxSignatures?: number;
}

/** What is known about the signatures of a card. */
export interface VerificationResult {
  /**
   * `verified`: one signature holds. `invalid`: none does, and at least one is wrong. `unverifiable`: no key is at
   * hand. `absent`: the card is not signed.
   */
  result: 'verified' | 'invalid' | 'unverifiable' | 'absent';
  /** In a few words, why. */
  reason: string;
  /** The key that the signature names. */
  kid?: string;
  alg?: string;
  /** The address that the key was fetched from. Whoever holds that address vouches for the card. */
  jku?: string;
  /** The form of the payload that was signed. */
  form?: PayloadForm;
  /** The card that was verified, without signatures; in forms 2 and 3 without members that nobody signed. Read this one. */
  card?: WireCard;
}

/**
 * Verifies the signatures of a card, given as the JSON that came from its agent (§8.4.3). One that holds is enough.
 *
 * It throws only for options that make no sense; whatever the card is, the answer is a verdict.
 *
 * @throws {@link A2AError} `INVALID_PARAMS` for an option that is not as it should be.
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
  const most = options.maxSignatures ?? 16;
  if (signatures.length > most) {
    return { result: 'invalid', reason: `the card has ${signatures.length} signatures; ${most} are allowed` };
  }
  let payloads: SignedPayload[];
  try {
    payloads = await candidatePayloads(card, options.acceptSdkForms ?? false);
  } catch {
    return { result: 'invalid', reason: 'the card has no canonical JSON' };
  }
  const verdicts: VerificationResult[] = [];
  for (const signature of signatures) {
    const verdict = await judge(signature, payloads, { ...options, algorithms });
    if (verdict.result === 'verified') return verdict;
    verdicts.push(verdict);
  }
  const [first] = verdicts;
  return verdicts.find(({ result }) => result === 'invalid') ?? (first as VerificationResult);
}

/** A signature that may be tried. */
interface Claim {
  signature: AgentCardSignature;
  alg: string;
  kid: string;
  jku: unknown;
}

async function judge(
  signature: unknown,
  payloads: readonly SignedPayload[],
  options: VerifyCardOptions & { algorithms: readonly string[] },
): Promise<VerificationResult> {
  const claim = await readClaim(signature, options.algorithms);
  if ('result' in claim) return claim;
  const { alg, kid } = claim;
  const found = await lookUpKeys(options, kid, claim.jku);
  if (!found.keys) return { result: 'unverifiable', reason: found.reason, kid, alg };
  let reason = `the signature of the key ${quoteUntrusted(kid)} does not fit the card`;
  for (const key of found.keys) {
    const tried = await tryKey(claim, key, payloads);
    if (tried === 'unfit') {
      reason = `the key ${quoteUntrusted(kid)} is not a public key for ${alg}`;
    } else if (tried !== 'wrong') {
      const { form, card } = tried;
      const verified: VerificationResult = {
        result: 'verified',
        reason: `signed by the key ${quoteUntrusted(kid)}`,
        kid,
        alg,
      };
      return { ...verified, ...(found.jku !== undefined && { jku: found.jku }), form, card };
    }
  }
  return { result: 'invalid', reason, kid, alg };
}

/** Reads the protected header, which alone counts: nothing vouches for the other one. */
async function readClaim(
  signature: unknown,
  algorithms: readonly string[],
): Promise<Claim | VerificationResult> {
  const invalid = (reason: string): VerificationResult => ({ result: 'invalid', reason });
  if (!isJsonObject(signature) || typeof signature.protected !== 'string') {
    return invalid('a signature has no protected header');
  }
  if (typeof signature.signature !== 'string') return invalid('a signature is not a text');
  const { decodeProtectedHeader } = await import('jose');
  let header: { [name: string]: unknown };
  try {
    header = decodeProtectedHeader({ protected: signature.protected });
  } catch {
    return invalid('a protected header cannot be read');
  }
  const { alg, kid, jku, crit } = header;
  if (typeof alg !== 'string' || !algorithms.includes(alg)) {
    return invalid(`the algorithm ${quoteUntrusted(alg)} is not accepted`);
  }
  if (crit !== undefined) return invalid(`the critical header ${quoteUntrusted(crit)} is not understood`);
  if (typeof kid !== 'string' || kid === '') return invalid('a signature does not name its key');
  return { signature: signature as unknown as AgentCardSignature, alg, kid, jku };
}

async function tryKey(
  { signature, alg }: Claim,
  key: SigningKey,
  payloads: readonly SignedPayload[],
): Promise<SignedPayload | 'wrong' | 'unfit'> {
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
      const isAboutSignature =
        error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWSInvalid;
      if (!isAboutSignature) return 'unfit';
    }
  }
  return 'wrong';
}

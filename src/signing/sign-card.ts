import { lenientMode } from '../dialects/translation-loss.ts';
import { v1_0 } from '../dialects/v1_0/index.ts';
import type { AgentCard, AgentCardSignature } from '../protocol/card.ts';
import { A2AError, invalidField } from '../protocol/errors.ts';
import { algorithmOf, checkAlgorithms, type SigningKey } from './algorithms.ts';
import { canonicalCard, divergences, type WireCard } from './canonical-card.ts';
import { parseUrl } from '../primitives/web/parse-url.ts';

/** Options of {@link signCard}. */
export interface SignCardOptions {
  key: SigningKey;
  /** Key id by which verifiers find the public key. */
  kid: string;
  /** Signature algorithm. @defaultValue the default of the key, such as `ES256` for P-256 */
  alg?: string;
  /** https URL of the JSON Web Key Set with the public key. */
  jku?: string;
  /**
   * Handling of a card whose canonical form in the official SDKs differs from the specification, because of empty values
   * or members that 1.0 does not define. `reject` throws and names the fields. `spec` signs as specified; the SDKs cannot
   * verify this. `both` adds a second signature for the SDKs, which does not cover empty and unknown members.
   *
   * @defaultValue `'reject'`
   */
  onDivergence?: 'reject' | 'spec' | 'both';
}

/**
 * Signs a card, given as model or as JSON of 1.0, and returns it in the same form with the signature added (§8.4).
 *
 * Replaces a signature with the same `kid`; signatures of other keys are retained for key rotation. Sign the published
 * card, including its URLs: any later change invalidates the signature.
 *
 * @throws {@link A2AError} `INVALID_PARAMS` for an invalid card, key or option
 *
 * @example
 * ```ts
 * const signed = await signCard(card, { key: privateKey, kid: 'key-1' });
 * ```
 */
export async function signCard(card: AgentCard, options: SignCardOptions): Promise<AgentCard>;
export async function signCard(card: WireCard, options: SignCardOptions): Promise<WireCard>;
export async function signCard(
  card: AgentCard | WireCard,
  options: SignCardOptions,
): Promise<AgentCard | WireCard> {
  const header = protectedHeader(options);
  const wire = toWireCard(card);
  const fields = divergences(wire);
  const { onDivergence = 'reject' } = options;
  if (fields.length > 0 && onDivergence === 'reject') throw divergenceError(fields);

  const texts = [await canonicalText(wire, 1)];
  if (fields.length > 0 && onDivergence === 'both') texts.push(await canonicalText(wire, 2));
  const signatures: AgentCardSignature[] = [];
  for (const text of texts) signatures.push(await signText(text, header, options.key));
  const others = await signaturesOfOtherKeys(wire.signatures, options.kid);
  return { ...card, signatures: [...others, ...signatures] };
}

/** Protected header, with members in the order of the specification. */
interface Header {
  alg: string;
  typ: 'JOSE';
  kid: string;
  jku?: string;
}

function protectedHeader({ key, kid, alg = algorithmOf(key), jku }: SignCardOptions): Header {
  if (alg === undefined) throw invalidField('alg', 'must be set because the key does not determine it');
  checkAlgorithms([alg], 'alg');
  if (typeof kid !== 'string' || kid === '') throw invalidField('kid', 'must be a non-empty string');
  if (jku === undefined) return { alg, typ: 'JOSE', kid };
  if (parseUrl(jku)?.protocol !== 'https:') {
    throw invalidField('jku', 'must be an https URL');
  }
  return { alg, typ: 'JOSE', kid, jku };
}

/** Returns the card as valid JSON of 1.0. */
function toWireCard(card: AgentCard | WireCard): WireCard {
  const isModel = 'interfaces' in card && !('supportedInterfaces' in card);
  const wire = (isModel ? v1_0.card.write(card as AgentCard) : card) as WireCard;
  v1_0.card.read(wire, lenientMode());
  return wire;
}

function divergenceError(violations: { field: string; description: string }[]): A2AError {
  const named = violations.slice(0, 5).map(({ field, description }) => `${field} ${description}`);
  const more = violations.length > named.length ? `, and ${violations.length - named.length} more` : '';
  return new A2AError(
    'INVALID_PARAMS',
    `Signature would fail in the official A2A SDKs because of empty or unknown fields: ${named.join(', ')}${more}`,
    { violations, hint: "Fill or remove these fields, or sign with onDivergence: 'both' (or 'spec')." },
  );
}

async function canonicalText(wire: WireCard, form: 1 | 2): Promise<string> {
  try {
    return await canonicalCard(wire, form);
  } catch (cause) {
    throw new A2AError('INVALID_PARAMS', 'The card cannot be signed because it has no canonical JSON', {
      cause,
    });
  }
}

async function signText(text: string, header: Header, key: SigningKey): Promise<AgentCardSignature> {
  const { FlattenedSign } = await import('jose');
  try {
    const jws = await new FlattenedSign(new TextEncoder().encode(text))
      .setProtectedHeader({ ...header })
      .sign(key);
    return { protected: jws.protected ?? '', signature: jws.signature };
  } catch (cause) {
    const description = `must be a private key for ${header.alg}`;
    throw new A2AError('INVALID_PARAMS', `key ${description}`, {
      cause,
      violations: [{ field: 'key', description }],
    });
  }
}

async function signaturesOfOtherKeys(signatures: unknown, kid: string): Promise<AgentCardSignature[]> {
  if (!Array.isArray(signatures)) return [];
  const { decodeProtectedHeader } = await import('jose');
  return (signatures as AgentCardSignature[]).filter((each) => {
    try {
      return decodeProtectedHeader(each).kid !== kid;
    } catch {
      return true;
    }
  });
}

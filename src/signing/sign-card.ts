import { lenientMode } from '../dialects/translation-loss.ts';
import { v1_0 } from '../dialects/v1_0/index.ts';
import type { AgentCard, AgentCardSignature } from '../protocol/card.ts';
import { A2AError, invalidField } from '../protocol/errors.ts';
import { algorithmOf, checkAlgorithms, type SigningKey } from './algorithms.ts';
import { canonicalCard, divergences, type WireCard } from './canonical-card.ts';

/** With what a card is signed. */
export interface SignCardOptions {
  /** The private key. */
  key: SigningKey;
  /** The name by which verifiers find the public key. */
  kid: string;
  /**
   * The algorithm.
   *
   * @defaultValue the usual one of the key, such as `ES256` for P-256
   */
  alg?: string;
  /** The https address of the JSON Web Key Set that holds the public key. */
  jku?: string;
  /**
   * What to do with a card that the official SDKs canonicalise otherwise than the specification says, because a value
   * is empty or a member is not known to 1.0. `refuse` throws and names the fields. `spec` signs as specified, which
   * those SDKs cannot verify. `both` adds a second signature for them, which does not cover what is empty or unknown.
   *
   * @defaultValue 'refuse'
   */
  onDivergence?: 'refuse' | 'spec' | 'both';
}

/**
 * Signs a card, given as model or as JSON of 1.0, and gives it back in the same form with the signature added (§8.4).
 *
 * A signature that the same `kid` made before is replaced; those of other keys stay, so that keys can rotate. Sign
 * what is published, addresses included: any change afterwards voids the signature.
 *
 * @throws {@link A2AError} `INVALID_PARAMS` for a card, key or option that is not as it should be.
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
  const header = headerOf(options);
  const wire = wireOf(card);
  const differing = divergences(wire);
  const { onDivergence: divergent = 'refuse' } = options;
  if (differing.length > 0 && divergent === 'refuse') throw refusal(differing);

  const texts = [await canonicalText(wire, 1)];
  if (differing.length > 0 && divergent === 'both') texts.push(await canonicalText(wire, 2));
  const made: AgentCardSignature[] = [];
  for (const text of texts) made.push(await signText(text, header, options.key));
  const others = await ofOtherKeys(wire.signatures, options.kid);
  return { ...card, signatures: [...others, ...made] };
}

/** The protected header, in the order in which the specification names its members. */
interface Header {
  alg: string;
  typ: 'JOSE';
  kid: string;
  jku?: string;
}

function headerOf({ key, kid, alg = algorithmOf(key), jku }: SignCardOptions): Header {
  if (alg === undefined) throw invalidField('alg', 'must be given, because the key does not tell it');
  checkAlgorithms([alg], 'alg');
  if (typeof kid !== 'string' || kid === '') throw invalidField('kid', 'must be a string that is not empty');
  if (jku === undefined) return { alg, typ: 'JOSE', kid };
  if (!URL.canParse(jku) || new URL(jku).protocol !== 'https:') {
    throw invalidField('jku', 'must be an https address');
  }
  return { alg, typ: 'JOSE', kid, jku };
}

/** The card as JSON of 1.0, known to be readable. */
function wireOf(card: AgentCard | WireCard): WireCard {
  const isModel = 'interfaces' in card && !('supportedInterfaces' in card);
  const wire = (isModel ? v1_0.card.write(card as AgentCard) : card) as WireCard;
  v1_0.card.read(wire, lenientMode());
  return wire;
}

function refusal(violations: { field: string; description: string }[]): A2AError {
  const named = violations.slice(0, 5).map(({ field, description }) => `${field} ${description}`);
  const more = violations.length > named.length ? `, and ${violations.length - named.length} more` : '';
  return new A2AError(
    'INVALID_PARAMS',
    `The official SDKs could not verify this card: ${named.join(', ')}${more}`,
    { violations, hint: "Fill or remove these fields, or sign with divergent: 'both' (or 'spec')." },
  );
}

async function canonicalText(wire: WireCard, form: 1 | 2): Promise<string> {
  try {
    return await canonicalCard(wire, form);
  } catch (cause) {
    throw new A2AError('INVALID_PARAMS', 'The card has no canonical JSON, so it cannot be signed', { cause });
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
    const description = `cannot sign with ${header.alg}; it must be a private key of the right kind`;
    throw new A2AError('INVALID_PARAMS', `key ${description}`, {
      cause,
      violations: [{ field: 'key', description }],
    });
  }
}

async function ofOtherKeys(signatures: unknown, kid: string): Promise<AgentCardSignature[]> {
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

/**
 * Signed agent cards of A2A 1.0: a detached JSON Web Signature over the canonical JSON of the card.
 *
 * @module
 */
export { cardAlgorithms, type SigningKey } from './algorithms.ts';
export { canonicalCard, type PayloadForm, type WireCard } from './canonical.ts';
export type { KeySet, KeySources } from './keys.ts';
export { signCard, type SignOptions } from './sign.ts';
export { type Verdict, verifyCard, type VerifyOptions } from './verify.ts';

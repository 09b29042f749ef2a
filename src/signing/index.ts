/**
 * Signed agent cards of A2A 1.0: a detached JSON Web Signature over the canonical JSON of the card.
 *
 * @module
 */
export { cardAlgorithms, type SigningKey } from './algorithms.ts';
export { canonicalCard, type PayloadForm, type WireCard } from './canonical-card.ts';
export type { KeySet, KeySources } from './key-lookup.ts';
export { signCard, type SignOptions } from './sign-card.ts';
export { type Verdict, verifyCard, type VerifyOptions } from './verify-card.ts';

/**
 * Signed agent cards of A2A 1.0: a detached JSON Web Signature over the canonical JSON of the card.
 *
 * @module
 */
export { cardAlgorithms, type SigningKey } from './algorithms.ts';
export { canonicalCard, type PayloadForm, type WireCard } from './canonical-card.ts';
export type { JsonWebKeySet } from '../primitives/web/jwks.ts';
export type { KeySources } from './key-lookup.ts';
export { signCard, type SignCardOptions } from './sign-card.ts';
export { type VerificationResult, verifyCard, type VerifyCardOptions } from './verify-card.ts';

import type { WireObject } from '../dialects/field-readers.ts';
import {
  findEmptyPaths,
  isJsonObject,
  findMissingPaths,
  removeEmptyValues,
  applyPresenceRules,
} from './presence-rules.ts';

/** A card as JSON of 1.0, parsed. */
export type WireCard = WireObject;

/**
 * The forms of a card that signers sign.
 *
 * 1: as the specification says. 2: without any empty value and without members that 1.0 does not know, as the
 * official SDKs do. 3: form 2 with everything outside ASCII escaped, as older Python SDKs do.
 */
export type PayloadForm = 1 | 2 | 3;

/** One text that a signature may have been made over, and the card that such a signature vouches for. */
export interface SignedPayload {
  readonly form: PayloadForm;
  readonly text: string;
  readonly card: WireCard;
}

const asSpecified = { fills: true, keepsUnknown: true };
const asWritten = { fills: false, keepsUnknown: true };
const asKnown = { fills: false, keepsUnknown: false };

/** Gives the text that is signed: the presence rules of 1.0, then RFC 8785. */
export async function canonicalCard(card: WireCard, form: PayloadForm = 1): Promise<string> {
  if (form === 1) return jcs(applyPresenceRules(card, asSpecified));
  const stripped = removeEmptyValues(applyPresenceRules(card, asKnown)) ?? {};
  return form === 2 ? jcs(stripped) : escaped(stripped);
}

/** Gives every text that a signature of this card may have been made over, the strictest first, each once. */
export async function candidatePayloads(card: WireCard, interop: boolean): Promise<SignedPayload[]> {
  const whole = applyPresenceRules(card, asWritten);
  const payloads: SignedPayload[] = [
    { form: 1, text: await canonicalCard(card, 1), card: whole },
    // A signer that takes the JSON as it is does not add the REQUIRED fields that it lacks.
    { form: 1, text: await jcs(whole), card: whole },
  ];
  if (interop) {
    const known = applyPresenceRules(card, asKnown);
    payloads.push({ form: 2, text: await canonicalCard(card, 2), card: known });
    payloads.push({ form: 3, text: await canonicalCard(card, 3), card: known });
  }
  return payloads.filter(({ text }, i) => payloads.findIndex((each) => each.text === text) === i);
}

/** Where form 1 has something that form 2 has not, as path and why. */
export function divergences(card: WireCard): { field: string; description: string }[] {
  const specified = applyPresenceRules(card, asSpecified);
  const known = applyPresenceRules(card, { ...asSpecified, keepsUnknown: false });
  return [
    ...findMissingPaths(specified, known).map((field) => ({ field, description: 'is not known to 1.0' })),
    ...findEmptyPaths(known).map((field) => ({ field, description: 'is empty' })),
  ];
}

async function jcs(value: unknown): Promise<string> {
  const { default: canonicalize } = await import('canonicalize');
  return canonicalize(value) ?? '';
}

/** Sorts by code point and escapes everything that is not printable ASCII. */
function escaped(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(escaped).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value).replace(/[^ -~]/g, escapeUnit);
  const members = Object.keys(value)
    .sort(byCodePoint)
    .map((name) => `${escaped(name)}:${escaped(value[name])}`);
  return `{${members.join(',')}}`;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function byCodePoint(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = (left[i]?.codePointAt(0) ?? 0) - (right[i]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

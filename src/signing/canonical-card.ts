import { dialectForCard } from '../dialects/card-negotiation.ts';
import type { WireObject } from '../dialects/field-readers.ts';
import { isJsonObject } from '../primitives/json.ts';
import { applyPresenceRules, findEmptyPaths, findMissingPaths, removeEmptyValues } from './presence-rules.ts';

/** Parsed JSON of a 1.0 card. */
export type WireCard = WireObject;

/**
 * Canonical forms of a card that signers use.
 *
 * 1: as specified. 2: without empty values and members that 1.0 does not define, as in the official SDKs. 3: form 2 with
 * all characters outside of ASCII escaped, as in older Python SDKs.
 */
export type PayloadForm = 1 | 2 | 3;

/** Text that a signature may cover, and the card that such a signature verifies. */
export interface SignedPayload {
  readonly form: PayloadForm;
  readonly text: string;
  readonly card: WireCard;
}

const specifiedRules = { addsRequired: true, retainsUnknown: true };
const asWrittenRules = { addsRequired: false, retainsUnknown: true };
const knownMembersRules = { addsRequired: false, retainsUnknown: false };
const modernRules = { addsRequired: true, retainsUnknown: false };

/** Returns the text to sign: the presence rules of 1.0, then RFC 8785 (JCS). */
export async function canonicalCard(card: WireCard, form: PayloadForm = 1): Promise<string> {
  if (form === 1) return jcs(applyPresenceRules(card, specifiedRules));
  const stripped = removeEmptyValues(applyPresenceRules(card, knownMembersRules)) ?? {};
  return form === 2 ? jcs(stripped) : asciiJson(stripped);
}

/** Returns the distinct texts that a signature of this card may cover, strictest first. */
export async function candidatePayloads(card: WireCard, acceptSdkForms: boolean): Promise<SignedPayload[]> {
  const complete = applyPresenceRules(card, asWrittenRules);
  const payloads: SignedPayload[] = [
    { form: 1, text: await canonicalCard(card, 1), card: complete },
    // Signers that use the JSON as it is do not add missing REQUIRED fields.
    { form: 1, text: await jcs(complete), card: complete },
  ];
  // The signature of a card with members of 0.3 beside those of 1.0 covers those of 1.0.
  if (dialectForCard(card).hybrid) {
    const text = await jcs(applyPresenceRules(card, modernRules));
    payloads.push({ form: 1, text, card: applyPresenceRules(card, knownMembersRules) });
  }
  if (acceptSdkForms) {
    const known = applyPresenceRules(card, knownMembersRules);
    payloads.push({ form: 2, text: await canonicalCard(card, 2), card: known });
    payloads.push({ form: 3, text: await canonicalCard(card, 3), card: known });
  }
  return payloads.filter(({ text }, i) => payloads.findIndex((each) => each.text === text) === i);
}

/** Returns the fields of form 1 that are missing in form 2, with the reason. */
export function divergences(card: WireCard): { field: string; description: string }[] {
  const specified = applyPresenceRules(card, specifiedRules);
  const known = applyPresenceRules(card, modernRules);
  return [
    ...findMissingPaths(specified, known).map((field) => ({ field, description: 'is not defined in 1.0' })),
    ...findEmptyPaths(known).map((field) => ({ field, description: 'is empty' })),
  ];
}

async function jcs(value: unknown): Promise<string> {
  const { default: canonicalize } = await import('canonicalize');
  return canonicalize(value) ?? '';
}

/** Sorts members by code point and escapes everything except printable ASCII. */
function asciiJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(asciiJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value).replace(/[^ -~]/g, escapeUnit);
  const members = Object.keys(value)
    .sort(byCodePoint)
    .map((name) => `${asciiJson(name)}:${asciiJson(value[name])}`);
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

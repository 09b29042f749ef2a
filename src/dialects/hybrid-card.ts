import { isJsonObject, type JsonObject } from '../primitives/json.ts';
import type { AgentCard } from '../protocol/card.ts';
import { v0_3 } from './v0_3/index.ts';
import { v1_0 } from './v1_0/index.ts';
import { splitFlows } from './v1_0/security.ts';

/**
 * Writes a card for readers that name no version: a 1.0 card with the members of 0.3 and 0.2 beside those of 1.0. Readers of
 * either version ignore the members of the other one. A signature covers the members of 1.0.
 */
export function writeHybridCard(card: AgentCard): JsonObject {
  const { securitySchemes: schemes } = card;
  // 1.0 splits schemes with several flows. Each scheme needs the members of both versions.
  const legacy = schemes ? { ...card, securitySchemes: { ...splitFlows(schemes), ...schemes } } : card;
  return merge(v1_0.card.write(card), v0_3.card.write(legacy)) as JsonObject;
}

/** Merges two values member by member. Lists of different lengths are those of the first one. */
function merge(first: unknown, second: unknown): unknown {
  if (second === undefined) return first;
  if (Array.isArray(first) && Array.isArray(second))
    return first.length === second.length ? first.map((each, i) => merge(each, second[i])) : first;
  if (!isJsonObject(first) || !isJsonObject(second)) return second;
  const merged: JsonObject = { ...first };
  for (const [name, value] of Object.entries(second)) merged[name] = merge(first[name], value);
  return merged;
}

import type { AgentCard } from '../../protocol/card.ts';
import type { Codec } from '../dialect.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';
import { readCard as readEither, writeCardWith } from '../v0_3/card.ts';
import { mergeSecurity } from '../v1_0/security.ts';
import { wrappedSecurityWriter } from './security.ts';

/** Reads a card of 0.3 and puts the OAuth 2 flows together that its protocol buffers keep apart. */
function readCard(value: unknown, reading: DecodeMode): AgentCard {
  const card = readEither(value, reading);
  mergeSecurity(card);
  return card;
}

function writeCard(card: AgentCard, losses?: LossList): unknown {
  return writeCardWith(card, wrappedSecurityWriter(card.securitySchemes ?? {}), losses);
}

/** The agent card of 0.3 as its protocol buffers have it. */
export const card: Codec<AgentCard> = { read: readCard, write: writeCard };

import type { AgentCard } from '../../protocol/card.ts';
import type { Codec } from '../dialect.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';
import { readCard as readEither, writeCardWith } from '../v0_3/card.ts';
import { mergeSecurity } from '../v1_0/security.ts';
import { wrappedSecurityWriter } from './security.ts';

/** Reads a 0.3 card and merges the OAuth 2 flows that its protocol buffers split. */
function readCard(value: unknown, mode: DecodeMode): AgentCard {
  const card = readEither(value, mode);
  mergeSecurity(card);
  return card;
}

function writeCard(card: AgentCard, losses?: LossList): unknown {
  return writeCardWith(card, wrappedSecurityWriter(card.securitySchemes ?? {}), losses);
}

/** Codec of 0.3 agent cards in the protocol buffer format. */
export const card: Codec<AgentCard> = { read: readCard, write: writeCard };

import type { MutantAgent } from './harness/mutant-agent.ts';
import { mutateCard1_0 } from './card/card.ts';
import { signedVariants } from './card/card-signature.ts';
import type { JsonObject } from '../../primitives/json.ts';

/** Correct agents with different features. The suite must report no violations for any of them. */
export const correctVariants: Readonly<Record<string, Partial<MutantAgent>>> = {
  'without authentication': {},
  'with authentication': { requiresAuthentication: true },
  'without streaming': { definition: { streaming: false } },
  'without push notifications': { definition: { pushNotifications: false } },
  'with an extended card': {
    requiresAuthentication: true,
    definition: { extendedCard: { description: 'Test agent with an extended card' } },
  },
  'with extensions': {
    definition: {
      extensions: [
        { uri: 'https://example.com/ext/steps/v1', required: true },
        { uri: 'https://example.com/ext/notes/v2' },
      ],
    },
  },
  'for a tenant': {
    wire: () =>
      mutateCard1_0((card) => {
        for (const each of card.supportedInterfaces as JsonObject[])
          if (each.protocolVersion === '1.0') each.tenant = 'acme';
      }),
  },
  ...signedVariants,
};

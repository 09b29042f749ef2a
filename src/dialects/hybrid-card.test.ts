import * as fc from 'fast-check';
import { AgentCard } from 'sdk-1.3';
import { expect, it } from 'vitest';
import * as any from '../../test/arbitraries.ts';
import type { AgentCard as Card } from '../protocol/card.ts';
import { writeHybridCard } from './hybrid-card.ts';
import { strictMode } from './translation-loss.ts';
import { v0_3 } from './v0_3/index.ts';
import { v1_0 } from './v1_0/index.ts';

const toJson = (wire: unknown): any => JSON.parse(JSON.stringify(wire));

it('is the same card as that of 1.0, for our reader and the official one', () => {
  fc.assert(
    fc.property(any.card, (card) => {
      const [hybrid, modern] = [toJson(writeHybridCard(card)), toJson(v1_0.card.write(card))];
      expect(v1_0.card.read(hybrid, strictMode)).toEqual(v1_0.card.read(modern, strictMode));
      expect(AgentCard.fromJSON(hybrid)).toEqual(AgentCard.fromJSON(modern));
    }),
    { numRuns: 200 },
  );
});

it('contains all members of the 0.3 card', () => {
  fc.assert(
    fc.property(any.card, (card) => {
      const [hybrid, legacy] = [toJson(writeHybridCard(card)), toJson(v0_3.card.write(card))];
      // A capability that 1.0 removed is one more extension there.
      delete legacy.capabilities.extensions;
      expect(hybrid).toMatchObject(legacy);
    }),
    { numRuns: 200 },
  );
});

it('writes both forms of security, and a scheme per OAuth flow', () => {
  const scopes = { read: 'Reads' };
  const card: Card = {
    name: 'N',
    description: 'D',
    version: '1',
    interfaces: [{ url: 'http://a.example', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { extendedAgentCard: true, stateTransitionHistory: false },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [{ id: 's', name: 'S', description: '', tags: [], securityRequirements: [{ key: [] }] }],
    securitySchemes: {
      key: { type: 'apiKey', location: 'header', name: 'X-Key' },
      login: {
        type: 'oauth2',
        flows: {
          clientCredentials: { tokenUrl: 'https://a.example/t', scopes },
          authorizationCode: {
            authorizationUrl: 'https://a.example/a',
            tokenUrl: 'https://a.example/t',
            scopes,
          },
        },
      },
    },
    securityRequirements: [{ login: ['read'] }],
  };
  expect(toJson(writeHybridCard(card))).toMatchObject({
    capabilities: { extendedAgentCard: true, stateTransitionHistory: false },
    supportsAuthenticatedExtendedCard: true,
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', apiKeySecurityScheme: { location: 'header' } },
      login: { type: 'oauth2', oauth2SecurityScheme: { flows: {} } },
      'login.clientCredentials': { type: 'oauth2', oauth2SecurityScheme: { flows: {} } },
    },
    security: [{ login: ['read'] }],
    securityRequirements: [{ schemes: { login: { list: ['read'] } } }, { schemes: {} }],
    skills: [{ security: [{ key: [] }], securityRequirements: [{ schemes: { key: {} } }] }],
  });
});

import { describe, expect, it } from 'vitest';
import type { AgentCard } from '../../protocol/card.ts';
import { formatVariant, listVariants } from './protocol-variants.ts';

function card(...ways: string[]): AgentCard {
  return {
    name: 'A',
    description: 'A',
    version: '1',
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    interfaces: ways.map((way) => {
      const [protocolVersion = '', protocolBinding = ''] = way.split(' ');
      return { url: 'http://localhost', protocolVersion, protocolBinding };
    }),
  };
}

describe('the ways of a card', () => {
  it.each([
    [
      'come once, in its order',
      ['1.0 JSONRPC', '0.3 JSONRPC', '1.0 JSONRPC'],
      '1.0',
      ['1.0/JSONRPC', '0.3/JSONRPC'],
    ],
    [
      'begin with the one that is taken',
      ['0.3 JSONRPC', '1.0 JSONRPC'],
      '1.0',
      ['1.0/JSONRPC', '0.3/JSONRPC'],
    ],
    [
      'are without what is not spoken here',
      ['1.0 GRPC', '9.9 JSONRPC', '0.3.0 jsonrpc'],
      '0.3',
      ['0.3/JSONRPC'],
    ],
    ['are of 0.2 where the card is, whose words are those of 0.3', ['0.2.5 JSONRPC'], '0.3', ['0.2/JSONRPC']],
    [
      'have the one that is taken, whatever the card says',
      ['0.3 JSONRPC'],
      '0.1',
      ['0.1/JSONRPC', '0.3/JSONRPC'],
    ],
  ] as const)('%s', (_what, offered, version, expected) => {
    expect(listVariants(card(...offered), { version, transport: 'JSONRPC' }).map(formatVariant)).toEqual(
      expected,
    );
  });
});

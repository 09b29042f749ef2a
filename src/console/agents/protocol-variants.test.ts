import { describe, expect, it } from 'vitest';
import { type AgentCard, formatVariant } from '../../protocol/card.ts';
import { listVariants } from './protocol-variants.ts';

function card(...variants: string[]): AgentCard {
  return {
    name: 'A',
    description: 'A',
    version: '1',
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    interfaces: variants.map((variant) => {
      const [protocolVersion = '', protocolBinding = ''] = variant.split(' ');
      return { url: 'http://localhost', protocolVersion, protocolBinding };
    }),
  };
}

describe('listVariants', () => {
  it.each([
    [
      'returns each variant once, in the order of the card',
      ['1.0 JSONRPC', '0.3 JSONRPC', '1.0 JSONRPC'],
      '1.0',
      ['1.0/JSONRPC', '0.3/JSONRPC'],
    ],
    ['puts the used variant first', ['0.3 JSONRPC', '1.0 JSONRPC'], '1.0', ['1.0/JSONRPC', '0.3/JSONRPC']],
    [
      'omits unsupported variants',
      ['0.1 GRPC', '1.0 SMTP', '9.9 JSONRPC', '0.3.0 jsonrpc'],
      '0.3',
      ['0.3/JSONRPC'],
    ],
    ['lists gRPC', ['1.0 JSONRPC', '1.0 GRPC', '0.3.0 grpc'], '1.0', ['1.0/JSONRPC', '1.0/GRPC', '0.3/GRPC']],
    ['keeps 0.2, which uses the 0.3 dialect', ['0.2.5 JSONRPC'], '0.3', ['0.2/JSONRPC']],
    [
      'adds the used variant if the card does not list it',
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

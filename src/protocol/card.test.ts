import { describe, expect, it } from 'vitest';
import { formatVariant, parseVariant } from './card.ts';

describe('parseVariant', () => {
  it.each([
    { version: '1.0', transport: 'JSONRPC' },
    { version: '0.3', transport: 'HTTP+JSON' },
    { version: '1.0', transport: 'GRPC' },
  ] as const)('reads the text of formatVariant($version/$transport)', (variant) => {
    expect(parseVariant(formatVariant(variant))).toEqual(variant);
  });

  it.each(['', '1.0', '2.0/JSONRPC', '1.0/SOAP', '1.0/JSONRPC/x'])('returns undefined for %j', (text) => {
    expect(parseVariant(text)).toBeUndefined();
  });
});

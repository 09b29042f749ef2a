import { describe, expect, it } from 'vitest';
import { replacePrivateKeys } from './private-keys.ts';

const replace = (text: string): string => replacePrivateKeys(text, '[redacted]');
const key = (label: string): string =>
  `-----BEGIN ${label}PRIVATE KEY-----\nMIIE\n-----END ${label}PRIVATE KEY-----`;

describe('replacePrivateKeys', () => {
  it.each(['', 'RSA ', 'EC ', 'ENCRYPTED ', 'OPENSSH '])(
    'replaces keys with the label "%sPRIVATE KEY"',
    (label) => {
      expect(replace(`a ${key(label)} b ${key(label)} c`)).toBe(
        `a [redacted] ${label}PRIVATE KEY----- b [redacted] ${label}PRIVATE KEY----- c`,
      );
    },
  );

  it('replaces a truncated key', () => {
    expect(replace(`a ${key('').slice(0, 32)}`)).toBe('a [redacted]');
  });

  it('keeps certificates, public keys and parts of a label, also in front of a key', () => {
    for (const text of [
      '',
      'plain',
      key('').replaceAll('PRIVATE', 'PUBLIC'),
      '-----BEGIN PRIVATE',
      '-----BEGIN ',
    ])
      expect(replace(text)).toBe(text);
    expect(replace(`-----BEGIN -----BEGIN PRIVATE KEY-----secret`)).toBe('-----BEGIN [redacted]');
  });
});

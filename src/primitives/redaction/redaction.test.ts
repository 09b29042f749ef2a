import { describe, expect, it } from 'vitest';
import { redactedPlaceholder, Redactor } from './redaction.ts';

const secret = 's3cr3t-value-of-mine';

describe('Redactor', () => {
  it.each([
    ['a JSON member', `{"token":"${secret}","name":"x"}`, `{"token":"${redactedPlaceholder}","name":"x"}`],
    ['a JSON member with quotes', `{"password": "a\\"${secret}"}`, `{"password": "${redactedPlaceholder}"}`],
    [
      'JSON within JSON',
      `{"text":"{\\"api_key\\":\\"${secret}\\"}"}`,
      `{"text":"{\\"api_key\\":\\"${redactedPlaceholder}\\"}"}`,
    ],
    ['truncated JSON', `{"credentials":"${secret}`, `{"credentials":"${redactedPlaceholder}"`],
    [
      'a form body',
      `grant_type=x&client_secret=${secret}&scope=y`,
      `grant_type=x&client_secret=${redactedPlaceholder}&scope=y`,
    ],
    [
      'an authentication scheme',
      `authenticates with Bearer ${secret}`,
      `authenticates with Bearer ${redactedPlaceholder}`,
    ],
    ['a JSON Web Token', `it is eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl`, `it is ${redactedPlaceholder}`],
  ])('redacts secrets in %s', (_name, text, redacted) => {
    expect(new Redactor().redactText(text)).toBe(redacted);
  });

  it.each(['{"nextPageToken":"abcdefgh"}', '{"tokens":["a"]}', 'a secret garden', '{"token":17}'])(
    'does not change %s',
    (text) => {
      expect(new Redactor().redactText(text)).toBe(text);
    },
  );

  it('redacts tokens with a known prefix, private keys and passwords of URLs in texts', () => {
    const redactor = new Redactor();
    const secrets = [
      'sk-proj-0123456789abcdef',
      'ghp_0123456789abcdefghij0123',
      'xoxb-1234567890-abc',
      'AKIA0123456789ABCDEF',
      'github_pat_0123456789abcdefghij0123',
      'glpat-0123456789abcdefghij',
      'npm_0123456789abcdefghij0123456789',
      `AIza${'0123456789'.repeat(4)}`,
    ];
    for (const secret of secrets)
      expect(redactor.redactText(`use ${secret}, please`)).toBe('use [redacted], please');
    const key = '-----BEGIN RSA PRIVATE KEY-----\\nMIIE\\n-----END RSA PRIVATE KEY-----';
    expect(redactor.redactText(key)).not.toContain('MIIE');
    expect(redactor.redactText('at https://bob:hunter2@host.example/x')).toBe(
      'at https://bob:[redacted]@host.example/x',
    );
    for (const text of [
      'a task-sk-1 here',
      'npm_config_registry',
      'github_pat_x',
      'AKIA',
      'http://localhost:4000/a@b',
      'skipped',
    ])
      expect(redactor.redactText(text)).toBe(text);
  });

  it('redacts registered secrets in all encodings, longest first', () => {
    const redactor = new Redactor({ 'X-Mine': 'a"b c/d' });
    redactor.addSecret('a"b c/d and more');
    expect(redactor.redactText('a"b c/d and more')).toBe(redactedPlaceholder);
    expect(redactor.redactText('a%22b%20c%2Fd')).toBe(redactedPlaceholder);
    expect(redactor.redactText(JSON.stringify({ x: 'a"b c/d' }))).toBe(`{"x":"${redactedPlaceholder}"}`);
    expect(redactor.redactHeaders({ 'x-mine': '1', 'x-other': '2', cookie: '3' })).toEqual({
      'x-mine': redactedPlaceholder,
      'x-other': '2',
      cookie: redactedPlaceholder,
    });
  });

  it('redacts the password of Basic credentials', () => {
    const redactor = new Redactor({ authorization: `Basic ${btoa('alice:open sesame')}` });
    expect(redactor.redactText('open sesame!')).toBe(`${redactedPlaceholder}!`);
  });

  it('redacts passwords and query parameters of URLs', () => {
    const redactor = new Redactor();
    expect(redactor.redactUrl(`https://u:${secret}@x.test/a?key=${secret}&page=2`)).toBe(
      'https://u:redacted@x.test/a?key=redacted&page=2',
    );
    redactor.addSecretQueryParameter('K9');
    expect(redactor.redactUrl('https://x.test/a?k9=1')).toBe('https://x.test/a?k9=redacted');
    expect(redactor.redactUrl('https://x.test/a?b=c%20d')).toBe('https://x.test/a?b=c%20d');
  });

  it('redacts secrets of many million characters', () => {
    const long = 'x'.repeat(12_000_000);
    const redactor = new Redactor();
    for (const [text, redacted] of [
      [`{"token":"${long}","a":1}`, `{"token":"${redactedPlaceholder}","a":1}`],
      [`{"token":"${long}`, `{"token":"${redactedPlaceholder}"`],
      [`"{\\"token\\":\\"${long}\\"}"`, `"{\\"token\\":\\"${redactedPlaceholder}\\"}"`],
      [`token=${long}&a=1`, `token=${redactedPlaceholder}&a=1`],
      [`Bearer ${long}= a`, `Bearer ${redactedPlaceholder} a`],
      [`sk-${long} a`, `${redactedPlaceholder} a`],
    ] as const)
      expect(redactor.redactText(text) === redacted, text.slice(0, 20)).toBe(true);
  });

  it('withHeaders adds secrets and shares later ones', () => {
    const redactor = new Redactor();
    const child = redactor.withHeaders({ authorization: `Bearer ${secret}` });
    redactor.addSecretHeader('x-access');
    redactor.addSecret('later-secret');
    expect(child.redactText(`${secret}, later-secret`)).toBe(
      `${redactedPlaceholder}, ${redactedPlaceholder}`,
    );
    expect(child.isSecretHeader('X-Access')).toBe(true);
    expect(redactor.redactText(secret)).toBe(secret);
  });
});

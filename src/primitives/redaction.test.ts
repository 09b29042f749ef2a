import { describe, expect, it } from 'vitest';
import { redactedPlaceholder, Redactor } from './redaction.ts';

const secret = 's3cr3t-value-of-mine';

describe('what takes secrets out', () => {
  it.each([
    ['a member of JSON', `{"token":"${secret}","name":"x"}`, `{"token":"${redactedPlaceholder}","name":"x"}`],
    ['a member with quotes in it', `{"password": "a\\"${secret}"}`, `{"password": "${redactedPlaceholder}"}`],
    [
      'JSON within JSON',
      `{"text":"{\\"api_key\\":\\"${secret}\\"}"}`,
      `{"text":"{\\"api_key\\":\\"${redactedPlaceholder}\\"}"}`,
    ],
    ['a text that is cut off', `{"credentials":"${secret}`, `{"credentials":"${redactedPlaceholder}"`],
    [
      'a form',
      `grant_type=x&client_secret=${secret}&scope=y`,
      `grant_type=x&client_secret=${redactedPlaceholder}&scope=y`,
    ],
    ['a scheme', `asks with Bearer ${secret}`, `asks with Bearer ${redactedPlaceholder}`],
    ['a web token', `it is eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl`, `it is ${redactedPlaceholder}`],
  ])('finds it in %s', (_what, text, clean) => {
    expect(new Redactor().redactText(text)).toBe(clean);
  });

  it.each(['{"nextPageToken":"abcdefgh"}', '{"tokens":["a"]}', 'a secret garden', '{"token":17}'])(
    'leaves alone what is none: %s',
    (text) => {
      expect(new Redactor().redactText(text)).toBe(text);
    },
  );

  it('knows what it was given, in every form, the longest first', () => {
    const secrets = new Redactor({ 'X-Mine': 'a"b c/d' });
    secrets.addSecret('a"b c/d and more');
    expect(secrets.redactText('a"b c/d and more')).toBe(redactedPlaceholder);
    expect(secrets.redactText('a%22b%20c%2Fd')).toBe(redactedPlaceholder);
    expect(secrets.redactText(JSON.stringify({ x: 'a"b c/d' }))).toBe(`{"x":"${redactedPlaceholder}"}`);
    expect(secrets.redactHeaders({ 'x-mine': '1', 'x-other': '2', cookie: '3' })).toEqual({
      'x-mine': redactedPlaceholder,
      'x-other': '2',
      cookie: redactedPlaceholder,
    });
  });

  it('knows the password within Basic', () => {
    const secrets = new Redactor({ authorization: `Basic ${btoa('alice:open sesame')}` });
    expect(secrets.redactText('open sesame!')).toBe(`${redactedPlaceholder}!`);
  });

  it('takes keys out of addresses', () => {
    const secrets = new Redactor();
    expect(secrets.redactUrl(`https://u:${secret}@x.test/a?key=${secret}&page=2`)).toBe(
      'https://u:removed@x.test/a?key=removed&page=2',
    );
    secrets.addSecretQueryParameter('K9');
    expect(secrets.redactUrl('https://x.test/a?k9=1')).toBe('https://x.test/a?k9=removed');
    expect(secrets.redactUrl('https://x.test/a?b=c%20d')).toBe('https://x.test/a?b=c%20d');
  });

  it('can be told more for a while, and learns on', () => {
    const secrets = new Redactor();
    const more = secrets.withHeaders({ authorization: `Bearer ${secret}` });
    secrets.addSecretHeader('x-door');
    secrets.addSecret('what came later');
    expect(more.redactText(`${secret}, what came later`)).toBe(
      `${redactedPlaceholder}, ${redactedPlaceholder}`,
    );
    expect(more.isSecretHeader('X-Door')).toBe(true);
    expect(secrets.redactText(secret)).toBe(secret);
  });
});

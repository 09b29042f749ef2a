import { describe, expect, it } from 'vitest';
import { plainCard, reverseMembers } from '../../test/support/signing/signed-card.ts';
import { canonicalCard, divergences, candidatePayloads, type WireCard } from './canonical-card.ts';

/** Returns the part of the canonical card that differs between tests. */
async function canonical(card: WireCard, form?: 1 | 2 | 3): Promise<unknown> {
  return JSON.parse(await canonicalCard({ ...plainCard, ...card }, form)) as unknown;
}

describe('canonicalCard', () => {
  it('sorts by UTF-16 units, omits spaces and formats numbers like ECMAScript', async () => {
    const text = await canonicalCard(plainCard);
    expect(text).toContain('"params":{"alpha":0.000001,"half":0.5,"zeta":1e+21,"😀":1,"\ufb33":[1,true]}');
    expect(text.startsWith('{"capabilities":{"extendedAgentCard":false,"extensions":[')).toBe(true);
    expect(text).toContain('"description":"Says \\"it\\" back\\nand\\tagain"');
    expect(text).toContain('"name":"Écho – 回声 🪞"');
  });

  it('does not depend on the order of keys', async () => {
    expect(await canonicalCard(reverseMembers(plainCard) as WireCard)).toBe(await canonicalCard(plainCard));
  });

  it('excludes signatures', async () => {
    const signed = { ...plainCard, signatures: [{ protected: 'a', signature: 'b' }] };
    expect(await canonicalCard(signed)).toBe(await canonicalCard(plainCard));
  });

  it('includes empty and missing required fields', async () => {
    const { version: _missing, ...rest } = plainCard;
    const text = await canonicalCard({ ...rest, description: '', skills: [], capabilities: {} });
    expect(JSON.parse(text)).toMatchObject({ description: '', skills: [], capabilities: {}, version: '' });
  });

  it('includes optional fields set to their default and excludes unset ones', async () => {
    const card = await canonical({
      documentationUrl: '',
      iconUrl: null,
      capabilities: { streaming: false, extensions: [] },
    });
    expect(card).toMatchObject({ documentationUrl: '', capabilities: { streaming: false } });
    expect(card).not.toHaveProperty('iconUrl');
    expect(card).not.toHaveProperty('capabilities.extensions');
    expect(card).not.toHaveProperty('capabilities.pushNotifications');
  });

  it('excludes other defaults at every depth', async () => {
    const card = await canonical({
      securitySchemes: {},
      securityRequirements: [{ schemes: { login: { list: [] } } }],
      supportedInterfaces: [{ url: 'u', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
      capabilities: { extensions: [{ uri: 'x', description: '', required: false, params: { none: null } }] },
      skills: [{ id: 'a', name: '', description: '', tags: [], examples: [] }],
    });
    expect(card).not.toHaveProperty('securitySchemes');
    expect(card).toMatchObject({ securityRequirements: [{ schemes: { login: {} } }] });
    expect(card).toHaveProperty('supportedInterfaces', [
      { url: 'u', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ]);
    expect(card).toHaveProperty('capabilities', { extensions: [{ uri: 'x', params: { none: null } }] });
    expect(card).toHaveProperty('skills', [{ id: 'a', name: '', description: '', tags: [] }]);
  });

  it('includes unknown members, even __proto__', async () => {
    const odd = JSON.parse('{"url":"https://other.test","__proto__":{"a":1}}') as WireCard;
    const text = await canonicalCard({ ...plainCard, ...odd });
    expect(text).toContain('"url":"https://other.test","version"');
    const within = JSON.parse('{"__proto__":{"mtlsSecurityScheme":{}}}') as WireCard;
    expect(await canonicalCard({ ...plainCard, securitySchemes: within })).toContain('"__proto__"');
  });

  it('rejects values that JSON cannot represent', async () => {
    await expect(canonicalCard({ ...plainCard, name: '\ud800' })).rejects.toThrow('surrogate');
  });
});

describe('forms of the official SDKs', () => {
  it('form 2 excludes empty and unknown members', async () => {
    const card = await canonical(
      {
        description: '',
        url: 'https://other.test',
        securityRequirements: [{ schemes: { login: {} } }],
        capabilities: {
          streaming: false,
          extensions: [{ uri: 'x', params: { list: ['', null, 0, false] } }],
        },
      },
      2,
    );
    expect(card).not.toHaveProperty('description');
    expect(card).not.toHaveProperty('url');
    expect(card).not.toHaveProperty('securityRequirements');
    expect(card).toHaveProperty('capabilities', {
      streaming: false,
      extensions: [{ uri: 'x', params: { list: [0, false] } }],
    });
  });

  it('form 3 escapes everything except printable ASCII and sorts by code point', async () => {
    const text = await canonicalCard({ ...plainCard, version: 'a\u007f' }, 3);
    expect(text).toContain('"name":"\\u00c9cho \\u2013 \\u56de\\u58f0 \\ud83e\\ude9e"');
    expect(text).toContain('"version":"a\\u007f"');
    expect(text.indexOf('\\ufb33')).toBeLessThan(text.indexOf('\\ud83d\\ude00'));
    expect(JSON.parse(text)).toEqual(
      JSON.parse(await canonicalCard({ ...plainCard, version: 'a\u007f' }, 2)),
    );
  });

  it('returns equal forms for an ASCII card without empty values', async () => {
    const card = { ...plainCard, name: 'Echo', provider: undefined, capabilities: { streaming: true } };
    expect(await candidatePayloads(card, true)).toHaveLength(1);
    expect(divergences(card)).toEqual([]);
  });

  it('divergences names empty and unknown fields', () => {
    const card = {
      ...plainCard,
      url: 'https://other.test',
      description: '',
      securityRequirements: [{ schemes: { login: {} } }],
    };
    expect(divergences(card)).toEqual([
      { field: 'url', description: 'is not defined in 1.0' },
      { field: 'description', description: 'is empty' },
      { field: 'securityRequirements[0].schemes.login', description: 'is empty' },
    ]);
  });
});

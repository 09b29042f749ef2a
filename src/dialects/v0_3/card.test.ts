import { describe, expect, it } from 'vitest';
import type { AgentCard, AgentInterface } from '../../protocol/card.ts';
import { type TranslationLoss, lenientMode, strictMode } from '../translation-loss.ts';
import { v0_3 } from './index.ts';

const plain = (value: unknown): Record<string, unknown> =>
  JSON.parse(JSON.stringify(value)) as Record<string, unknown>;

const rpc = (version: string): AgentInterface => ({
  url: 'https://a.test/rpc',
  protocolBinding: 'JSONRPC',
  protocolVersion: version,
});
const rest = (version: string): AgentInterface => ({
  url: 'https://a.test/rest',
  protocolBinding: 'HTTP+JSON',
  protocolVersion: version,
});

function cardWith(interfaces: AgentInterface[], more: Partial<AgentCard> = {}): AgentCard {
  return {
    name: 'Echo',
    description: '',
    version: '1',
    interfaces,
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    ...more,
  };
}

const wire = {
  protocolVersion: '0.3.0',
  name: 'Echo',
  description: '',
  version: '1',
  url: 'https://a.test/rpc',
  capabilities: {},
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
};

describe('v0_3 card interfaces', () => {
  it('reads distinct interfaces, the url first, with the default JSONRPC', () => {
    const additionalInterfaces = [
      { url: 'https://a.test/rpc', transport: 'JSONRPC' },
      { url: 'https://a.test/rest', transport: 'HTTP+JSON' },
      { url: 'https://a.test/rest', transport: 'HTTP+JSON' },
    ];
    const card = v0_3.card.read({ ...wire, additionalInterfaces }, lenientMode());
    expect(card.interfaces).toEqual([rpc('0.3'), rest('0.3')]);
  });

  it.each([
    ['0.3.0', '0.3'],
    ['0.3', '0.3'],
    ['0.2.5', '0.2'],
    [undefined, '0.2'],
  ])('maps protocolVersion %j to %s', (protocolVersion, version) => {
    expect(v0_3.card.read({ ...wire, protocolVersion }, lenientMode()).interfaces).toEqual([rpc(version)]);
  });

  it('reads the 1.0 interfaces of a hybrid card first', () => {
    const hybrid = { ...wire, supportedInterfaces: [rpc('1.0')] };
    expect(v0_3.card.read(hybrid, lenientMode()).interfaces).toEqual([rpc('1.0'), rpc('0.3')]);
  });

  it('writes url and preferredTransport of the first 0.3 interface', () => {
    const losses: TranslationLoss[] = [];
    const written = plain(v0_3.card.write(cardWith([rest('0.3'), rpc('0.3')]), losses));
    expect(written).toMatchObject({
      protocolVersion: '0.3.0',
      url: 'https://a.test/rest',
      preferredTransport: 'HTTP+JSON',
      additionalInterfaces: [{ url: 'https://a.test/rpc', transport: 'JSONRPC' }],
    });
    expect(written).not.toHaveProperty('supportedInterfaces');
    expect(losses).toEqual([]);
  });

  it('writes interfaces of other versions to supportedInterfaces in order', () => {
    const interfaces = [rpc('1.0'), rest('1.0'), rpc('0.3')];
    const written = plain(v0_3.card.write(cardWith(interfaces)));
    expect(written).toMatchObject({ url: 'https://a.test/rpc', supportedInterfaces: interfaces });
    expect(written).not.toHaveProperty('additionalInterfaces');
    expect(v0_3.card.read(written, lenientMode()).interfaces).toEqual(interfaces);
  });

  it('guesses url and transport without a 0.3 interface and records a loss', () => {
    const losses: TranslationLoss[] = [];
    const written = plain(v0_3.card.write(cardWith([rest('1.0'), rpc('1.0')]), losses));
    expect(written).toMatchObject({ protocolVersion: '0.3.0', url: 'https://a.test/rpc' });
    expect(losses).toEqual([expect.objectContaining({ path: 'url', kind: 'guessed' })]);
  });

  it('drops the tenant and records a loss', () => {
    const losses: TranslationLoss[] = [];
    const tenant = { ...rpc('0.3'), tenant: 'x' };
    const written = plain(v0_3.card.write(cardWith([tenant]), losses));
    expect(losses).toEqual([expect.objectContaining({ path: 'url', kind: 'dropped' })]);
    expect(v0_3.card.read(written, lenientMode()).interfaces).toEqual([tenant]);
  });
});

describe('v0_3 card', () => {
  it('maps the extended card flag', () => {
    const card = cardWith([rpc('0.3')], { capabilities: { extendedAgentCard: true } });
    const written = plain(v0_3.card.write(card));
    expect(written).toMatchObject({ supportsAuthenticatedExtendedCard: true, capabilities: {} });
    expect(written.capabilities).not.toHaveProperty('extendedAgentCard');
    expect(v0_3.card.read(written, lenientMode())).toEqual(card);
  });

  it('drops signatures in both directions and records losses', () => {
    const signatures = [{ protected: 'e30', signature: 'c2ln' }];
    const losses: TranslationLoss[] = [];
    expect(v0_3.card.read({ ...wire, signatures }, lenientMode(losses))).not.toHaveProperty('signatures');
    expect(plain(v0_3.card.write(cardWith([rpc('0.3')], { signatures }), losses))).not.toHaveProperty(
      'signatures',
    );
    expect(losses.map(({ path, kind }) => `${path} ${kind}`)).toEqual([
      'signatures dropped',
      'signatures dropped',
    ]);
  });

  it('writes the required url of a provider', () => {
    const losses: TranslationLoss[] = [];
    const card = cardWith([rpc('0.3')], { provider: { organization: 'Works' } });
    expect(plain(v0_3.card.write(card, losses)).provider).toEqual({ organization: 'Works', url: '' });
    expect(losses).toEqual([expect.objectContaining({ path: 'provider.url', kind: 'defaulted' })]);
  });

  it('reads security schemes in both formats', () => {
    const securitySchemes = {
      key: { type: 'apiKey', in: 'somewhere', name: 'X-K' },
      bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } },
    };
    const security = [{ key: [] }, { schemes: { bearer: { list: ['a'] } } }];
    const card = v0_3.card.read({ ...wire, securitySchemes, security }, strictMode);
    expect(card.securitySchemes).toEqual({
      key: { type: 'apiKey', location: 'header', name: 'X-K' },
      bearer: { type: 'http', scheme: 'bearer' },
    });
    expect(card.securityRequirements).toEqual([{ key: [] }, { bearer: ['a'] }]);
  });

  it('drops unknown security schemes in lenient mode', () => {
    const securitySchemes = { odd: { type: 'palm' }, tls: { type: 'mutualTLS' } };
    const losses: TranslationLoss[] = [];
    const card = v0_3.card.read({ ...wire, securitySchemes }, lenientMode(losses));
    expect(card.securitySchemes).toEqual({ tls: { type: 'mutualTLS' } });
    expect(losses).toEqual([expect.objectContaining({ path: 'securitySchemes.odd', kind: 'dropped' })]);
    expect(() => v0_3.card.read({ ...wire, securitySchemes }, strictMode)).toThrow(
      'securitySchemes.odd.type',
    );
  });

  it('writes several flows in one scheme, and newer ones as extra properties', () => {
    const flows = {
      clientCredentials: { tokenUrl: 'https://o.test', scopes: {} },
      deviceCode: { deviceAuthorizationUrl: 'https://o.test/d', tokenUrl: 'https://o.test', scopes: {} },
    };
    const card = cardWith([rpc('0.3')], { securitySchemes: { o: { type: 'oauth2', flows } } });
    expect(plain(v0_3.card.write(card)).securitySchemes).toEqual({ o: { type: 'oauth2', flows } });
  });
});

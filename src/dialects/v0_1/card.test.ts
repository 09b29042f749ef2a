import { describe, expect, it } from 'vitest';
import type { AgentCard, SecurityScheme } from '../../protocol/card.ts';
import { compatKey } from '../compat-metadata.ts';
import { type TranslationLoss, lenientMode, strictMode } from '../translation-loss.ts';
import { v0_1 } from './index.ts';

const onWire = (value: unknown): { [key: string]: unknown } =>
  JSON.parse(JSON.stringify(value)) as { [key: string]: unknown };

const bare = {
  name: 'Echo',
  url: 'https://a.test/rpc',
  version: '3.1',
  capabilities: {},
  skills: [{ id: 'echo', name: 'Echo' }],
};
const card: AgentCard = v0_1.card.read(bare, strictMode);
const readSchemes = (authentication: unknown): AgentCard =>
  v0_1.card.read({ ...bare, authentication }, strictMode);

describe('v0_1 card', () => {
  it('reads null fields and modes without media types', () => {
    const wire = {
      ...bare,
      description: null,
      capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
      authentication: { schemes: ['Bearer'], credentials: null },
      defaultInputModes: ['text', 'data', 'file', 'image', 'audio/wav'],
      defaultOutputModes: null,
    };
    const losses: TranslationLoss[] = [];
    expect(v0_1.card.read(wire, lenientMode(losses))).toEqual({
      name: 'Echo',
      description: '',
      version: '3.1',
      interfaces: [{ url: 'https://a.test/rpc', protocolBinding: 'JSONRPC', protocolVersion: '0.1' }],
      capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
      securitySchemes: { Bearer: { type: 'http', scheme: 'bearer' } },
      securityRequirements: [{ Bearer: [] }],
      defaultInputModes: [
        'text/plain',
        'application/json',
        'application/octet-stream',
        'image/*',
        'audio/wav',
      ],
      defaultOutputModes: ['text/plain'],
      skills: [{ id: 'echo', name: 'Echo', description: '', tags: [] }],
    });
    expect(losses.map((loss) => loss.path)).toContain('defaultInputModes[3]');
  });

  it('writes no defaults except the modes of skills', () => {
    const modes = ['text/plain'];
    expect(onWire(v0_1.card.write(card))).toEqual({
      ...bare,
      defaultInputModes: modes,
      defaultOutputModes: modes,
      skills: bare.skills.map((skill) => ({ ...skill, inputModes: modes, outputModes: modes })),
    });
  });

  it('writes the URL of a 0.1 interface, else of any JSON-RPC interface', () => {
    const at = (url: string, protocolBinding: string, protocolVersion: string) => ({
      url,
      protocolBinding,
      protocolVersion,
    });
    const rest = at('https://a.test/rest', 'HTTP+JSON', '1.0');
    const rpc = at('https://a.test/rpc', 'JSONRPC', '1.0');
    const old = at('https://a.test/old', 'JSONRPC', '0.1');
    const urlOf = (interfaces: AgentCard['interfaces'], losses?: TranslationLoss[]): unknown =>
      onWire(v0_1.card.write({ ...card, interfaces }, losses)).url;
    const losses: TranslationLoss[] = [];
    expect(urlOf([rest, rpc, old], losses)).toBe('https://a.test/old');
    expect(losses.map((loss) => loss.path)).toEqual(['interfaces[0]', 'interfaces[1]']);
    expect(urlOf([rest, rpc])).toBe('https://a.test/rpc');
    expect(urlOf([rest], losses)).toBe('https://a.test/rest');
    expect(losses.at(-1)).toMatchObject({ path: 'interfaces', kind: 'guessed' });
  });

  it('writes fields of later versions as extra members, except signatures', () => {
    const later: AgentCard = {
      ...card,
      iconUrl: 'https://a.test/i.png',
      documentationUrl: 'https://a.test/doc',
      provider: { organization: 'O' },
      capabilities: { streaming: true, extendedAgentCard: true, extensions: [{ uri: 'https://e.test/x' }] },
    };
    const losses: TranslationLoss[] = [];
    const signatures = [{ protected: 'p', signature: 's' }];
    const wire = onWire(v0_1.card.write({ ...later, signatures }, losses));
    expect(wire).not.toHaveProperty('signatures');
    expect(losses).toContainEqual(expect.objectContaining({ path: 'signatures' }));
    // Either would identify the card as 0.2 or 0.3.
    expect(wire).not.toHaveProperty('protocolVersion');
    expect(wire).not.toHaveProperty('securitySchemes');
    const { defaultInputModes: inputModes, defaultOutputModes: outputModes } = later;
    const skills = later.skills.map((skill) => ({ ...skill, inputModes, outputModes }));
    expect(v0_1.card.read(wire, strictMode)).toEqual({ ...later, skills });
  });
});

describe('v0_1 card authentication', () => {
  const oauth = {
    authorizationUrl: 'https://o.test/a',
    tokenUrl: 'https://o.test/t',
    scopes: { read: 'Read' },
  };

  it.each<[string, string | undefined, SecurityScheme]>([
    ['Bearer', undefined, { type: 'http', scheme: 'bearer' }],
    ['Basic', undefined, { type: 'http', scheme: 'basic' }],
    ['ApiKey', undefined, { type: 'apiKey', location: 'header', name: 'X-API-Key' }],
    ['ApiKey', '{"in":"query","name":"k"}', { type: 'apiKey', location: 'query', name: 'k' }],
    ['OAuth2', JSON.stringify(oauth), { type: 'oauth2', flows: { authorizationCode: oauth } }],
    [
      'OpenIdConnect',
      '{"openIdConnectUrl":"https://o.test/c"}',
      { type: 'openIdConnect', openIdConnectUrl: 'https://o.test/c' },
    ],
    ['mTLS', undefined, { type: 'mutualTLS' }],
    ['Digest', undefined, { type: 'http', scheme: 'Digest' }],
  ])('reads and writes %s with %s', (word, credentials, scheme) => {
    const authentication = { schemes: [word], ...(credentials !== undefined && { credentials }) };
    const read = readSchemes(authentication);
    expect(read.securitySchemes).toEqual({ [word]: scheme });
    expect(read.securityRequirements).toEqual([{ [word]: [] }]);
    expect(read.capabilities.extensions).toBeUndefined();
    expect(onWire(v0_1.card.write(read)).authentication).toEqual(authentication);
  });

  it('reads several schemes as alternatives', () => {
    expect(readSchemes({ schemes: ['Bearer', 'ApiKey'] }).securityRequirements).toEqual([
      { Bearer: [] },
      { ApiKey: [] },
    ]);
  });

  it.each([null, { schemes: null }, { schemes: [] }])('reads %j as no requirement', (authentication) => {
    expect(readSchemes(authentication)).toEqual(card);
  });

  it('preserves authentication that its schemes cannot reproduce', () => {
    const authentication = { schemes: ['OAuth2'], credentials: 'see the handbook' };
    const read = readSchemes(authentication);
    expect(read.securitySchemes).toEqual({ OAuth2: { type: 'http', scheme: 'bearer' } });
    expect(read.capabilities.extensions).toEqual([{ uri: compatKey, params: { authentication } }]);
    expect(onWire(v0_1.card.write(read)).authentication).toEqual(authentication);
    const changed = { ...read, securitySchemes: { OAuth2: { type: 'http', scheme: 'basic' } as const } };
    expect(onWire(v0_1.card.write(changed)).authentication).toEqual({ schemes: ['Basic'] });
  });

  it('records requirements that 0.1 cannot represent', () => {
    const losses: TranslationLoss[] = [];
    const skill = { ...card.skills[0], securityRequirements: [{ key: [] }] } as AgentCard['skills'][0];
    v0_1.card.write(
      {
        ...card,
        skills: [skill],
        securitySchemes: {
          key: { type: 'apiKey', location: 'header', name: 'X-API-Key' },
          oauth: { type: 'oauth2', flows: { implicit: { authorizationUrl: 'https://o.test/' } } },
          spare: { type: 'mutualTLS' },
        },
        securityRequirements: [{ key: [], oauth: ['read'] }],
      },
      losses,
    );
    expect(losses.map((loss) => loss.path)).toEqual([
      'securityRequirements',
      'securityRequirements',
      'securitySchemes.spare',
      'skills[0].securityRequirements',
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { DocumentError } from '../../documents/diagnostic.ts';
import { readGatewayConfig } from '../config/read-gateway-config.ts';
import { Policy, type PolicyQuestion } from './policy.ts';
import { matchesTextPattern } from './text-pattern.ts';

const agents = 'agents:\n  weather: { url: http://a.example }\n  ledger: { url: http://b.example }\n';

function readPolicyOf(policy: string): Policy {
  const { policy: settings } = readGatewayConfig(`${agents}policy:\n${policy}`, 'gateway.yaml', {});
  if (!settings) throw new Error('no policy');
  return new Policy(settings);
}

const size = { bytes: 100, parts: 1, fileBytes: 0 };

const asks = (
  id: string | undefined,
  more: Partial<PolicyQuestion> & { scopes?: string[]; issuer?: string } = {},
): PolicyQuestion => {
  const { scopes = [], issuer, ...question } = more;
  return {
    agent: 'weather',
    operation: 'send',
    caller: {
      principal: id === undefined ? undefined : { id, scopes, ...(issuer !== undefined && { issuer }) },
      isMeshUser: false,
    },
    tenant: undefined,
    versions: ['1.0'],
    transport: 'JSONRPC',
    size,
    ...question,
  };
};

function diagnosticsOf(policy: string): string[] {
  try {
    readPolicyOf(policy);
    return [];
  } catch (thrown) {
    if (thrown instanceof DocumentError) return thrown.message.split('\n');
    throw thrown;
  }
}

describe('Policy', () => {
  it('lets the first matching rule decide, and denies what no rule matches', () => {
    const policy = readPolicyOf(`  rules:
    - deny: { principals: [eve] }
    - allow: { principals: [alice, "team-*"] }
      agents: [weather]
      operations: [send, push]
    - allow: { scopes: [ledger.read, ledger.list] }
      agents: [ledger]
`);
    const allowed = (question: PolicyQuestion) => policy.decide(question).isAllowed;
    expect(allowed(asks('alice'))).toBe(true);
    expect(allowed(asks('team-a'))).toBe(true);
    expect(allowed(asks('Alice'))).toBe(false);
    expect(allowed(asks('alice', { operation: 'cancelTask' }))).toBe(false);
    for (const operation of [
      'createPushConfig',
      'getPushConfig',
      'listPushConfigs',
      'deletePushConfig',
    ] as const)
      expect(allowed(asks('alice', { operation }))).toBe(true);
    expect(allowed(asks('alice', { agent: 'ledger' }))).toBe(false);
    expect(allowed(asks('bob', { agent: 'ledger', scopes: ['ledger.read'] }))).toBe(false);
    expect(allowed(asks('bob', { agent: 'ledger', scopes: ['ledger.list', 'ledger.read'] }))).toBe(true);
    expect(allowed(asks('eve', { agent: 'ledger', scopes: ['ledger.list', 'ledger.read'] }))).toBe(false);
    expect(allowed(asks(undefined))).toBe(false);
    expect(policy.decide(asks('eve'))).toMatchObject({ kind: 'access', decidedBy: { line: 6 } });
    expect(policy.decide(asks('bob'))).toMatchObject({ isAllowed: false, decidedBy: 'default' });
  });

  it('separates issuers, tenants and users of a mesh from clients with the same id', () => {
    const policy = readPolicyOf(`  rules:
    - allow: { principals: [alice], issuers: ["https://login.example"] }
      agents: [ledger]
    - allow: { principals: [alice], tenants: ["acme-*"] }
      operations: [get]
    - allow: { principals: ["mesh:alice"] }
      operations: [list]
    - allow: { principals: ["*"] }
      operations: [subscribe]
`);
    const allowed = (question: PolicyQuestion) => policy.decide(question).isAllowed;
    expect(allowed(asks('alice', { agent: 'ledger' }))).toBe(false);
    expect(allowed(asks('alice', { agent: 'ledger', issuer: 'https://login.example' }))).toBe(true);
    expect(allowed(asks('alice', { operation: 'getTask' }))).toBe(false);
    expect(allowed(asks('alice', { operation: 'getTask', tenant: 'acme-1' }))).toBe(true);
    expect(allowed(asks('alice', { operation: 'getTask', tenant: 'other' }))).toBe(false);
    const meshUser = { caller: { principal: { id: 'alice' }, isMeshUser: true } };
    expect(allowed(asks('alice', { operation: 'listTasks', ...meshUser }))).toBe(true);
    expect(allowed(asks('alice', { operation: 'listTasks' }))).toBe(false);
    expect(allowed(asks('mesh:alice', { operation: 'listTasks' }))).toBe(false);
    expect(allowed(asks('x', { operation: 'subscribe' }))).toBe(true);
    expect(allowed(asks('x', { operation: 'subscribe', ...meshUser }))).toBe(false);
    expect(allowed(asks(undefined, { operation: 'subscribe' }))).toBe(false);
  });

  it('shows a card to callers of at least one operation, unless a rule names the card', () => {
    const policy = readPolicyOf(`  rules:
    - deny: { principals: [blind] }
      operations: [card]
    - allow: { tenants: [acme] }
      agents: [ledger]
      operations: [list]
    - allow: { principals: [alice, blind] }
      agents: [weather]
      operations: [send]
`);
    const sees = (id: string | undefined, agent: string) =>
      policy.decide(asks(id, { operation: 'card', agent })).isAllowed;
    expect([sees('alice', 'weather'), sees('bob', 'weather'), sees(undefined, 'weather')]).toEqual([
      true,
      false,
      false,
    ]);
    expect(sees('blind', 'weather')).toBe(false);
    // Only requests in a tenant are allowed, and a card request names none.
    expect(sees('bob', 'ledger')).toBe(true);
  });

  it('applies all matching limits, and names what a request exceeds', () => {
    const policy = readPolicyOf(`  limits:
    modern: { versions: ["1.0"], agents: [ledger] }
    wires: { transports: [GRPC, mesh], operations: [cancel] }
    trial: { callers: { principals: ["trial-*"] }, request_bytes: 1000, parts: 2, file_bytes: 10 }
`);
    const kindOf = (question: PolicyQuestion) => {
      const { isAllowed, kind } = policy.decide(question);
      return isAllowed ? 'allowed' : kind;
    };
    expect(kindOf(asks('a', { agent: 'ledger', versions: ['0.3'] }))).toBe('version');
    expect(kindOf(asks('a', { agent: 'ledger', versions: ['0.3'], operation: 'card' }))).toBe('allowed');
    expect(kindOf(asks('a', { versions: ['0.3'] }))).toBe('allowed');
    expect(kindOf(asks('a', { operation: 'cancelTask' }))).toBe('transport');
    expect(kindOf(asks('a', { operation: 'cancelTask', transport: 'mesh' }))).toBe('allowed');
    for (const exceeded of [{ bytes: 1001 }, { parts: 3 }, { fileBytes: 11 }])
      expect(kindOf(asks('trial-1', { size: { ...size, ...exceeded } }))).toBe('size');
    expect(kindOf(asks('trial-1', { size: { bytes: 1000, parts: 2, fileBytes: 10 } }))).toBe('allowed');
    expect(kindOf(asks('a', { size: { bytes: 1e9, parts: 1e3, fileBytes: 1e9 } }))).toBe('allowed');
    expect(
      policy
        .decide(asks('trial-1', { agent: 'ledger', operation: 'cancelTask', transport: 'GRPC' }))
        .limits.map(({ name }) => name),
    ).toEqual(['modern', 'wires', 'trial']);
  });
});

describe('policy of a gateway file', () => {
  it('reports mistakes with line and column, and with what is known', () => {
    expect(
      diagnosticsOf(`  rules:
    - allow: { principal: [a] }
    - allow: anyone
      agents: [wether]
      operations: [Send]
  limits:
    a: { rate: 5 }
    b: { versions: [1.0] }
`),
    ).toEqual([
      'gateway.yaml:6:16: policy.rules[0].allow.principal: unknown key; known are principals, issuers, scopes, tenants',
      expect.stringMatching(
        /^gateway\.yaml:9:20: policy\.rules\[1\]\.operations\[0\]: must be one of send, stream, /,
      ),
      expect.stringMatching(/^gateway\.yaml:11:10: policy\.limits\.a\.rate: unknown key; known are agents, /),
      'gateway.yaml:12:21: policy.limits.b.versions[0]: must be "1.0", "0.3" or "0.1", in quotes',
    ]);
  });

  it('reports unknown agents, rules that are never used and limits without effect', () => {
    expect(
      diagnosticsOf(`  rules:
    - allow: { principals: [a, b] }
      agents: ["w*"]
    - deny: { principals: [b], scopes: [x] }
      agents: [weather]
      operations: [cancel]
    - allow: anyone
      agents: [wether]
  limits:
    a: { agents: [ledger] }
    b: { burst: 5 }
    c: { count_by: all, parts: 3 }
`),
    ).toEqual([
      'gateway.yaml:8:7: policy.rules[1]: is never used, because the rule in line 6 matches first',
      'gateway.yaml:12:16: policy.rules[2].agents[0]: names no agent of this file; it has weather, ledger',
      expect.stringMatching(/^gateway\.yaml:14:5: policy\.limits\.a: limits nothing: set versions, /),
      'gateway.yaml:15:10: policy.limits.b.burst: requires requests_per_second',
      'gateway.yaml:16:10: policy.limits.c.count_by: requires requests_per_second or quota',
    ]);
  });
});

describe('matchesTextPattern', () => {
  it.each([
    ['a*c', 'abc', true],
    ['a*c', 'ac', true],
    ['a*c', 'abcd', false],
    ['*a*', 'bab', true],
    ['a*b*c', 'acbc', true],
    ['a*b*b', 'ab', false],
    ['', '', true],
    ['*', '', true],
    ['a.c', 'abc', false],
  ])('matches %j with %j: %s', (pattern, text, expected) => {
    expect(matchesTextPattern(pattern, text)).toBe(expected);
  });
});

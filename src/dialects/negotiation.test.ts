import { describe, expect, it } from 'vitest';
import type { ProtocolVersion } from '../protocol/card.ts';
import { A2AError } from '../protocol/errors.ts';
import {
  NegotiationError,
  dialectForCard,
  dialectForMethod,
  dialectForPath,
  dialectForVersion,
  parseVersionHeader,
} from './negotiation.ts';
import { v0_1 } from './v0_1/index.ts';
import { v0_3 } from './v0_3/index.ts';
import { v0_3_rest } from './v0_3_rest/index.ts';
import { v1_0 } from './v1_0/index.ts';

function refusal(act: () => unknown): NegotiationError {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof NegotiationError) return thrown;
    throw thrown;
  }
  throw new Error('nothing was refused');
}

describe('parseVersionHeader', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['  ', undefined],
    ['1.0', '1.0'],
    ['1.0.1', '1.0'],
    [' 1.0 ', '1.0'],
    ['0.3.0', '0.3'],
    ['0.2.5', '0.2'],
    ['0.1', '0.1'],
  ])('parses %j as %j', (text, version) => {
    expect(parseVersionHeader(text)).toBe(version);
  });

  it.each(['2.0', '1', '1.1', '0.3x', 'constructor', '1.0, 0.3', '0.4.0'])(
    'rejects %j with VERSION_NOT_SUPPORTED',
    (text) => {
      const error = refusal(() => parseVersionHeader(text));
      expect(error).toBeInstanceOf(A2AError);
      expect(error.reason).toBe('VERSION_NOT_SUPPORTED');
      expect(error.details.supported).toBe('1.0, 0.3, 0.2, 0.1');
      expect(error.dialect).toBe(v1_0);
    },
  );
});

describe('dialectForMethod', () => {
  it.each([...v1_0.methods])('selects 1.0 for %s with version 1.0', (method, operation) => {
    expect(dialectForMethod(method, '1.0')).toEqual({ dialect: v1_0, operation, ambiguous: false });
  });

  it.each([...v1_0.methods.keys()])('rejects %s without a version with VERSION_NOT_SUPPORTED', (method) => {
    const error = refusal(() => dialectForMethod(method, undefined));
    expect(error.reason).toBe('VERSION_NOT_SUPPORTED');
    expect(error.message).toContain('A2A-Version: 1.0');
    expect(error.dialect).toBe(v1_0);
  });

  it('selects 1.0 for its methods without a version in lenient mode', () => {
    expect(dialectForMethod('GetTask', undefined, { lenient: true })).toMatchObject({
      dialect: v1_0,
      operation: 'getTask',
    });
    expect(dialectForMethod('GetTask', '0.3', { lenient: true }).dialect).toBe(v1_0);
  });

  it.each([
    ['tasks/send', 'send'],
    ['tasks/sendSubscribe', 'stream'],
    ['tasks/pushNotification/set', 'createPushConfig'],
    ['tasks/pushNotification/get', 'getPushConfig'],
  ])('selects 0.1 for %s', (method, operation) => {
    expect(dialectForMethod(method, undefined)).toEqual({ dialect: v0_1, operation, ambiguous: false });
  });

  it.each([
    ['message/send', 'send'],
    ['message/stream', 'stream'],
    ['tasks/pushNotificationConfig/set', 'createPushConfig'],
    ['tasks/pushNotificationConfig/list', 'listPushConfigs'],
    ['agent/getAuthenticatedExtendedCard', 'extendedCard'],
  ])('selects 0.3 for %s', (method, operation) => {
    expect(dialectForMethod(method, undefined)).toEqual({ dialect: v0_3, operation, ambiguous: false });
  });

  it.each(['tasks/get', 'tasks/cancel', 'tasks/resubscribe'])(
    'marks %s as ambiguous between 0.1 and 0.3',
    (method) => {
      expect(dialectForMethod(method, undefined)).toMatchObject({ dialect: v0_3, ambiguous: true });
      expect(dialectForMethod(method, '0.1')).toMatchObject({ dialect: v0_1, ambiguous: false });
      expect(dialectForMethod(method, '0.2')).toMatchObject({ dialect: v0_3, ambiguous: false });
      expect(dialectForMethod(method, undefined, { path: '/agents/echo/v0.1' }).dialect).toBe(v0_1);
      expect(dialectForMethod(method, undefined, { path: '/agents/echo' })).toMatchObject({
        ambiguous: true,
      });
    },
  );

  it.each<[string, ProtocolVersion | undefined, string]>([
    ['message/send', '1.0', 'v1_0'],
    ['tasks/get', '1.0', 'v1_0'],
    ['GetTask', '0.3', 'v0_3'],
    ['GetTask', '0.2', 'v0_3'],
    ['tasks/send', '0.3', 'v0_3'],
    ['message/send', '0.1', 'v0_1'],
    ['tasks/nothing', undefined, 'v0_3'],
    ['constructor', undefined, 'v0_3'],
    ['__proto__', '1.0', 'v1_0'],
    ['toString', '0.1', 'v0_1'],
    ['', undefined, 'v0_3'],
  ])('rejects %j with version %s in dialect %s', (method, version, name) => {
    const error = refusal(() => dialectForMethod(method, version));
    expect(error.reason).toBe('METHOD_NOT_FOUND');
    expect(error.dialect.name).toBe(name);
  });

  it('returns the same object for each call', () => {
    const choice = dialectForMethod('SendMessage', '1.0');
    expect(dialectForMethod('SendMessage', '1.0')).toBe(choice);
    expect(Object.isFrozen(choice)).toBe(true);
  });
});

describe('dialectForPath', () => {
  it.each<[string, ProtocolVersion | undefined, string]>([
    ['/v1/message:send', undefined, 'v0_3_rest'],
    ['/v1', undefined, 'v0_3_rest'],
    ['/message:send', undefined, 'v1_0'],
    ['/v1x/tasks', undefined, 'v1_0'],
    ['/v1/tasks', '1.0', 'v1_0'],
    ['/tasks', '0.3', 'v0_3_rest'],
    ['/v1/tasks', '0.2', 'v0_3_rest'],
  ])('selects for %s with version %s: %s', (path, version, name) => {
    expect(dialectForPath(path, version).name).toBe(name);
  });

  it('rejects 0.1 with VERSION_NOT_SUPPORTED', () => {
    expect(refusal(() => dialectForPath('/tasks', '0.1')).reason).toBe('VERSION_NOT_SUPPORTED');
  });
});

describe('dialectForCard', () => {
  const url = 'https://a.test/rpc';
  const supportedInterfaces = [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
  const authentication = { schemes: ['Bearer'] };

  it.each([
    [{ supportedInterfaces }, '1.0', v1_0],
    [{ url, authentication }, '0.1', v0_1],
    [{ url, protocolVersion: '0.3.0' }, '0.3', v0_3],
    [{ url, protocolVersion: '0.3.0', authentication }, '0.3', v0_3],
    [{ url, protocolVersion: '0.2.5' }, '0.2', v0_3],
    [{ url, securitySchemes: {} }, '0.2', v0_3],
    [{ url, securitySchemes: {}, authentication }, '0.2', v0_3],
    [{ url, preferredTransport: 'JSONRPC' }, '0.2', v0_3],
  ])('detects %j as %s', (card, version, dialect) => {
    expect(dialectForCard(card)).toEqual({ version, dialect, hybrid: false, uncertain: false });
  });

  it('detects a card with url and interfaces as hybrid', () => {
    expect(dialectForCard({ url, protocolVersion: '0.3.0', supportedInterfaces })).toMatchObject({
      version: '1.0',
      hybrid: true,
    });
  });

  it('marks a card with only a url as uncertain', () => {
    expect(dialectForCard({ url, supportedInterfaces: [], authentication: null })).toEqual({
      version: 'unknown',
      dialect: v0_3,
      hybrid: false,
      uncertain: true,
    });
  });

  it.each([null, 'card', [], {}, { name: 'x' }])('returns unknown for %j', (card) => {
    expect(dialectForCard(card)).toMatchObject({ version: 'unknown', uncertain: false });
  });

  it('detects the cards that each dialect writes', () => {
    const card = v0_1.card.read(
      { name: 'x', url, version: '1', capabilities: {}, skills: [], authentication },
      { lenient: true, losses: undefined },
    );
    const known = (dialect: typeof v0_1): string => {
      const interfaces = [{ url, protocolBinding: 'JSONRPC', protocolVersion: dialect.version }];
      return dialectForCard(dialect.card.write({ ...card, interfaces })).version;
    };
    expect(known(v0_1)).toBe('0.1');
    expect(known(v0_3)).toBe('0.3');
    expect(known(v1_0)).toBe('1.0');
  });
});

it('dialectForVersion returns the JSON-RPC dialect of each version, and 0.3 without one', () => {
  expect(
    [undefined, '0.1', '0.2', '0.3', '1.0'].map((each) => dialectForVersion(each as ProtocolVersion).name),
  ).toEqual(['v0_3', 'v0_1', 'v0_3', 'v0_3', 'v1_0']);
  expect(v0_3_rest.methods.size).toBe(0);
});

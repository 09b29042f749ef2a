import { describe, expect, it } from 'vitest';
import { parseRequestProperties, buildRequestProperties } from './request-properties.ts';

describe('user properties', () => {
  it('are read as they are, and as brokers that know only text leave them', () => {
    const userConfig = { user_profile: { id: 'alice' } };
    const nested = { a2aUserConfig: userConfig, gatewayCapabilities: { a: true }, callDepth: 2 };
    const flat = {
      a2aUserConfig: JSON.stringify(userConfig),
      gatewayCapabilities: '{"a":true}',
      callDepth: '2',
    };
    for (const properties of [nested, flat]) {
      expect(parseRequestProperties(properties)).toMatchObject({
        userConfig,
        gatewayCapabilities: { a: true },
        callDepth: 2,
      });
    }
  });

  it('that make no sense count as absent', () => {
    const read = parseRequestProperties({
      a2aUserConfig: 'none',
      callDepth: 'deep',
      userId: '',
      replyTo: 'a/*',
    });
    expect(read).toMatchObject({ userConfig: {}, callDepth: 0, userId: undefined, replyTo: undefined });
  });

  it('may call the status topic by its other name', () => {
    expect(parseRequestProperties({ statusTo: 'a/b' }).statusTopic).toBe('a/b');
    expect(parseRequestProperties({ statusTo: 'a/b', a2aStatusTopic: 'c/d' }).statusTopic).toBe('c/d');
    expect(parseRequestProperties({ a2aExtensions: 'urn:a, urn:b' }).extensions).toEqual(['urn:a', 'urn:b']);
  });

  it('are written without what nobody asked for', () => {
    expect(buildRequestProperties({ clientId: 'g', userId: 'u', timestamp: 1 })).toEqual({
      clientId: 'g',
      userId: 'u',
      timestamp: 1,
    });
  });
});

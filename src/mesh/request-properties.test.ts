import { describe, expect, it } from 'vitest';
import { parseRequestProperties, buildRequestProperties } from './request-properties.ts';

describe('request properties', () => {
  it('parses properties from values and from their text form', () => {
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

  it('returns undefined or an empty value for invalid properties', () => {
    const parsed = parseRequestProperties({
      a2aUserConfig: 'none',
      callDepth: 'deep',
      userId: '',
      replyTo: 'a/*',
    });
    expect(parsed).toMatchObject({ userConfig: {}, callDepth: 0, userId: undefined, replyTo: undefined });
  });

  it('accepts statusTo as an alias of a2aStatusTopic', () => {
    expect(parseRequestProperties({ statusTo: 'a/b' }).statusTopic).toBe('a/b');
    expect(parseRequestProperties({ statusTo: 'a/b', a2aStatusTopic: 'c/d' }).statusTopic).toBe('c/d');
    expect(parseRequestProperties({ a2aExtensions: 'urn:a, urn:b' }).extensions).toEqual(['urn:a', 'urn:b']);
  });

  it('omits optional properties without a value', () => {
    expect(buildRequestProperties({ clientId: 'g', userId: 'u', timestamp: 1 })).toEqual({
      clientId: 'g',
      userId: 'u',
      timestamp: 1,
    });
  });
});

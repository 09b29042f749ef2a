import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { Document } from '../../documents/document.ts';
import type { Fault } from './fault.ts';
import { faultSchema } from './fault-schema.ts';

const parse = (yaml: string): Fault => Document.parse(yaml, 'faults.yaml').check(faultSchema);

describe('faultSchema', () => {
  it.each<[string, Fault]>([
    [
      '{ http: { status: 503, headers: { x-why: night }, body: { error: asleep } } }',
      { kind: 'http', status: 503, headers: { 'x-why': 'night' }, body: { error: 'asleep' } },
    ],
    ['unauthorized', { kind: 'unauthorized', times: 1 }],
    [
      '{ unauthorized: { times: 2, challenge: Bearer realm="x" } }',
      { kind: 'unauthorized', times: 2, challenge: 'Bearer realm="x"' },
    ],
    ['{ unauthorized: {}, times: 3 }', { kind: 'unauthorized', times: 3 }],
    ['rate_limit', { kind: 'rate-limit', retryAfter: 1 }],
    ['{ rate_limit: { retry_after: 2, times: 1 } }', { kind: 'rate-limit', retryAfter: 2, times: 1 }],
    ['redirect', { kind: 'redirect', status: 307 }],
    [
      '{ redirect: { status: 302, location: /elsewhere } }',
      { kind: 'redirect', status: 302, location: '/elsewhere' },
    ],
    ['{ delay: 500ms }', { kind: 'delay', duration: 500 }],
    ['{ delay: 1.5s }', { kind: 'delay', duration: 1_500 }],
    ['{ delay: 250 }', { kind: 'delay', duration: 250 }],
    ['{ delay: { min: 1s, max: 2m } }', { kind: 'delay', duration: { min: 1_000, max: 120_000 } }],
    ['{ delay: { mean: 1s, deviation: 100 } }', { kind: 'delay', duration: { mean: 1_000, deviation: 100 } }],
    ['{ content_type: text/html }', { kind: 'content-type', type: 'text/html' }],
    ['bad_utf8', { kind: 'bad-utf8' }],
    ['{ oversize: { bytes: 1000000 } }', { kind: 'oversize', bytes: 1_000_000 }],
    ['half_frame', { kind: 'half-frame' }],
    ['{ disconnect: { after: 3 } }', { kind: 'disconnect', after: 3 }],
    ['{ disconnect: }', { kind: 'disconnect' }],
    ['early_end', { kind: 'early-end' }],
    ['stall', { kind: 'stall' }],
    ['{ heartbeats: { after: 1, every: 10s } }', { kind: 'heartbeats', after: 1, every: 10_000 }],
    ['{ duplicate: { event: 2 } }', { kind: 'duplicate', event: 2 }],
    ['reorder', { kind: 'reorder' }],
    ['wrong_append', { kind: 'wrong-append' }],
    ['after_terminal', { kind: 'after-terminal' }],
    ['reset', { kind: 'reset' }],
    ['{ refuse: { for: 2s } }', { kind: 'refuse', duration: 2_000 }],
    ['refuse', { kind: 'refuse' }],
    ['{ card: { override: { name: liar } } }', { kind: 'card', on: 'card', override: { name: 'liar' } }],
    ['{ delay: 3s, on: card }', { kind: 'delay', duration: 3_000, on: 'card' }],
    [
      '{ disconnect: { after: 1 }, probability: 0.3, times: 5 }',
      { kind: 'disconnect', after: 1, probability: 0.3, times: 5 },
    ],
  ])('parses %s', (yaml, fault) => {
    expect(parse(yaml)).toEqual(fault);
  });

  it.each([
    ['disconect', 'expected'],
    ['{ disconect: {} }', 'disconect: unknown key'],
    ['{ disconnect: { afer: 1 } }', 'disconnect.afer: unknown key'],
    ['{ disconnect: { after: -1 } }', 'disconnect.after'],
    ['{ disconnect: {}, early_end: {} }', 'expected exactly one of'],
    ['{ probability: 0.5 }', 'expected exactly one of'],
    ['{ disconnect: {}, probability: 30 }', 'probability'],
    ['{ delay: soon }', 'delay: expected a number of milliseconds, or a duration such as 500ms'],
    ['{ delay: { min: 2s, max: 1s } }', 'min must not be larger than max'],
    ['oversize', 'expected'],
    ['{ http: { status: 99 } }', 'http.status'],
  ])('reports an error with line and column for %s', (yaml, message) => {
    expect(() => parse(yaml)).toThrow(message);
    expect(() => parse(yaml)).toThrow(/^faults\.yaml:1:\d+: /);
  });

  it('converts to a JSON Schema', () => {
    const schema = JSON.stringify(z.toJSONSchema(faultSchema, { io: 'input' }));
    for (const key of ['wrong_append', 'half_frame', 'retry_after', 'deviation'])
      expect(schema).toContain(key);
  });
});

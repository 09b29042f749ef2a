import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { Document } from '../../documents/document.ts';
import type { Fault } from './fault.ts';
import { faultSchema } from './fault-schema.ts';

const read = (yaml: string): Fault => Document.parse(yaml, 'faults.yaml').check(faultSchema);

describe('a fault in a file', () => {
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
    ['{ cut: { after: 3 } }', { kind: 'cut', after: 3 }],
    ['{ cut: }', { kind: 'cut' }],
    ['stop', { kind: 'stop' }],
    ['silence', { kind: 'silence' }],
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
    ['{ cut: { after: 1 }, chance: 0.3, times: 5 }', { kind: 'cut', after: 1, chance: 0.3, times: 5 }],
  ])('%s', (yaml, fault) => {
    expect(read(yaml)).toEqual(fault);
  });
});

describe('a mistake in a file', () => {
  it.each([
    ['cutt', 'expected'],
    ['{ cutt: {} }', 'cutt: unknown key'],
    ['{ cut: { afer: 1 } }', 'cut.afer: unknown key'],
    ['{ cut: { after: -1 } }', 'cut.after'],
    ['{ cut: {}, stop: {} }', 'a fault is one of'],
    ['{ chance: 0.5 }', 'a fault is one of'],
    ['{ cut: {}, chance: 30 }', 'chance'],
    ['{ delay: soon }', 'delay: expected a number of milliseconds, or a duration such as 500ms'],
    ['{ delay: { min: 2s, max: 1s } }', 'min may not be larger than max'],
    ['oversize', 'expected'],
    ['{ http: { status: 99 } }', 'http.status'],
  ])('%s is explained', (yaml, complaint) => {
    expect(() => read(yaml)).toThrow(complaint);
    expect(() => read(yaml)).toThrow(/^faults\.yaml:1:\d+: /);
  });
});

it('has a JSON Schema, which knows the words', () => {
  const schema = JSON.stringify(z.toJSONSchema(faultSchema, { io: 'input' }));
  for (const word of ['wrong_append', 'half_frame', 'retry_after', 'deviation'])
    expect(schema).toContain(word);
});

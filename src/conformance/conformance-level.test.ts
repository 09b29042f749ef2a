import { describe, expect, it } from 'vitest';
import { ruleArea, type CheckedVariant, computeLevel } from './conformance-level.ts';
import type { ConformanceRule, RuleResult } from './rule-model.ts';

const variants: CheckedVariant[] = [
  { version: '1.0', transport: 'JSONRPC' },
  { version: '1.0', transport: 'HTTP+JSON' },
];

function result(
  id: string,
  verdict: RuleResult['verdict'],
  more: Partial<RuleResult & ConformanceRule> = {},
): RuleResult {
  const { level = 'MUST', category = 'lifecycle', version = '1.0' } = more;
  const rule = { id, requirements: [], section: '1', level, category, sentence: '', remedy: '' };
  const transport = 'transport' in more ? more.transport : 'JSONRPC';
  return { rule, version, transport, verdict, message: '', violations: [], observations: 1, milliseconds: 0 };
}

const passing = [result('card.members', 'pass', { transport: undefined }), result('send.answers', 'pass')];

describe('computeLevel', () => {
  it.each([
    ['full', 'every applicable rule passes', [result('push.delivers', 'not-applicable')]],
    ['full', 'only a SHOULD is violated', [result('send.x', 'warn', { level: 'SHOULD' })]],
    ['full', 'only a SHOULD is inconclusive', [result('send.x', 'inconclusive', { level: 'SHOULD' })]],
    ['partial', 'a MUST is inconclusive', [result('cancel.running', 'inconclusive')]],
    ['partial', 'the suite fails in a MUST', [result('cancel.running', 'error')]],
    [
      'partial',
      'a MUST of streaming is violated',
      [result('subscribe.two', 'fail', { category: 'streaming' })],
    ],
    ['partial', 'a MUST of push notifications is violated', [result('push.delivers', 'fail')]],
    [
      'partial',
      'a MUST is violated over a second transport',
      [result('send.answers', 'fail', { transport: 'HTTP+JSON' })],
    ],
    ['partial', 'a MUST is violated over gRPC', [result('grpc.status', 'fail', { transport: 'GRPC' })]],
    ['partial', 'a MUST is violated in an older version', [result('get.known', 'fail', { version: '0.3' })]],
    ['minimal', 'another MUST of the core is violated', [result('cancel.running', 'fail')]],
    ['non-conformant', 'the card is invalid', [result('card.skills', 'fail', { transport: undefined })]],
    ['non-conformant', 'a MUST of send is violated', [result('send.answers', 'fail')]],
    ['non-conformant', 'a MUST of get is violated', [result('get.known', 'fail')]],
  ])('returns %s if %s', (level, _what, more) => {
    expect(computeLevel([...passing, ...more], variants)).toBe(level);
  });

  it('returns non-conformant if no rule passes', () => {
    expect(computeLevel([], [])).toBe('non-conformant');
    expect(computeLevel([result('send.answers', 'inconclusive')], variants)).toBe('non-conformant');
  });

  it('returns minimal if a MUST is violated over gRPC, which the card prefers', () => {
    const results = [
      result('send.answers', 'pass', { transport: 'GRPC' }),
      result('grpc.status', 'fail', { transport: 'GRPC' }),
    ];
    expect(computeLevel(results, [{ version: '1.0', transport: 'GRPC' }, ...variants])).toBe('minimal');
  });

  it('treats rules of older versions as part of their family', () => {
    const old: CheckedVariant[] = [{ version: '0.3', transport: 'JSONRPC' }];
    const results = [
      result('send.answers', 'pass', { version: '0.3' }),
      result('card-0.3.shape', 'fail', { version: '0.3', transport: undefined }),
    ];
    expect(computeLevel(results, old)).toBe('non-conformant');
  });
});

describe('ruleArea', () => {
  it.each([
    ['send.answers', 'send'],
    ['card-0.3.fields', 'card-0.3'],
    ['0.3.event', '0.3'],
    ['in-task-auth.x', 'in-task-auth'],
  ])('returns the area of %s: %s', (id, area) => {
    expect(ruleArea(id)).toBe(area);
  });
});

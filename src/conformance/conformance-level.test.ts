import { describe, expect, it } from 'vitest';
import { ruleArea, type ProtocolVariant, computeLevel } from './conformance-level.ts';
import type { ConformanceRule, RuleResult } from './rule-model.ts';

const variants: ProtocolVariant[] = [
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

const fine = [result('card.members', 'pass', { transport: undefined }), result('send.answers', 'pass')];

describe('the level', () => {
  it.each([
    ['full', 'everything that applies holds', [result('push.delivers', 'not-applicable')]],
    ['full', 'only recommendations are ignored', [result('send.x', 'warn', { level: 'SHOULD' })]],
    ['full', 'only a recommendation stayed open', [result('send.x', 'inconclusive', { level: 'SHOULD' })]],
    ['partial', 'a MUST stayed open', [result('cancel.running', 'inconclusive')]],
    ['partial', 'the suite failed at a MUST', [result('cancel.running', 'error')]],
    ['partial', 'streams are broken', [result('subscribe.two', 'fail', { category: 'streaming' })]],
    ['partial', 'push notifications are broken', [result('push.delivers', 'fail')]],
    ['partial', 'a second transport is broken', [result('send.answers', 'fail', { transport: 'HTTP+JSON' })]],
    ['partial', 'an older version is broken', [result('get.known', 'fail', { version: '0.3' })]],
    ['minimal', 'another MUST of the core is broken', [result('cancel.running', 'fail')]],
    ['non-conformant', 'the card is not valid', [result('card.skills', 'fail', { transport: undefined })]],
    ['non-conformant', 'sending is broken', [result('send.answers', 'fail')]],
    ['non-conformant', 'getting is broken', [result('get.known', 'fail')]],
  ])('is %s when %s', (level, _what, more) => {
    expect(computeLevel([...fine, ...more], variants)).toBe(level);
  });

  it('is non-conformant when nothing was ever seen to hold', () => {
    expect(computeLevel([], [])).toBe('non-conformant');
    expect(computeLevel([result('send.answers', 'inconclusive')], variants)).toBe('non-conformant');
  });

  it('knows a rule of an older version by its family', () => {
    const old: ProtocolVariant[] = [{ version: '0.3', transport: 'JSONRPC' }];
    const results = [
      result('send.answers', 'pass', { version: '0.3' }),
      result('card-0.3.shape', 'fail', { version: '0.3', transport: undefined }),
    ];
    expect(computeLevel(results, old)).toBe('non-conformant');
  });
});

describe('the area of a rule', () => {
  it.each([
    ['send.answers', 'send'],
    ['card-0.3.fields', 'card-0.3'],
    ['0.3.event', '0.3'],
    ['in-task-auth.x', 'in-task-auth'],
  ])('of %s is %s', (id, area) => {
    expect(ruleArea(id)).toBe(area);
  });
});

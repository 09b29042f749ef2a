import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../../seeded-random.ts';
import { sampleScope } from './sample-scope.ts';
import type { TemplateScope } from './template-scope.ts';
import { Template } from './template.ts';

const sample = sampleScope();
const scope: TemplateScope = {
  ...sample,
  incoming: {
    ...sample.incoming,
    text: 'Grüße',
    message: {
      messageId: 'm-1',
      role: 'user',
      parts: [
        { text: 'Grüße' },
        { data: { order: { items: [{ sku: 'A1' }], total: 3 }, ['__proto__']: 1 } },
        { raw: 'AA==', filename: 'a.png', mediaType: 'image/png' },
      ],
      metadata: { kind: 'test' },
    },
    metadata: { trace: 7 },
    headers: { 'x-env': 'test', accept: ['a', 'b'] },
    principal: { id: 'alice', issuer: 'https://i.test', claims: { team: 'blue' } },
    task: { id: 't', contextId: 'c', status: { state: 'input-required' } },
    skill: 'book',
    version: '1.0',
    transport: 'JSONRPC',
    turn: 2,
  },
  moment: { taskId: 'task-1', contextId: 'context-1', now: Date.UTC(2026, 0, 2, 3, 4, 5) },
  state: new Map<string, unknown>([
    ['mood', 'calm'],
    ['deep', { er: [1, 2] }],
  ]),
  match: /(?<first>\w)(\w)/.exec('xy') ?? undefined,
};

/** What a template makes, or what is wrong with it. */
function filled(text: string, within: TemplateScope = scope): string {
  const complaints: string[] = [];
  const template = Template.parse(text, true, (message) => complaints.push(message));
  return complaints.length > 0 ? `! ${complaints.join('; ')}` : template.text(within);
}

describe('a template', () => {
  it.each([
    ['no braces } { at {all}', 'no braces } { at {all}'],
    ['{{message.text}}, {{ message.id }}', 'Grüße, m-1'],
    ['{{message.data.order.items[0].sku}}', 'A1'],
    ['{{message.data.order}}', '{"items":[{"sku":"A1"}],"total":3}'],
    ['{{message.file.name}} {{message.file.media_type}} {{message.file.url}}', 'a.png image/png '],
    ['{{message.metadata.kind}} {{request.metadata.trace}}', 'test 7'],
    ['{{task.id}} {{task.state}} {{context.id}}', 'task-1 input-required context-1'],
    ['{{turn}} {{skill}} {{version}} {{transport}} {{operation}}', '2 book 1.0 JSONRPC send'],
    ['{{state.mood}} {{state.deep.er[1]}} {{state.none}}', 'calm 2 '],
    ['{{header.X-Env}} {{header.accept}} {{header.none}}', 'test a, b '],
    ['{{principal.id}} {{principal.issuer}} {{principal.claims.team}}', 'alice https://i.test blue'],
    ['{{match.0}} {{match.1}} {{match.first}} {{match.9}}', 'xy x x '],
    ['{{now}} {{now iso}}', '2026-01-02T03:04:05.000Z 2026-01-02T03:04:05.000Z'],
    ['{{now unix}} {{now ms}}', '1767323045 1767323045000'],
    ['{{now +2h}} {{now -1m unix}}', '2026-01-02T05:04:05.000Z 1767322985'],
    ['{{"{{"}} {{\'}}\'}}', '{{ }}'],
    ['{{message.text | upper}} {{message.text | lower | upper}}', 'GRÜSSE GRÜSSE'],
    ['{{" a " | trim}}|{{message.text | base64}}|{{"a b/ü" | url}}', 'a|R3LDvMOfZQ==|a%20b%2F%C3%BC'],
    ['{{message.text | json}} {{state.deep | json}} {{state.none | json}}', '"Grüße" {"er":[1,2]} null'],
    ['{{message.text | length}} {{state.deep.er | length}}', '5 2'],
    ['{{state.none | default "not set"}} {{state.mood | default x}}', 'not set calm'],
    ['{{turn | add 1}} {{state.none | add 1}} {{state.mood | add -1.5}}', '3 1 -1.5'],
    ['{{message.text | first 3}}', 'Gr…'],
  ])('%s', (text, expected) => {
    expect(filled(text)).toBe(expected);
  });

  it.each([
    ['{{__proto__}}', 'there is no __proto__'],
    ['{{constructor}}', 'there is no constructor'],
    ['{{message.constructor}}', 'message.constructor: has to be followed by one of .text, .id'],
    ['{{message}}', 'message: has to be followed by one of'],
    ['{{message.text.length}}', 'message.text.length: nothing is inside of it'],
    ['{{turn.x}}', 'nothing is inside of it'],
    ['{{state}}', 'has to be followed by a name'],
    ['{{message.txt}}', 'one of .text'],
    ['{{}}', '{{}} says nothing'],
    ['{{ | upper}}', 'says nothing'],
    ['{{message.text upper}}', 'use | before a filter'],
    ['{{"a" b}}', 'a text takes nothing behind it'],
    ['{{message.text | shout}}', 'there is no filter shout; there are upper'],
    ['{{message.text | }}', 'there is no filter (nothing)'],
    ['{{message.text | default}}', 'the filter default takes one word'],
    ['{{message.text | upper 1}}', 'the filter upper takes no word'],
    ['{{turn | add x}}', 'the filter add takes a number'],
    ['{{now yesterday}}', 'write it as now'],
    ['{{random 6 1}}', 'write it as random 1 6'],
    ['{{random 1}}', 'write it as random 1 6'],
    ['{{pick}}', 'write it as pick'],
    ['{{message.text', 'a {{ has no }} that closes it'],
    ['{{a(b)}}', 'there is no a(b)'],
  ])('%s is complained about when it is read', (text, complaint) => {
    expect(filled(text)).toMatch(/^! /);
    expect(filled(text)).toContain(complaint);
  });

  it.each([
    '{{message.data.__proto__.constructor}}',
    '{{message.data.constructor.name}}',
    '{{message.data.order.items.length}}',
    '{{message.data.order.items.__proto__}}',
    '{{message.file.constructor}}',
    '{{message.metadata.__proto__}}',
    '{{state.constructor}}',
    '{{state.mood.length}}',
    '{{header.__proto__}}',
    '{{header.constructor}}',
    '{{match.constructor}}',
    '{{match.length}}',
    '{{match.__proto__}}',
    '{{principal.claims.toString}}',
  ])('%s finds nothing that was not said', (text) => {
    expect(filled(text)).toBe('');
  });

  it('speaks of a match only where there is one', () => {
    const complaints: string[] = [];
    Template.parse('{{match.1}}', false, (message) => complaints.push(message));
    expect(complaints).toEqual([expect.stringContaining('there is no regex in when.text')]);
  });

  it('keeps the kind of a value when it is nothing else', () => {
    const value = (text: string): unknown => Template.parse(text, true, () => {}).value(scope);
    expect([value('{{turn}}'), value('{{state.deep}}'), value('{{state.none}}')]).toEqual([
      2,
      { er: [1, 2] },
      undefined,
    ]);
    expect([value(' {{turn}}'), value('{{turn}}{{turn}}')]).toEqual([' 2', '22']);
  });

  it('draws the same from the same seed', () => {
    const drawn = (seed: number): string => {
      const drawing = { ...scope, random: createSeededRandom(seed) };
      return filled('{{uuid}} {{random 1 6}} {{random 1 6}} {{random 1 6}} {{pick a "b c" d}}', drawing);
    };
    expect(drawn(1)).toBe(drawn(1));
    expect(drawn(1)).not.toBe(drawn(2));
    for (let seed = 0; seed < 50; seed++)
      expect(drawn(seed)).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}( [1-6]){3} (a|b c|d)$/,
      );
  });

  it('makes no text longer than it may', () => {
    const long = { ...scope, maxLength: 10, incoming: { ...scope.incoming, text: 'x'.repeat(1_000) } };
    expect(filled('{{message.text}}{{message.text}}', long)).toBe('xxxxxxxxx…');
    expect(Template.parse('{{message.text}}', true, () => {}).value(long)).toBe('xxxxxxxxx…');
  });

  it('says what a caller wrote and never looks into it', () => {
    const hostile = '{{task.id}} ${1+1} <%= 1 %> {{"a"}}';
    const heard = { ...scope, incoming: { ...scope.incoming, text: hostile } };
    expect(filled('You said {{message.text}}', heard)).toBe(`You said ${hostile}`);
  });

  it('never throws and never runs anything, whatever stands in it', () => {
    const words = fc.constantFrom(
      ...(
        'message text data state __proto__ constructor prototype match header now random pick uuid {{ }} | . [0] ' +
        `" ' 1 -1 +1h +99999999h upper json base64 url length default add first globalThis.broken=1 ()`
      ).split(' '),
      ' ',
    );
    const source = fc.array(fc.oneof({ weight: 4, arbitrary: words }, fc.string()), { maxLength: 12 });
    const asked = fc.tuple(source, fc.string({ unit: 'binary' }), fc.jsonValue());
    fc.assert(
      fc.property(asked, ([pieces, text, data]) => {
        const { incoming } = scope;
        const message = { ...incoming.message, parts: [{ text }, { data }] };
        const heard = { ...scope, maxLength: 500, incoming: { ...incoming, text, message } };
        const written = `{{${pieces.join('')}}}`;
        const template = Template.parse(written, true, () => {});
        expect(template.text(heard).length).toBeLessThanOrEqual(500);
        expect(typeof template.value(heard)).not.toBe('function');
        expect('broken' in globalThis).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });
});

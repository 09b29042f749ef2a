import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../../seeded-random.ts';
import { sampleScope } from './sample-scope.ts';
import type { TemplateScope } from './template-scope.ts';
import { Template } from './template.ts';

const sample = sampleScope();
const scope: TemplateScope = {
  ...sample,
  received: {
    ...sample.received,
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
  playback: { taskId: 'task-1', contextId: 'context-1', now: Date.UTC(2026, 0, 2, 3, 4, 5) },
  state: new Map<string, unknown>([
    ['mood', 'calm'],
    ['deep', { er: [1, 2] }],
  ]),
  match: /(?<first>\w)(\w)/.exec('xy') ?? undefined,
};

/** Renders a template, or returns its errors after `! `. */
function render(text: string, templateScope: TemplateScope = scope): string {
  const errors: string[] = [];
  const template = Template.parse(text, true, (message) => errors.push(message));
  return errors.length > 0 ? `! ${errors.join('; ')}` : template.text(templateScope);
}

describe('Template', () => {
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
  ])('renders %s', (text, expected) => {
    expect(render(text)).toBe(expected);
  });

  it.each([
    ['{{__proto__}}', 'unknown variable __proto__'],
    ['{{constructor}}', 'unknown variable constructor'],
    ['{{message.constructor}}', 'message.constructor: must be followed by one of .text, .id'],
    ['{{message}}', 'message: must be followed by one of'],
    ['{{message.text.length}}', 'message.text.length: has no members'],
    ['{{turn.x}}', 'has no members'],
    ['{{state}}', 'must be followed by a name'],
    ['{{message.txt}}', 'one of .text'],
    ['{{}}', '{{}} is empty'],
    ['{{ | upper}}', 'is empty'],
    ['{{message.text upper}}', 'use | before a filter'],
    ['{{"a" b}}', 'a string has no arguments'],
    ['{{message.text | shout}}', 'unknown filter shout; available filters: upper'],
    ['{{message.text | }}', 'unknown filter (empty)'],
    ['{{message.text | default}}', 'the filter default takes one argument'],
    ['{{message.text | upper 1}}', 'the filter upper takes no argument'],
    ['{{turn | add x}}', 'the filter add takes a number'],
    ['{{now yesterday}}', 'must have the form now'],
    ['{{random 6 1}}', 'must have the form random 1 6'],
    ['{{random 1}}', 'must have the form random 1 6'],
    ['{{pick}}', 'must have the form pick'],
    ['{{message.text', 'missing }} after {{'],
    ['{{a(b)}}', 'unknown variable a(b)'],
  ])('reports an error for %s', (text, error) => {
    expect(render(text)).toMatch(/^! /);
    expect(render(text)).toContain(error);
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
  ])('does not access inherited properties: %s', (text) => {
    expect(render(text)).toBe('');
  });

  it('rejects match without a regular expression', () => {
    const errors: string[] = [];
    Template.parse('{{match.1}}', false, (message) => errors.push(message));
    expect(errors).toEqual([expect.stringContaining('match needs a regex in when.text')]);
  });

  it('keeps the type of a single expression', () => {
    const value = (text: string): unknown => Template.parse(text, true, () => {}).value(scope);
    expect([value('{{turn}}'), value('{{state.deep}}'), value('{{state.none}}')]).toEqual([
      2,
      { er: [1, 2] },
      undefined,
    ]);
    expect([value(' {{turn}}'), value('{{turn}}{{turn}}')]).toEqual([' 2', '22']);
  });

  it('produces the same random values with the same seed', () => {
    const renderRandom = (seed: number): string => {
      const seededScope = { ...scope, random: createSeededRandom(seed) };
      return render('{{uuid}} {{random 1 6}} {{random 1 6}} {{random 1 6}} {{pick a "b c" d}}', seededScope);
    };
    expect(renderRandom(1)).toBe(renderRandom(1));
    expect(renderRandom(1)).not.toBe(renderRandom(2));
    for (let seed = 0; seed < 50; seed++)
      expect(renderRandom(seed)).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}( [1-6]){3} (a|b c|d)$/,
      );
  });

  it('truncates the result at maxLength', () => {
    const long = { ...scope, maxLength: 10, received: { ...scope.received, text: 'x'.repeat(1_000) } };
    expect(render('{{message.text}}{{message.text}}', long)).toBe('xxxxxxxxx…');
    expect(Template.parse('{{message.text}}', true, () => {}).value(long)).toBe('xxxxxxxxx…');
  });

  it('does not evaluate templates in the message text', () => {
    const hostile = '{{task.id}} ${1+1} <%= 1 %> {{"a"}}';
    const messageScope = { ...scope, received: { ...scope.received, text: hostile } };
    expect(render('You said {{message.text}}', messageScope)).toBe(`You said ${hostile}`);
  });

  it('never throws and never executes code for arbitrary input', () => {
    const words = fc.constantFrom(
      ...(
        'message text data state __proto__ constructor prototype match header now random pick uuid {{ }} | . [0] ' +
        `" ' 1 -1 +1h +99999999h upper json base64 url length default add first globalThis.broken=1 ()`
      ).split(' '),
      ' ',
    );
    const source = fc.array(fc.oneof({ weight: 4, arbitrary: words }, fc.string()), { maxLength: 12 });
    const inputs = fc.tuple(source, fc.string({ unit: 'binary' }), fc.jsonValue());
    fc.assert(
      fc.property(inputs, ([pieces, text, data]) => {
        const { received } = scope;
        const message = { ...received.message, parts: [{ text }, { data }] };
        const messageScope = { ...scope, maxLength: 500, received: { ...received, text, message } };
        const templateText = `{{${pieces.join('')}}}`;
        const template = Template.parse(templateText, true, () => {});
        expect(template.text(messageScope).length).toBeLessThanOrEqual(500);
        expect(typeof template.value(messageScope)).not.toBe('function');
        expect('broken' in globalThis).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });
});

import { describe, expect, it } from 'vitest';
import { openScriptedConversation } from '../../../../test/support/testkit/scripted-conversation.ts';
import type { Task, TaskState } from '../../../protocol/task.ts';
import type { ReceivedMessage } from '../../agent/response-plan.ts';
import type { Part } from '../../../protocol/part.ts';

type MessageInput = Partial<ReceivedMessage> & { text?: string; parts?: Part[]; messageId?: string };

const taskIn = (state: TaskState): Task => ({ id: 't', contextId: 'c', status: { state } });
const png: Part = { raw: 'AA==', filename: 'a.png', mediaType: 'image/png; x=y' };
const order: Part = { data: { order: { items: [{ sku: 'A1' }], total: 3 } } };

/** A condition, a matching message, another message, and its mismatch. */
const cases: [when: string, matching: MessageInput, other: MessageInput, mismatch: string][] = [
  ['text: hi', { text: 'hi' }, { text: 'Hi' }, 'text: expected "hi", was "Hi"'],
  [
    'text: { exact: hi, ignore_case: true }',
    { text: 'HI' },
    { text: 'ho' },
    'text: expected "hi" (ignoring case), was "ho"',
  ],
  ['text: { contains: b }', { text: 'abc' }, { text: 'B' }, 'text: expected to contain "b", was "B"'],
  ['text: { prefix: a }', { text: 'abc' }, { text: 'ba' }, 'text: expected to start with "a", was "ba"'],
  [
    'text: { regex: "^a.c$" }',
    { text: 'abc' },
    { text: 'abd' },
    'text: expected to match /^a.c$/, was "abd"',
  ],
  [
    String.raw`text: { regex: '^\p{L}+.$' }`,
    { text: 'Çağrı😀' },
    { text: '12' },
    String.raw`text: expected to match /^\p{L}+.$/, was "12"`,
  ],
  [
    String.raw`text: { regex: '^a\-b$' }`,
    { text: 'a-b' },
    { text: 'ab' },
    String.raw`text: expected to match /^a\-b$/, was "ab"`,
  ],
  [
    'text: { contains: b, prefix: a }',
    { text: 'ab' },
    { text: 'cb' },
    'text: expected to contain "b" and to start with "a", was "cb"',
  ],
  [
    'message_id: { prefix: tck- }',
    { messageId: 'tck-1' },
    { messageId: '1' },
    'message_id: expected to start with "tck-", was "1"',
  ],
  [
    'data: { path: "order.items[0].sku", equals: A1 }',
    { parts: [{ text: '' }, { data: 1 }, order] },
    { parts: [{ data: { order: { items: [{ sku: 'B' }] } } }] },
    'data order.items[0].sku: expected "A1", was "B"',
  ],
  [
    'data: { path: order, exists: true }',
    { parts: [order] },
    { parts: [{ data: {} }] },
    'data order: expected to exist, was missing',
  ],
  [
    'data: { path: constructor.name, exists: false }',
    { parts: [order] },
    { parts: [{ data: { constructor: { name: 'x' } } }] },
    'data constructor.name: expected to be missing, was "x"',
  ],
  [
    'data: { path: order.items.length, exists: false }',
    { parts: [order] },
    { parts: [{ data: { order: { items: { length: 1 } } } }] },
    'data order.items.length: expected to be missing, was 1',
  ],
  [
    'data: { path: name, text: { prefix: a } }',
    { parts: [{ data: { name: 'ab' } }] },
    { parts: [{ data: { name: 1 } }] },
    'data name: expected to start with "a", was 1',
  ],
  [
    'data: { schema: { required: [order], properties: { order: { properties: { total: { type: integer } } } } } }',
    { parts: [order] },
    { parts: [{ data: { order: { total: 'x' } } }] },
    expect.stringMatching(
      /^data: expected to match the schema \{"required".*, was \{"order":\{"total":"x"\}\}$/,
    ) as string,
  ],
  [
    'data: [{ path: a, equals: 1 }, { path: b, equals: 2 }]',
    { parts: [{ data: { a: 1 } }, { data: { b: 2 } }] },
    { parts: [{ data: { a: 1 } }] },
    'data b: expected 2, was missing',
  ],
  [
    'metadata: { path: test.id, equals: 7 }',
    { metadata: { test: { id: 7 } } },
    { metadata: undefined },
    'metadata test.id: expected 7, was missing',
  ],
  [
    'file: { media_type: image/* }',
    { parts: [png] },
    { parts: [{ url: 'https://a.test', mediaType: 'text/plain' }] },
    'file: expected a file of type image/*, was missing of type text/plain',
  ],
  [
    'file: { media_type: image/png, name: { prefix: a }, content: bytes }',
    { parts: [png] },
    { parts: [{ text: '' }] },
    'file: expected a file of type image/png with a name to start with "a" with bytes content, was none',
  ],
  ['skill: book', { skill: 'book' }, { skill: 'x' }, 'skill: expected "book", was "x"'],
  ['skill: { present: false }', {}, { skill: 'x' }, 'skill: expected to be missing, was "x"'],
  [
    'header: { X-Env: test }',
    { headers: { 'x-env': 'test' } },
    { headers: { 'x-env': ['a', 'b'] } },
    'header X-Env: expected "test", was "a, b"',
  ],
  [
    'header: { constructor: { present: false } }',
    {},
    { headers: { constructor: 'x' } },
    'header constructor: expected to be missing, was "x"',
  ],
  ['principal: alice', { principal: { id: 'alice' } }, {}, 'principal: expected "alice", was missing'],
  ['version: "0.3"', { version: '0.3' }, { version: '1.0' }, 'version: expected 0.3, was 1.0'],
  [
    'version: ["0.3", "1.0"]',
    { version: '1.0' },
    { version: '0.1' },
    'version: expected 0.3 or 1.0, was 0.1',
  ],
  ['transport: HTTP+JSON', { transport: 'HTTP+JSON' }, {}, 'transport: expected HTTP+JSON, was JSONRPC'],
  ['operation: stream', { operation: 'stream' }, {}, 'operation: expected stream, was send'],
  ['turn: 1', { turn: 1 }, { turn: 2 }, 'turn: expected 1, was 2'],
  ['turn: { from: 1 }', { turn: 9 }, { turn: 0 }, 'turn: expected 1 to any, was 0'],
  ['turn: { from: 1, to: 2 }', { turn: 2 }, { turn: 3 }, 'turn: expected 1 to 2, was 3'],
  [
    'task_state: input-required',
    { task: taskIn('input-required') },
    { task: taskIn('working') },
    'task_state: expected input-required, was working',
  ],
  ['task_state: none', {}, { task: taskIn('working') }, 'task_state: expected none, was working'],
  ['state: { mood: null }', {}, { contextId: 'angry' }, 'state mood: expected not to be set, was "angry"'],
  ['state: { mood: angry }', { contextId: 'angry' }, {}, 'state mood: expected "angry", was missing'],
];

describe('compileConditions', () => {
  it.each(cases)(
    'matches %s and reports the mismatch of other messages',
    (when, matching, other, mismatch) => {
      const conversation = openScriptedConversation(`
rules:
  - { name: prepares, when: { text: prepare }, times: 1, then: [{ set: { mood: angry } }] }
  - name: tried
    when: { ${when} }
    then: [{ complete: matched }]
`);
      conversation.send('prepare', { contextId: 'angry' });
      const { text: matchingText = 'x', ...matchingRest } = matching;
      expect(conversation.decide(matchingText, matchingRest).plan?.origin).toMatch(/^rule tried /);
      const { text = 'x', ...otherRest } = other;
      const nearMiss = conversation.decide(text, otherRest).nearMisses?.find((each) => each.rule === 'tried');
      expect(nearMiss?.mismatches).toEqual([mismatch]);
    },
  );

  it('requires all conditions', () => {
    const conversation = openScriptedConversation('rules:\n  - { when: { text: a, turn: 1 }, then: [] }\n');
    expect(conversation.decide('a', { turn: 1 }).plan).toBeDefined();
    expect(conversation.decide('a').plan).toBeUndefined();
    expect(conversation.decide('b', { turn: 1 }).plan).toBeUndefined();
  });
});

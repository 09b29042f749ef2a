import { describe, expect, it } from 'vitest';
import { openScriptedConversation } from '../../../test/support/testkit/scripted-conversation.ts';

const rule = (...actions: string[]): string =>
  `rules:\n  - then:\n${actions.map((each) => `      - ${each}\n`).join('')}`;
const completed = { kind: 'status', status: { state: 'completed' } };

describe('rule actions', () => {
  it('plays actions in order with ids and time of the playback', () => {
    const conversation = openScriptedConversation(`
rules:
  - when: { text: hello }
    then:
      - say: "Working on {{message.text}}"
      - wait: 2s
      - artifact: { name: report.csv, text: "a,b", media_type: text/csv }
      - complete: "Done {{task.id}} in {{context.id}} at {{now}}"
`);
    expect(conversation.send('hello')).toEqual([
      {
        kind: 'status',
        status: { state: 'working', message: conversation.agentMessage('Working on hello') },
      },
      { wait: 2_000 },
      {
        kind: 'artifact',
        artifact: {
          artifactId: 'artifact-1-3',
          name: 'report.csv',
          parts: [{ text: 'a,b', filename: 'report.csv', mediaType: 'text/csv' }],
        },
        lastChunk: true,
      },
      {
        kind: 'status',
        status: {
          state: 'completed',
          message: conversation.agentMessage('Done task-1 in context-1 at 2026-01-02T03:04:07.000Z'),
        },
      },
    ]);
  });

  it.each([
    ['say', 'working'],
    ['ask', 'input-required'],
    ['authenticate', 'auth-required'],
    ['complete', 'completed'],
    ['fail', 'failed'],
    ['reject', 'rejected'],
    ['cancel', 'canceled'],
  ])('%s sets the state %s', (action, state) => {
    const conversation = openScriptedConversation(rule(`${action}: words`));
    expect(conversation.send('x')[0]).toEqual({
      kind: 'status',
      status: { state, message: conversation.agentMessage('words') },
    });
    expect(openScriptedConversation(rule(`${action}:`)).send('x')[0]).toEqual({
      kind: 'status',
      status: { state },
    });
  });

  it('completes the task if no action ends it', () => {
    expect(openScriptedConversation(rule('say: a')).send('x')).toHaveLength(2);
    expect(openScriptedConversation(rule('say: a')).send('x').at(-1)).toEqual(completed);
    expect(openScriptedConversation(rule('set: { a: 1 }')).send('x')).toEqual([completed]);
    const { plan } = openScriptedConversation(rule('say: a', 'abandon: true')).decide('x');
    expect(plan).toMatchObject({ ending: 'abandon', steps: { length: 1 } });
  });

  it('responds with a direct message and announces its kind', () => {
    const conversation = openScriptedConversation(rule('message: "Hi {{message.text}}"'));
    expect(conversation.decide('x').plan?.steps).toMatchObject([{ kind: 'event', eventKind: 'message' }]);
    expect(conversation.send('you')).toEqual([
      { kind: 'message', message: conversation.agentMessage('Hi you') },
    ]);
  });

  it('sends an artifact in chunks with delays', () => {
    const conversation = openScriptedConversation(
      rule('chunks: { name: log.txt, parts: [a, { text: b }, c], every: 1s }'),
    );
    const artifactId = 'artifact-1-1';
    expect(conversation.send('x')).toEqual([
      {
        kind: 'artifact',
        artifact: { artifactId, name: 'log.txt', parts: [{ text: 'a' }] },
        append: false,
        lastChunk: false,
      },
      { wait: 1_000 },
      { kind: 'artifact', artifact: { artifactId, parts: [{ text: 'b' }] }, append: true, lastChunk: false },
      { wait: 1_000 },
      { kind: 'artifact', artifact: { artifactId, parts: [{ text: 'c' }] }, append: true, lastChunk: true },
      completed,
    ]);
  });

  it.each([
    ['{ text: "{{turn}}" }', { text: '0' }],
    ['{ data: { n: "{{turn}}", t: "n={{turn}}" } }', { data: { n: 0, t: 'n=0' } }],
    [
      '{ url: "https://a.test/{{message.text | url}}", media_type: image/png }',
      { url: 'https://a.test/x', mediaType: 'image/png' },
    ],
    [
      '{ base64: "{{message.text | base64}}", name: "{{message.text}}.bin" }',
      { raw: 'eA==', filename: 'x.bin' },
    ],
    ['{ data: null }', { data: null }],
  ])('sends the part %s', (spec, part) => {
    const conversation = openScriptedConversation(rule(`complete: ${spec}`));
    expect(conversation.send('x')).toMatchObject([{ status: { message: { parts: [part] } } }]);
    expect(openScriptedConversation(rule(`complete: [a, ${spec}]`)).send('x')).toMatchObject([
      { status: { message: { parts: [{ text: 'a' }, part] } } },
    ]);
  });

  it('plays events in wire format with templates', () => {
    const conversation = openScriptedConversation(`
rules:
  - then:
      - event:
          kind: status-update
          status: { state: working, message: { parts: [{ kind: text, text: "{{message.text}}" }] } }
          metadata: { task: "{{task.id}}" }
      - event: { artifactUpdate: { artifact: { artifactId: a, parts: [{ raw: "{{message.text | base64}}" }] } } }
`);
    expect(conversation.send('x')).toMatchObject([
      { kind: 'status', status: { message: { parts: [{ text: 'x' }] } }, metadata: { task: 'task-1' } },
      { kind: 'artifact', artifact: { artifactId: 'a', parts: [{ raw: 'eA==' }] } },
      completed,
    ]);
  });

  it('fail the task if a template renders an invalid event', () => {
    const conversation = openScriptedConversation(
      rule(
        'event: { kind: status-update, status: { state: "{{state.next | default working}}" } }',
        'set: { next: nonsense }',
      ),
    );
    conversation.send('x', { contextId: 'c' });
    expect(JSON.stringify(conversation.send('x', { contextId: 'c' })[0])).toMatch(
      /failed.*A template rendered an invalid event: .*state/,
    );
  });

  it('return identical fault objects for each message', () => {
    const conversation = openScriptedConversation(
      'rules:\n  - fault: { disconnect: { after: 2 } }\n  - fault: [early_end, { http: { status: 503 } }]\n',
    );
    const faults = conversation.decide('x').plan?.faults;
    expect(faults).toEqual([{ kind: 'disconnect', after: 2 }]);
    expect(conversation.decide('x').plan?.faults[0]).toBe(faults?.[0]);
  });

  it('sample delays from the seed', () => {
    const waits = (seed: number): unknown[] => {
      const conversation = openScriptedConversation(`seed: ${seed}\n${rule('wait: { min: 1s, max: 3s }')}`);
      return [conversation.send('x')[0], conversation.send('x')[0], conversation.send('x')[0]];
    };
    expect(waits(1)).toEqual(waits(1));
    expect(waits(1)).not.toEqual(waits(2));
    expect(new Set(waits(1).map((each) => JSON.stringify(each))).size).toBe(3);
  });
});

describe('rule selection', () => {
  it('uses the first matching rule', () => {
    const conversation = openScriptedConversation(`
rules:
  - { name: one, when: { text: { contains: a } }, then: [{ complete: first }] }
  - { name: two, when: { text: { contains: b } }, then: [{ complete: second }] }
  - { name: repetitions, then: [{ complete: third }] }
`);
    expect(['ab', 'b', 'c'].map((text) => conversation.lastText(text))).toEqual(['first', 'second', 'third']);
    expect(conversation.decide('b').plan?.origin).toBe('rule two (script.yaml:4)');
  });

  it('uses `otherwise` if no rule matches', () => {
    const conversation = openScriptedConversation(
      'otherwise:\n  then: [{ fail: "No rule for: {{message.text}}" }]\n',
    );
    expect(conversation.lastText('x')).toBe('No rule for: x');
    expect(conversation.decide('x').plan?.origin).toBe('otherwise (script.yaml:1)');
  });

  it('skips rules that have matched `times` times', () => {
    const conversation = openScriptedConversation(
      'rules:\n  - { times: 2, then: [{ complete: a }] }\n  - { then: [{ complete: b }] }\n',
    );
    expect([1, 2, 3].map(() => conversation.lastText('x'))).toEqual(['a', 'a', 'b']);
    conversation.script.responder.reset();
    expect(conversation.lastText('x')).toBe('a');
  });
});

describe('rule sequence', () => {
  const sequence = (more = ''): string => `
rules:
  - sequence: [{ then: [{ complete: a }] }, { then: [{ complete: b }] }, { then: [{ complete: c }] }]
${more}`;
  const repetitions = [1, 2, 3, 4];

  it('counts the position per conversation and repeats the last reaction', () => {
    const conversation = openScriptedConversation(sequence());
    const texts = repetitions.map(() =>
      ['c', 'd'].map((contextId) => conversation.lastText('x', { contextId })).join(),
    );
    expect(texts).toEqual(['a,a', 'b,b', 'c,c', 'c,c']);
  });

  it('continues in a conversation whose id was assigned later', () => {
    const conversation = openScriptedConversation(sequence());
    expect(conversation.lastText('x')).toBe('a');
    expect(conversation.lastText('x', { contextId: 'context-1' })).toBe('b');
    expect(conversation.lastText('x')).toBe('a');
  });

  it('supports cycle and sequence_scope: script', () => {
    const cycling = openScriptedConversation(sequence('    cycle: true\n'));
    expect(repetitions.map(() => cycling.lastText('x', { contextId: 'c' }))).toEqual(['a', 'b', 'c', 'a']);
    const shared = openScriptedConversation(sequence('    sequence_scope: script\n'));
    expect(repetitions.map(() => shared.lastText('x'))).toEqual(['a', 'b', 'c', 'c']);
  });

  it('supports faults per reaction', () => {
    const conversation = openScriptedConversation(
      'rules:\n  - { fault: early_end, sequence: [{ fault: disconnect }, { then: [] }] }\n',
    );
    const kinds = [1, 2].map(() => {
      const plan = conversation.decide('x', { contextId: 'c' }).plan;
      return plan?.faults.map(({ kind }) => kind);
    });
    expect(kinds).toEqual([['disconnect'], ['early-end']]);
  });
});

describe('conversation state', () => {
  const counting = `
rules:
  - then:
      - set: { count: "{{state.count | default 0 | add 1}}" }
      - complete: "{{state.count}}"
`;

  it('separates state by conversation', () => {
    const conversation = openScriptedConversation(counting);
    const texts = [1, 2].map(() =>
      ['c', 'd'].map((contextId) => conversation.lastText('x', { contextId })).join(),
    );
    expect(texts).toEqual(['1,1', '2,2']);
    expect(conversation.lastText('x')).toBe('1');
    expect(conversation.lastText('x', { contextId: 'context-5' })).toBe('2');
    conversation.script.responder.reset();
    expect(conversation.lastText('x', { contextId: 'c' })).toBe('1');
  });

  it('separates state by principal with the same context id', () => {
    const conversation = openScriptedConversation(counting);
    const overrides = { contextId: 'c' };
    expect(conversation.lastText('x', { ...overrides, principal: { id: 'alice' } })).toBe('1');
    expect(conversation.lastText('x', { ...overrides, principal: { id: 'bob' } })).toBe('1');
    expect(conversation.lastText('x', { ...overrides, principal: { id: 'alice' } })).toBe('2');
  });

  it('shows state to the next event and to the next message', () => {
    const conversation = openScriptedConversation(
      rule('say: "{{state.a}}"', 'set: { a: 1 }', 'complete: "{{state.a}}"', 'set: { a: 2 }'),
    );
    const texts = (contextId: string): string =>
      JSON.stringify(conversation.send('x', { contextId })).replaceAll(/.*?"text":"(\d*)"[^"]*/g, '[$1]');
    expect(texts('c')).toContain('[][1]');
    expect(texts('c')).toContain('[2][1]');
  });

  it('deletes a value with null', () => {
    const conversation = openScriptedConversation(`
rules:
  - { when: { state: { a: null } }, then: [{ set: { a: 1 } }, { complete: none }] }
  - { then: [{ set: { a: null } }, { complete: some }] }
`);
    expect([1, 2, 3].map(() => conversation.lastText('x', { contextId: 'c' }))).toEqual([
      'none',
      'some',
      'none',
    ]);
  });

  it('limits state by maxConversations and maxValue', () => {
    const few = openScriptedConversation(counting, { maxConversations: 2 });
    for (const contextId of ['a', 'b', 'a', 'c']) few.lastText('x', { contextId });
    expect(['a', 'b'].map((contextId) => few.lastText('x', { contextId }))).toEqual(['3', '1']);
    const growing = openScriptedConversation(
      rule('set: { a: "{{state.a}}{{state.a}}x" }', 'complete: "{{state.a | length}}"'),
      {
        maxValue: 100,
      },
    );
    for (let i = 0; i < 20; i++) growing.send('x', { contextId: 'c' });
    expect(growing.lastText('x', { contextId: 'c' })).toBe('100');
    const data = openScriptedConversation(
      rule('set: { a: "{{message.data}}" }', 'complete: "{{state.a | json}}"'),
      {
        maxValue: 100,
      },
    );
    const send = (length: number): string => data.lastText('x', { parts: [{ data: Array(length).fill(1) }] });
    expect(send(3)).toBe('[1,1,1]');
    expect(send(100)).toBe('null');
  });

  it('keeps state when conversations without state arrive', () => {
    const conversation = openScriptedConversation(
      'rules:\n  - { when: { text: set }, then: [{ set: { a: 1 } }] }\n  - then: [{ complete: "{{state.a}}" }]\n',
      {
        maxConversations: 2,
      },
    );
    conversation.send('set', { contextId: 'c' });
    for (let i = 0; i < 10; i++) conversation.send('x', { contextId: `other-${i}` });
    expect(conversation.lastText('x', { contextId: 'c' })).toBe('1');
  });
});

describe('unmatched message', () => {
  it('returns the three closest rules with their mismatches', () => {
    const conversation = openScriptedConversation(`
rules:
  - { name: far, when: { text: hello, skill: book, principal: alice, version: "0.3" }, then: [] }
  - { name: near, when: { text: { contains: hello }, skill: book }, then: [] }
  - { name: nearer, when: { text: { contains: hello }, operation: send, transport: JSONRPC }, then: [] }
  - { name: exhausted, when: { operation: send }, times: 1, then: [] }
`);
    conversation.send('x');
    expect(conversation.decide('hi '.repeat(100)).nearMisses).toEqual([
      {
        rule: 'nearer',
        mismatches: [`text: expected to contain "hello", was ${`"${'hi '.repeat(100)}`.slice(0, 99)}…`],
        matched: 2,
      },
      {
        rule: 'exhausted',
        mismatches: ['times: expected at most 1 matches, which are used up'],
        matched: 1,
      },
      {
        rule: 'near',
        mismatches: [expect.stringMatching(/^text: /), 'skill: expected "book", was missing'],
        matched: 0,
      },
    ]);
  });

  it('returns no near misses without rules', () => {
    expect(openScriptedConversation('name: empty').decide('x').nearMisses).toEqual([]);
  });
});

describe('rules at run time', () => {
  const script = 'rules:\n  - { name: a, when: { text: x }, then: [{ complete: a }] }\n';

  it('lists, adds, replaces and removes rules', () => {
    const conversation = openScriptedConversation(script);
    const { script: played } = conversation;
    expect(conversation.lastText('x')).toBe('a');
    expect(played.rules).toMatchObject([{ name: 'a', matches: 1, rule: { when: { text: 'x' } } }]);
    expect(played.addRule('{ "then": [{ "complete": "last" }] }')).toBe('1');
    expect(played.addRule('name: first\ntimes: 1\nthen: [{ complete: first }]', 'a')).toBe('first');
    expect(played.rules.map(({ name }) => name)).toEqual(['first', 'a', '1']);
    expect(['x', 'x', 'y'].map((text) => conversation.lastText(text))).toEqual(['first', 'a', 'last']);
    expect(played.replaceRule('a', 'then: [{ complete: b }]')).toBe(true);
    expect(played.rules.map(({ name, matches }) => [name, matches])).toEqual([
      ['first', 1],
      ['a', 0],
      ['1', 1],
    ]);
    expect(conversation.lastText('y')).toBe('b');
    expect(played.removeRule('a')).toBe(true);
    expect(played.removeRule('a')).toBe(false);
    expect(played.replaceRule('a', 'then: []')).toBe(false);
    expect(conversation.lastText('x')).toBe('last');
  });

  it('remain unchanged if a new rule is invalid', () => {
    const { script: played } = openScriptedConversation(script, { maxRules: 2 });
    const expectError = (work: () => unknown, message: string): void => expect(work).toThrow(message);
    expectError(() => played.addRule('then: [{ sey: a }]'), 'rule:1:10: then[0].sey: unknown key');
    expectError(() => played.addRule('name: a\nthen: []'), 'rule:1:1: name: duplicate rule name a');
    expectError(() => played.addRule('then: []', 'z'), 'unknown rule z');
    expectError(
      () => played.replaceRule('a', 'then: [{ say: "{{nope}}" }]'),
      'rule:1:10: then[0].say: {{nope}}: unknown variable nope',
    );
    expectError(
      () => played.addRule('then: [{ complete: { file: package.json } }]'),
      'attachments need a script that was loaded from a file',
    );
    played.addRule('then: []');
    expectError(() => played.addRule('then: []'), 'a script can have at most 2 rules');
    expect(played.rules).toHaveLength(2);
  });
});

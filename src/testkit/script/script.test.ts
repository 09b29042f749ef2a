import { describe, expect, it } from 'vitest';
import { openScriptedConversation } from '../../../test/support/testkit/scripted-conversation.ts';

const rule = (...actions: string[]): string =>
  `rules:\n  - then:\n${actions.map((each) => `      - ${each}\n`).join('')}`;
const completed = { kind: 'status', status: { state: 'completed' } };

describe('what a rule does', () => {
  it('is played in its order, with ids and time as they are then', () => {
    const talk = openScriptedConversation(`
rules:
  - when: { text: hello }
    then:
      - say: "Working on {{message.text}}"
      - wait: 2s
      - artifact: { name: report.csv, text: "a,b", media_type: text/csv }
      - complete: "Done {{task.id}} in {{context.id}} at {{now}}"
`);
    expect(talk.send('hello')).toEqual([
      { kind: 'status', status: { state: 'working', message: talk.agentMessage('Working on hello') } },
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
          message: talk.agentMessage('Done task-1 in context-1 at 2026-01-02T03:04:07.000Z'),
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
  ])('%s leads to %s', (action, state) => {
    const talk = openScriptedConversation(rule(`${action}: words`));
    expect(talk.send('x')[0]).toEqual({
      kind: 'status',
      status: { state, message: talk.agentMessage('words') },
    });
    expect(openScriptedConversation(rule(`${action}:`)).send('x')[0]).toEqual({
      kind: 'status',
      status: { state },
    });
  });

  it('completes the task where nothing else ends it', () => {
    expect(openScriptedConversation(rule('say: a')).send('x')).toHaveLength(2);
    expect(openScriptedConversation(rule('say: a')).send('x').at(-1)).toEqual(completed);
    expect(openScriptedConversation(rule('set: { a: 1 }')).send('x')).toEqual([completed]);
    const { plan } = openScriptedConversation(rule('say: a', 'hang_up: true')).decide('x');
    expect(plan).toMatchObject({ ending: 'hang-up', steps: { length: 1 } });
  });

  it('is a message alone, which says so beforehand', () => {
    const talk = openScriptedConversation(rule('message: "Hi {{message.text}}"'));
    expect(talk.decide('x').plan?.steps).toMatchObject([{ kind: 'event', of: 'message' }]);
    expect(talk.send('you')).toEqual([{ kind: 'message', message: talk.agentMessage('Hi you') }]);
  });

  it('gives artifacts piece by piece', () => {
    const talk = openScriptedConversation(
      rule('chunks: { name: log.txt, parts: [a, { text: b }, c], every: 1s }'),
    );
    const artifactId = 'artifact-1-1';
    expect(talk.send('x')).toEqual([
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
  ])('says the part %s', (form, part) => {
    const talk = openScriptedConversation(rule(`complete: ${form}`));
    expect(talk.send('x')).toMatchObject([{ status: { message: { parts: [part] } } }]);
    expect(openScriptedConversation(rule(`complete: [a, ${form}]`)).send('x')).toMatchObject([
      { status: { message: { parts: [{ text: 'a' }, part] } } },
    ]);
  });

  it('plays events in the words of the wire, with templates in them', () => {
    const talk = openScriptedConversation(`
rules:
  - then:
      - event:
          kind: status-update
          status: { state: working, message: { parts: [{ kind: text, text: "{{message.text}}" }] } }
          metadata: { task: "{{task.id}}" }
      - event: { artifactUpdate: { artifact: { artifactId: a, parts: [{ raw: "{{message.text | base64}}" }] } } }
`);
    expect(talk.send('x')).toMatchObject([
      { kind: 'status', status: { message: { parts: [{ text: 'x' }] } }, metadata: { task: 'task-1' } },
      { kind: 'artifact', artifact: { artifactId: 'a', parts: [{ raw: 'eA==' }] } },
      completed,
    ]);
  });

  it('fails the task when a template makes an event that is none', () => {
    const talk = openScriptedConversation(
      rule(
        'event: { kind: status-update, status: { state: "{{state.next | default working}}" } }',
        'set: { next: nonsense }',
      ),
    );
    talk.send('x', { contextId: 'c' });
    expect(JSON.stringify(talk.send('x', { contextId: 'c' })[0])).toMatch(
      /failed.*A template made something that is no event: .*state/,
    );
  });

  it('hands faults on, the same ones each time', () => {
    const talk = openScriptedConversation(
      'rules:\n  - fault: { cut: { after: 2 } }\n  - fault: [stop, { http: { status: 503 } }]\n',
    );
    const faults = talk.decide('x').plan?.faults;
    expect(faults).toEqual([{ kind: 'cut', after: 2 }]);
    expect(talk.decide('x').plan?.faults[0]).toBe(faults?.[0]);
  });

  it('draws waits from a seed', () => {
    const waits = (seed: number): unknown[] => {
      const talk = openScriptedConversation(`seed: ${seed}\n${rule('wait: { min: 1s, max: 3s }')}`);
      return [talk.send('x')[0], talk.send('x')[0], talk.send('x')[0]];
    };
    expect(waits(1)).toEqual(waits(1));
    expect(waits(1)).not.toEqual(waits(2));
    expect(new Set(waits(1).map((each) => JSON.stringify(each))).size).toBe(3);
  });
});

describe('which rule decides', () => {
  it('is the first that matches', () => {
    const talk = openScriptedConversation(`
rules:
  - { name: one, when: { text: { contains: a } }, then: [{ complete: first }] }
  - { name: two, when: { text: { contains: b } }, then: [{ complete: second }] }
  - { name: three, then: [{ complete: third }] }
`);
    expect(['ab', 'b', 'c'].map((text) => talk.lastText(text))).toEqual(['first', 'second', 'third']);
    expect(talk.decide('b').plan?.origin).toBe('rule two (script.yaml:4)');
  });

  it('is `otherwise` when none does', () => {
    const talk = openScriptedConversation(
      'otherwise:\n  then: [{ fail: "No rule for: {{message.text}}" }]\n',
    );
    expect(talk.lastText('x')).toBe('No rule for: x');
    expect(talk.decide('x').plan?.origin).toBe('otherwise (script.yaml:1)');
  });

  it('is none that has matched as often as it may', () => {
    const talk = openScriptedConversation(
      'rules:\n  - { times: 2, then: [{ complete: a }] }\n  - { then: [{ complete: b }] }\n',
    );
    expect([1, 2, 3].map(() => talk.lastText('x'))).toEqual(['a', 'a', 'b']);
    talk.script.responder.reset();
    expect(talk.lastText('x')).toBe('a');
  });
});

describe('a sequence', () => {
  const sequence = (more = ''): string => `
rules:
  - sequence: [{ then: [{ complete: a }] }, { then: [{ complete: b }] }, { then: [{ complete: c }] }]
${more}`;
  const three = [1, 2, 3, 4];

  it('has its own place in each conversation, and stays at its end', () => {
    const talk = openScriptedConversation(sequence());
    const said = three.map(() => ['c', 'd'].map((contextId) => talk.lastText('x', { contextId })).join());
    expect(said).toEqual(['a,a', 'b,b', 'c,c', 'c,c']);
  });

  it('goes on in a conversation that had no id when it began', () => {
    const talk = openScriptedConversation(sequence());
    expect(talk.lastText('x')).toBe('a');
    expect(talk.lastText('x', { contextId: 'context-1' })).toBe('b');
    expect(talk.lastText('x')).toBe('a');
  });

  it('begins anew after its end, or counts for all together, when told to', () => {
    const cycling = openScriptedConversation(sequence('    cycle: true\n'));
    expect(three.map(() => cycling.lastText('x', { contextId: 'c' }))).toEqual(['a', 'b', 'c', 'a']);
    const shared = openScriptedConversation(sequence('    counts_by: script\n'));
    expect(three.map(() => shared.lastText('x'))).toEqual(['a', 'b', 'c', 'c']);
  });

  it('may have faults of its own at each place', () => {
    const talk = openScriptedConversation(
      'rules:\n  - { fault: stop, sequence: [{ fault: cut }, { then: [] }] }\n',
    );
    const kinds = [1, 2].map(() => {
      const plan = talk.decide('x', { contextId: 'c' }).plan;
      return plan?.faults.map(({ kind }) => kind);
    });
    expect(kinds).toEqual([['cut'], ['stop']]);
  });
});

describe('what is remembered', () => {
  const counting = `
rules:
  - then:
      - set: { count: "{{state.count | default 0 | add 1}}" }
      - complete: "{{state.count}}"
`;

  it('belongs to one conversation', () => {
    const talk = openScriptedConversation(counting);
    const said = [1, 2].map(() => ['c', 'd'].map((contextId) => talk.lastText('x', { contextId })).join());
    expect(said).toEqual(['1,1', '2,2']);
    expect(talk.lastText('x')).toBe('1');
    expect(talk.lastText('x', { contextId: 'context-5' })).toBe('2');
    talk.script.responder.reset();
    expect(talk.lastText('x', { contextId: 'c' })).toBe('1');
  });

  it('belongs to one caller, whatever ids others use', () => {
    const talk = openScriptedConversation(counting);
    const around = { contextId: 'c' };
    expect(talk.lastText('x', { ...around, principal: { id: 'alice' } })).toBe('1');
    expect(talk.lastText('x', { ...around, principal: { id: 'bob' } })).toBe('1');
    expect(talk.lastText('x', { ...around, principal: { id: 'alice' } })).toBe('2');
  });

  it('is there for the next event, and after the last one for the next message', () => {
    const talk = openScriptedConversation(
      rule('say: "{{state.a}}"', 'set: { a: 1 }', 'complete: "{{state.a}}"', 'set: { a: 2 }'),
    );
    const words = (contextId: string): string =>
      JSON.stringify(talk.send('x', { contextId })).replaceAll(/.*?"text":"(\d*)"[^"]*/g, '[$1]');
    expect(words('c')).toContain('[][1]');
    expect(words('c')).toContain('[2][1]');
  });

  it('is forgotten with null', () => {
    const talk = openScriptedConversation(`
rules:
  - { when: { state: { a: null } }, then: [{ set: { a: 1 } }, { complete: none }] }
  - { then: [{ set: { a: null } }, { complete: some }] }
`);
    expect([1, 2, 3].map(() => talk.lastText('x', { contextId: 'c' }))).toEqual(['none', 'some', 'none']);
  });

  it('is bounded: conversations, and how large a value may grow', () => {
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

  it('does not push others out when there is nothing to remember', () => {
    const talk = openScriptedConversation(
      'rules:\n  - { when: { text: set }, then: [{ set: { a: 1 } }] }\n  - then: [{ complete: "{{state.a}}" }]\n',
      {
        maxConversations: 2,
      },
    );
    talk.send('set', { contextId: 'c' });
    for (let i = 0; i < 10; i++) talk.send('x', { contextId: `other-${i}` });
    expect(talk.lastText('x', { contextId: 'c' })).toBe('1');
  });
});

describe('a message that no rule is for', () => {
  it('is told the three rules that came closest, and why they are not for it', () => {
    const talk = openScriptedConversation(`
rules:
  - { name: far, when: { text: hello, skill: book, principal: alice, version: "0.3" }, then: [] }
  - { name: near, when: { text: { contains: hello }, skill: book }, then: [] }
  - { name: nearer, when: { text: { contains: hello }, operation: send, transport: JSONRPC }, then: [] }
  - { name: spent, when: { operation: send }, times: 1, then: [] }
`);
    talk.send('x');
    expect(talk.decide('hi '.repeat(100)).nearMisses).toEqual([
      {
        rule: 'nearer',
        differences: [`text: expected to contain "hello", was ${`"${'hi '.repeat(100)}`.slice(0, 99)}…`],
        matched: 2,
      },
      { rule: 'spent', differences: ['times: expected at most 1, and it has matched so often'], matched: 1 },
      {
        rule: 'near',
        differences: [expect.stringMatching(/^text: /), 'skill: expected "book", was missing'],
        matched: 0,
      },
    ]);
  });

  it('has nothing near it where there are no rules', () => {
    expect(openScriptedConversation('name: empty').decide('x').nearMisses).toEqual([]);
  });
});

describe('the rules while the script is played', () => {
  const script = 'rules:\n  - { name: a, when: { text: x }, then: [{ complete: a }] }\n';

  it('can be listed, added, replaced and removed', () => {
    const talk = openScriptedConversation(script);
    const { script: played } = talk;
    expect(talk.lastText('x')).toBe('a');
    expect(played.rules).toMatchObject([{ name: 'a', matches: 1, rule: { when: { text: 'x' } } }]);
    expect(played.addRule('{ "then": [{ "complete": "last" }] }')).toBe('1');
    expect(played.addRule('name: first\ntimes: 1\nthen: [{ complete: first }]', 'a')).toBe('first');
    expect(played.rules.map(({ name }) => name)).toEqual(['first', 'a', '1']);
    expect(['x', 'x', 'y'].map((text) => talk.lastText(text))).toEqual(['first', 'a', 'last']);
    expect(played.replaceRule('a', 'then: [{ complete: b }]')).toBe(true);
    expect(played.rules.map(({ name, matches }) => [name, matches])).toEqual([
      ['first', 1],
      ['a', 0],
      ['1', 1],
    ]);
    expect(talk.lastText('y')).toBe('b');
    expect(played.removeRule('a')).toBe(true);
    expect(played.removeRule('a')).toBe(false);
    expect(played.replaceRule('a', 'then: []')).toBe(false);
    expect(talk.lastText('x')).toBe('last');
  });

  it('stay as they are when a new one is wrong', () => {
    const { script: played } = openScriptedConversation(script, { maxRules: 2 });
    const wrong = (work: () => unknown, message: string): void => expect(work).toThrow(message);
    wrong(() => played.addRule('then: [{ sey: a }]'), 'rule:1:10: then[0].sey: unknown key');
    wrong(() => played.addRule('name: a\nthen: []'), 'rule:1:1: name: there is another rule a');
    wrong(() => played.addRule('then: []', 'z'), 'there is no rule z');
    wrong(
      () => played.replaceRule('a', 'then: [{ say: "{{nope}}" }]'),
      'rule:1:10: then[0].say: {{nope}}: there is no nope',
    );
    wrong(
      () => played.addRule('then: [{ complete: { file: package.json } }]'),
      'a script can give files only where',
    );
    played.addRule('then: []');
    wrong(() => played.addRule('then: []'), 'a script may have 2 rules');
    expect(played.rules).toHaveLength(2);
  });
});

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { codeBlocksOf } from '../../../../test/support/docs/code-blocks.ts';
import { Document } from '../../../documents/document.ts';
import { readScenarios } from '../files/read-scenarios.ts';
import { openHarness } from '../harness/open-harness.ts';
import { formatFailure } from '../reports/report.ts';
import { runScenarios } from '../run-scenarios.ts';
import { conversationJsonSchema } from './conversation-schema.ts';
import { replaceVariables } from './step-variables.ts';

const folder = fileURLToPath(new URL('../../../../examples/conversations/', import.meta.url));
const examples = readdirSync(folder);
const fits = new Ajv2020({ strict: false, validateFormats: false }).compile(conversationJsonSchema());

const echo = `script:
  agent: { name: Echo, description: Echoes }
  rules:
    - name: asks
      when: { text: ask }
      then: [{ ask: Which one? }]
    - name: echoes
      then: [{ artifact: { name: answer, text: "{{message.text}}" } }, { complete: Done as A-17 }]
`;

/** Runs the steps with an agent that echoes. */
async function run(steps: string, file = 'a.yaml', more = '') {
  return runScenarios(readScenarios(`scenario: a\n${more}${echo}steps:\n${steps}`, file), {
    openHarness: () => openHarness(),
  });
}

/** Runs steps of which one fails. @returns the mismatches in short */
async function failures(steps: string): Promise<string[]> {
  const [result] = await run(steps);
  expect(result?.outcome).toBe('failed');
  return result?.mismatches.map(({ path, problem }) => `${path}: ${problem}`) ?? [];
}

function diagnosticsOf(text: string): string[] {
  try {
    readScenarios(text, 'a.yaml');
    return [];
  } catch (thrown) {
    return (thrown as Error).message.split('\n');
  }
}

describe('example conversations', () => {
  it.each(examples)('%s fits its schema and passes', async (name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    expect(text).toMatch(
      /^# yaml-language-server: \$schema=\.\.\/\.\.\/schemas\/conversation\.schema\.json\n# /,
    );
    expect(fits(Document.parse(text, name).value), JSON.stringify(fits.errors)).toBe(true);
    const results = await runScenarios(readScenarios(text, join(folder, name)), {
      openHarness: () => openHarness(),
    });
    for (const result of results) expect(result.outcome, formatFailure(result)).toBe('passed');
  });

  it.each(codeBlocksOf('docs/guide/conversations.md').filter(({ language }) => language === 'yaml'))(
    'in the guide at line $line fit the schema and are valid',
    ({ code, line }) => {
      const { value } = Document.parse(code, `conversations.md:${line}`);
      expect(fits(value), JSON.stringify(fits.errors)).toBe(true);
      expect(readScenarios(code, 'conversations.md').length).toBeGreaterThan(0);
    },
  );
});

describe('a step', () => {
  it('passes variables of earlier answers on', async () => {
    const [result] = await run(`
  - say: hello
    expect: { state: completed, text: hello, message: { contains: [Done, A-], excludes: failed } }
    save: { first: taskId, code: { from: message, matches: 'A-(\\d+)' }, word: 'artifacts[0].text' }
  - say: \${word} \${code} $\${code}
    expect: { text: 'hello 17 $\${code}', task: { contextId: '\${context}' } }
  - get: \${first}
    expect: { task: { id: '\${first}' }, text: hello }
`);
    expect(result?.mismatches).toEqual([]);
    expect(result?.outcome).toBe('passed');
  });

  it('continues a task that waits for input, unless it says otherwise', async () => {
    const [result] = await run(`
  - say: ask
    expect: { state: input-required }
    save: { first: taskId }
  - say: other
    task: new
    expect: { state: completed }
    save: { second: taskId }
  - say: now
    task: \${first}
    stream: false
    expect: { state: completed, task: { id: '\${first}' } }
  - cancel: \${second}
    expect: { error: TASK_NOT_CANCELABLE }
  - get: nope
    expect: { error: { contains: not found } }
`);
    expect(result?.mismatches).toEqual([]);
    expect(result?.outcome).toBe('passed');
  });

  it('reports each difference with the line of the step, and ends the conversation', async () => {
    expect(
      await failures(`
  - say: hello
  - say: again
    expect:
      state: failed
      text: { matches: '^x' }
      message: { excludes: Done }
      artifacts: [{ name: answer, text: hello }, { name: more }]
      events: [working, completed]
  - say: never
    expect: { state: failed }
`),
    ).toEqual([
      'line 13: steps[1].expect.state: is different',
      'line 13: steps[1].expect.text.matches: does not match',
      'line 13: steps[1].expect.message.excludes: contains the value',
      'line 13: steps[1].expect.artifacts[0].text: is different',
      'line 13: steps[1].expect.artifacts[1]: is missing',
      expect.stringContaining('line 13: steps[1].expect.events: Expected the stream to match'),
    ]);
  });

  it('reports errors and missing values', async () => {
    expect(await failures('\n  - { get: nope, expect: { state: completed } }\n')).toEqual([
      'line 12: steps[0].expect: the agent returned an error',
    ]);
    expect(await failures('\n  - { say: hi, expect: { error: TASK_NOT_FOUND } }\n')).toEqual([
      'line 12: steps[0].expect.error: no error was returned',
    ]);
    expect(await failures('\n  - { say: hi, save: { code: data.code } }\n')).toEqual([
      'line 12: steps[0].save.code: the answer has no such value',
    ]);
    expect(await failures('\n  - { say: hi, until: input-required }\n')).toEqual([
      'line 12: steps[0].expect: the agent returned an error',
    ]);
  });

  it('sends files of the folder, data and metadata', async () => {
    const temporary = mkdtempSync(join(tmpdir(), 'dragoman-conversation-'));
    try {
      writeFileSync(join(temporary, 'a.txt'), 'content');
      const text = `scenario: a
script:
  agent: { name: A, description: A }
  rules:
    - name: reads
      when: { file: { name: a.txt, content: bytes }, data: { path: n, equals: 1 }, metadata: { path: tier, equals: gold } }
      then: [{ message: Read }]
steps:
  - { files: [{ path: a.txt }], data: { n: 1 }, metadata: { tier: gold }, expect: { message: Read, text: Read } }
`;
      const [result] = await runScenarios(readScenarios(text, join(temporary, 'a.yaml')), {
        openHarness: () => openHarness(),
      });
      expect(result?.mismatches).toEqual([]);
      expect(result?.outcome).toBe('passed');
    } finally {
      rmSync(temporary, { recursive: true });
    }
  });

  it('ends at the timeout of the scenario', async () => {
    const [result] = await run(
      '\n  - { say: ask }\n  - { get: current, until: completed }\n',
      'a.yaml',
      'timeout: 300ms\n',
    );
    expect(result).toMatchObject({
      outcome: 'failed',
      reason: 'the case did not end within 0.3 s (timeout)',
    });
  });

  it('needs an agent', async () => {
    const [result] = await runScenarios(readScenarios('scenario: a\nsteps: [{ say: hi }]\n', 'a.yaml'), {
      openHarness: () => openHarness(),
    });
    expect(result?.reason).toBe('No agent: set agent or script in the scenario, or pass --agent');
  });
});

describe('diagnostics', () => {
  it.each([
    ['an unknown key', 'steps: [{ sya: hi }]', 'a.yaml:2:11: steps[0].sya: unknown key'],
    [
      'an unknown key of expect',
      'steps:\n  - say: hi\n    expect: { stat: completed }',
      'a.yaml:4:15: steps[0].expect.stat: unknown key',
    ],
    [
      'no action',
      'steps: [{ expect: {} }]',
      'a.yaml:2:9: steps[0]: must have one of say, get, cancel, subscribe',
    ],
    [
      'two actions',
      'steps: [{ say: hi, cancel: x }]',
      'a.yaml:2:20: steps[0].cancel: cannot be used together with say',
    ],
    [
      'a key of another action',
      'steps: [{ cancel: x, files: [] }]',
      'a.yaml:2:22: steps[0].files: cannot be used with cancel',
    ],
    [
      'an unknown variable',
      'steps:\n  - say: hi\n    save: { a: text }\n  - say: ${b}',
      'a.yaml:5:5: steps[1].say: has the unknown variable b; saved before: a',
    ],
    [
      'a variable before any step',
      'steps: [{ say: "${task}" }]',
      'a.yaml:2:11: steps[0].say: has the unknown variable task; no step before saves one',
    ],
    [
      'no task',
      'steps: [{ cancel: current }]',
      'a.yaml:2:11: steps[0].cancel: needs a task: no step is before this one',
    ],
    [
      'a wrong expression',
      'steps: [{ say: hi, expect: { text: { matches: "(" } } }]',
      'a.yaml:2:38: steps[0].expect.text.matches: must be a regular expression: Invalid regular expression: /(/: Unterminated group',
    ],
    [
      'a wrong path',
      'steps: [{ say: hi, save: { a: "x[" } }]',
      'a.yaml:2:28: steps[0].save.a: has the invalid path "x["',
    ],
    [
      'a file without content',
      'steps: [{ say: hi, files: [{ name: a }] }]',
      'a.yaml:2:28: steps[0].files[0]: must have exactly one of text, base64, path and url',
    ],
    [
      'a file that is missing',
      'steps: [{ say: hi, files: [{ path: none.txt }] }]',
      'a.yaml:2:30: steps[0].files[0].path: file not found in the folder of the scenario',
    ],
    [
      'events without a stream',
      'steps: [{ say: hi, stream: false, expect: { events: [] } }]',
      'a.yaml:2:45: steps[0].expect.events: needs a stream',
    ],
    [
      'an immediate stream',
      'steps: [{ say: hi, immediate: true }]',
      'a.yaml:2:20: steps[0].immediate: needs stream: false',
    ],
    [
      'a wrong script',
      'script: { rules: [{ then: [{ say: "{{nope}}" }] }] }\nsteps: [{ say: hi }]',
      expect.stringMatching(/^a\.yaml:2:1: script: rules\[0\]\.then\[0\]\.say: /),
    ],
    [
      'a wrong state',
      'steps: [{ say: hi, until: done }]',
      expect.stringMatching(/^a\.yaml:2:20: steps\[0\]\.until: /),
    ],
  ])('name line, column and key of %s', (_what, text, expected) => {
    expect(diagnosticsOf(`scenario: a\n${text}\n`)).toEqual([expected]);
  });

  it('are given for each scenario of a list', () => {
    expect(
      diagnosticsOf(
        '- { scenario: a, steps: [{ say: hi }] }\n- { scenario: b, steps: [{ get: current }] }\n',
      ),
    ).toEqual(['a.yaml:2:28: [1].steps[0].get: needs a task: no step is before this one']);
  });
});

describe('replaceVariables', () => {
  it('keeps the type of a single variable, and reads the environment', () => {
    const variables = new Map<string, unknown>([['n', 5]]);
    expect(replaceVariables({ a: '${n}', b: ['is ${n}'] }, variables)).toEqual({ a: 5, b: ['is 5'] });
    expect(() => replaceVariables('${m}', variables)).toThrow('The variable m has no value');
    expect(() => replaceVariables('${env.DRAGOMAN_NOT_SET}', variables)).toThrow(
      'The environment variable DRAGOMAN_NOT_SET is not set',
    );
  });
});

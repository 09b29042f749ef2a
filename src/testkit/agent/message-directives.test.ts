import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../client/connect.ts';
import type { Agent } from '../../protocol/agent.ts';
import type { Task } from '../../protocol/task.ts';
import { TestAgentServer } from '../test-agent-server.ts';

let server: TestAgentServer;
let client: Agent;
beforeAll(async () => {
  server = await TestAgentServer.start();
  client = connect(server.url);
});
afterAll(() => server.stop());

const encode = (turns: unknown): string => Buffer.from(JSON.stringify(turns)).toString('base64');

const statusUpdate = (state: string, text: string): object => ({
  kind: 'status-update',
  status: { state, message: { role: 'agent', parts: [{ kind: 'text', text }] } },
});

async function send(text: string, ids: { taskId?: string; contextId?: string } = {}): Promise<Task> {
  const messageId = crypto.randomUUID();
  return (await client.send({ message: { messageId, role: 'user', parts: [{ text }], ...ids } })) as Task;
}

const outcome = ({ status }: Task): unknown[] => [
  status.state,
  ...(status.message?.parts ?? []).flatMap((part) => ('text' in part ? part.text : [])),
];

describe('MessageDirectives', () => {
  it('plays the turns of responses_json', async () => {
    const turns = [
      [
        statusUpdate('working', 'Work in progress...'),
        {
          kind: 'artifact-update',
          artifact: {
            artifactId: 'abc-123',
            name: 'result.txt',
            parts: [
              {
                kind: 'file',
                file: {
                  name: 'result.txt',
                  mimeType: 'text/plain',
                  bytes: 'UHJveHkgdGVzdCBzdWNjZXNzZnVsIQ==',
                },
              },
            ],
          },
        },
        {
          kind: 'task',
          status: {
            state: 'completed',
            message: { role: 'agent', parts: [{ kind: 'text', text: 'Done.' }] },
          },
        },
      ],
    ];
    const text = `Please process this request.\n[test_case_id=seed-1]\n[responses_json=${encode(turns)}]`;
    const task = await send(text);
    expect(outcome(task)).toEqual(['completed', 'Done.']);
    expect(task.artifacts).toMatchObject([
      {
        artifactId: 'abc-123',
        name: 'result.txt',
        parts: [{ raw: 'UHJveHkgdGVzdCBzdWNjZXNzZnVsIQ==', mediaType: 'text/plain' }],
      },
    ]);
    expect(server.journal.last()?.origin).toBe('directive seed-1, turn 0');
  });

  it('counts turns by task', async () => {
    const turns = [
      [statusUpdate('input-required', 'zero')],
      [statusUpdate('input-required', 'one')],
      [statusUpdate('completed', 'two')],
    ];
    const first = await send(`[test_case_id=by-task] [responses_json=${encode(turns)}]`);
    const other = await send('[test_case_id=by-task]', { contextId: 'elsewhere' });
    const { id: taskId } = first;
    const second = await send('[test_case_id=by-task]', { taskId });
    const third = await send('[test_case_id=by-task]', { taskId });
    expect([first, other, second, third].map(outcome)).toEqual([
      ['input-required', 'zero'],
      ['input-required', 'zero'],
      ['input-required', 'one'],
      ['completed', 'two'],
    ]);
  });

  it('starts each task of a test case with its first turn', async () => {
    const turns = [[statusUpdate('completed', 'zero')], [statusUpdate('completed', 'one')]];
    const text = `[test_case_id=new-task][responses_json=${encode(turns)}]`;
    const first = await send(text);
    const second = await send('[test_case_id=new-task]', { contextId: first.contextId });
    const later = `[test_case_id=new-task][responses_json=${encode([[statusUpdate('failed', 'other')]])}]`;
    const tasks = [first, second, await send(text), await send(later), await send('[test_case_id=new-task]')];
    expect(tasks.map(outcome)).toEqual([
      ['completed', 'zero'],
      ['completed', 'zero'],
      ['completed', 'zero'],
      ['failed', 'other'],
      ['failed', 'other'],
    ]);
  });

  it('reads base64 with wrapped lines', async () => {
    const turns = encode([[statusUpdate('completed', 'a text that needs more than one line of base64')]]);
    const wrapped = turns.replaceAll(/.{76}/g, '$&\r\n');
    expect(wrapped).toContain('\n');
    const task = await send(`[test_case_id=wrapped][responses_json=${wrapped}]`);
    expect(task.status.state).toBe('completed');
  });

  it('reads base64 of many million characters', async () => {
    const turns = encode([[statusUpdate('completed', 'x'.repeat(6_000_000))]]);
    const { status } = (await send(`[test_case_id=long] [responses_json=${turns}]`)) as Task;
    expect(status.state).toBe('completed');
  });

  it('abandons the task if a turn does not end it', async () => {
    const task = await send(
      `[test_case_id=open][responses_json=${encode([[statusUpdate('working', 'still')]])}]`,
    );
    expect(outcome(task)).toEqual(['working', 'still']);
  });

  it('finds directives in text that spans several parts', async () => {
    const message = {
      messageId: crypto.randomUUID(),
      role: 'user' as const,
      parts: [
        { text: '[test_case_id=parts]' },
        { text: `[responses_json=${encode([[statusUpdate('completed', 'yes')]])}]` },
      ],
    };
    expect(outcome((await client.send({ message })) as Task)).toEqual(['completed', 'yes']);
  });
});

describe('invalid message directives', () => {
  const requires = 'The test agent requires [test_case_id] and [responses_json] directives.';
  const invalid = 'Invalid [responses_json] directive: ';
  const raw = (text: string): string => Buffer.from(text, 'latin1').toString('base64');
  it.each<[string, string, string | RegExp]>([
    ['no directives', 'hello', requires],
    ['responses_json without test_case_id', `[responses_json=${encode([])}]`, requires],
    ['unknown test case', '[test_case_id=unknown]', requires],
    [
      'invalid base64',
      '[test_case_id=w1][responses_json=a$b]',
      `${invalid}the value is not base64 of the standard alphabet`,
    ],
    [
      'base64url',
      '[test_case_id=w2][responses_json=ab-_]',
      `${invalid}the value is not base64 of the standard alphabet`,
    ],
    [
      'empty value',
      '[test_case_id=w3][responses_json=]',
      `${invalid}the value is not base64 of the standard alphabet`,
    ],
    [
      'invalid JSON',
      `[test_case_id=w4][responses_json=${raw('[[')}]`,
      /^Invalid \[responses_json\] directive: the decoded value is not JSON \(.+\)$/,
    ],
    [
      'invalid UTF-8',
      `[test_case_id=w5][responses_json=${raw('"\xff"')}]`,
      `${invalid}the decoded value is not JSON (the bytes are not UTF-8)`,
    ],
    [
      'not a list',
      `[test_case_id=w6][responses_json=${encode({})}]`,
      `${invalid}the JSON must be a list of turns`,
    ],
    [
      'not a list of turns',
      `[test_case_id=w7][responses_json=${encode([[], {}])}]`,
      `${invalid}turn 1 must be a list of events`,
    ],
    [
      'unknown kind',
      `[test_case_id=w8][responses_json=${encode([[statusUpdate('working', 'a'), { kind: 'x' }]])}]`,
      `${invalid}[0][1].kind must be task, status-update, artifact-update or message`,
    ],
    [
      'invalid field',
      `[test_case_id=w9][responses_json=${encode([[statusUpdate('wrong', 'a')]])}]`,
      `${invalid}[0][0].status.state must be a task state such as TASK_STATE_WORKING`,
    ],
    [
      'no turns',
      `[test_case_id=w10][responses_json=${encode([])}]`,
      'Test case w10 ran out of responses for turn 0.',
    ],
  ])('fail the task: %s', async (_name, text, expected) => {
    const task = await send(text);
    const [state, reason] = outcome(task);
    expect(state).toBe('failed');
    if (typeof expected === 'string') expect(reason).toBe(expected);
    else expect(reason).toMatch(expected);
  });

  it('fails the task after the last turn', async () => {
    const turns = encode([[statusUpdate('input-required', 'zero')]]);
    const { id: taskId } = await send(`[test_case_id=last][responses_json=${turns}]`);
    expect(outcome(await send('[test_case_id=last]', { taskId }))).toEqual([
      'failed',
      'Test case last ran out of responses for turn 1.',
    ]);
  });
});

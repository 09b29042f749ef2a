import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { wireTask1_0 } from '../../support/cli/client-command.ts';
import { type Row, row } from './row.ts';

/** Output and exit codes: tier 1. */
export const output: readonly Row[] = [
  row(
    'OUT_001',
    'prints context, task and state in every format; the rest on standard error',
    async ({ agent, run, document }) => {
      for (const flags of ['', ' --stream', ' --verbose']) {
        const { stdout, stderr } = await run(`send -a ${agent.url} fail${flags}`);
        expect(stdout.slice(-400)).toMatch(/Task ID: \S+\nContext ID: \S+\nState: TASK_STATE_FAILED/);
        expect(stderr).toContain('warning: The task ended as TASK_STATE_FAILED');
        expect(stdout).not.toContain('warning');
      }
      expect((await document(`send -a ${agent.url} fail`)).task).toMatchObject({
        status: { state: 'TASK_STATE_FAILED' },
      });
    },
  ),
  row('OUT_002', 'prints one JSON document with the final result', async ({ agent, document }) => {
    const { task } = await document(`send -a ${agent.url} 'slow 0.1'`, 0, { env: { A2ACLI_STREAM: 'true' } });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts[0].parts.map((each: any) => each.text).join('')).toContain('Line 5 of 5');
  }),
  row(
    'OUT_003',
    'prints JSON lines that end with the terminal event or the error',
    async ({ agent, lines }) => {
      expect((await lines(`send -a ${agent.url} 'slow 0.1'`)).at(-1)).toMatchObject({
        statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } },
      });
      expect((await lines('send -a http://127.0.0.1:9 hi', 3)).at(-1).error.code).toBe(
        'A2ACLI_ERR_UNREACHABLE',
      );
    },
  ),
  row('OUT_004', 'prints error envelopes that are equal over all transports', async ({ agent, document }) => {
    for (const transport of ['JSONRPC', 'HTTP+JSON']) {
      const { error } = await document(`task get unknown-task -a ${agent.url} --transport ${transport}`, 1);
      expect(error).toMatchObject({ code: 'TaskNotFoundError', message: 'Task not found' });
      expect(Object.keys(error)).toEqual(['code', 'message', 'hint', 'a2aCode']);
    }
    expect((await document('send hi', 2)).error.code).toBe('A2ACLI_ERR_USAGE');
    expect((await document(`send -a ${agent.url} hi --nonsense`, 2)).error.code).toBe('A2ACLI_ERR_USAGE');
  }),
  row(
    'OUT_005',
    'prints fields and closed blocks without control characters',
    async ({ agent, run, fields, raw }) => {
      const hostile = await raw({
        on: {
          SendMessage: () => ({
            task: wireTask1_0('COMPLETED', {
              artifacts: [
                {
                  artifactId: 'a',
                  name: 'x\nState: y\u001b[2J',
                  parts: [{ text: 'a\n\nState: fake\u001b]0;t\u0007' }],
                },
              ],
            }),
          }),
        },
      });
      const { text } = await fields(`send -a ${hostile.url} hi`, { env: { FORCE_COLOR: '1', NO_COLOR: '' } });
      // oxlint-disable-next-line no-control-regex -- matches control characters
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
      expect(text).toContain('Text:\n  a\n  \n  State: fake');
      expect(text.match(/^State: /gm)).toHaveLength(1);
      const { code, stdout } = await run(`chat -a ${agent.url}`, { input: 'hi\n' });
      expect(code).toBe(0);
      expect(stdout).toMatch(/^Event: task\n[^]*You said: hi/);
    },
  ),
  row('OUT_006', 'prints the task ID with --async', async ({ agent, document }) => {
    expect((await document(`send -a ${agent.url} 'slow 5' --async`)).task).toMatchObject({
      id: expect.any(String),
      contextId: expect.any(String),
    });
  }),
  row('EXIT_001', 'exits with 0 to 5 according to the error', async ({ agent, user, document }) => {
    expect((await document('card get -a no-such-file.json', 3)).error.code).toBe('A2ACLI_ERR_CARD_NOT_FOUND');
    expect((await document(`card get -a ${agent.url}/healthz/none.json`, 3)).error.code).toBe(
      'A2ACLI_ERR_CARD_NOT_FOUND',
    );
    writeFileSync(join(user.home, 'bad-card.json'), '[]');
    expect((await document('card get -a bad-card.json', 1)).error.code).toBe('A2ACLI_ERR_CARD_INVALID');
    expect((await document('send -a http://127.0.0.1:9 hi', 3)).error.code).toBe('A2ACLI_ERR_UNREACHABLE');
    expect((await document(`send -a ${agent.url}`, 2)).error.code).toBe('A2ACLI_ERR_USAGE');
  }),
  row('EXIT_002', 'exits with 0 whatever the state of the task', async ({ agent, run }) => {
    for (const word of ['fail', 'reject', 'ask', 'auth']) {
      const { code, stderr } = await run(`send -a ${agent.url} ${word}`);
      expect(code).toBe(0);
      expect(stderr).toMatch(/^warning: .*TASK_STATE_/m);
    }
  }),
];

import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { CliUser, wireTask1_0 } from '../../support/cli/client-command.ts';
import { type Row, row } from './row.ts';

/** Messages, tasks and polling: tier 1. */
export const messages: readonly Row[] = [
  row(
    'CARD_GET_001',
    'resolves a card by host, URL and file and selects a transport',
    async ({ agent, user, fields, document }) => {
      const { url } = agent;
      const card = await document(`card get -a ${url}`);
      writeFileSync(join(user.home, 'saved-card.json'), JSON.stringify(card));
      for (const ref of [
        url.replace('http://', ''),
        `${url}/.well-known/agent-card.json`,
        'saved-card.json',
        `file://${user.home}/saved-card.json`,
      ]) {
        const shown = await fields(`card get -a ${ref}`);
        expect(shown.Name).toBe('Demo');
        expect(shown.Selected).toMatch(/^JSONRPC 1\.0 http/);
      }
      expect((await fields('send -a saved-card.json hi')).State).toBe('TASK_STATE_COMPLETED');
    },
  ),
  row('SEND_001', 'sends a message that starts an interaction', async ({ agent, fields }) => {
    const shown = await fields(`send -a ${agent.url} 'hi there'`);
    expect(shown.text).toContain('Text:\n  You said: hi there\n\n');
  }),
  row('SEND_002', 'waits for the task unless --async is set', async ({ agent, polling, fields }) => {
    for (const { url } of [agent, polling]) {
      expect((await fields(`send -a ${url} 'slow 1' --poll-interval 100ms`)).State).toBe(
        'TASK_STATE_COMPLETED',
      );
      for (const flag of ['--async', '--return-immediately', '--no-wait'])
        expect((await fields(`send -a ${url} 'slow 5' ${flag}`)).State).toMatch(/SUBMITTED|WORKING/);
    }
  }),
  row(
    'SEND_003',
    'streams events, falls back without streaming, accepts a direct message',
    async ({ agent, polling, lines }) => {
      const events = await lines(`send -a ${agent.url} 'slow 0.1'`);
      expect(events[0]).toHaveProperty('task');
      expect(events.filter((each) => each.artifactUpdate)).toHaveLength(5);
      expect(JSON.stringify((await lines(`send -a ${polling.url} 'slow 0.1'`)).at(-1))).toContain(
        'TASK_STATE_COMPLETED',
      );
      expect(await lines(`send -a ${agent.url} hello`)).toMatchObject([{ message: { role: 'ROLE_AGENT' } }]);
    },
  ),
  row('SEND_004', 'prints text, data and file parts', async ({ agent, fields }) => {
    expect((await fields(`send -a ${agent.url} 'data x'`)).text).toContain('Data:\n  {\n    "text": "x"');
    expect((await fields(`send -a ${agent.url} 'file x'`)).File).toBe('table.csv (text/csv, 15 bytes)');
    expect((await fields(`send -a ${agent.url} hi`)).text).toMatch(/^Text:\n {2}You said: hi\n\n/m);
  }),
  row(
    'SEND_005',
    'sends explicit media types and infers missing ones',
    async ({ user, run, fields, recording }) => {
      const { url, requests } = await recording();
      for (const name of ['a.bin', 'b.csv']) writeFileSync(join(user.home, name), name);
      await fields(
        `send -a ${url} --file a.bin --media-type application/pdf --file b.csv --text t --media-type text/markdown`,
      );
      expect(requests[0]?.request.message.parts.map(({ mediaType }) => mediaType)).toEqual([
        'application/pdf',
        'text/csv',
        'text/markdown',
      ]);
      expect((await run(`send -a ${url} --media-type text/plain x`)).code).toBe(2);
    },
  ),
  row(
    'SEND_006',
    'keeps the order of parts; one may come from standard input',
    async ({ user, fields, recording }) => {
      const { url, requests } = await recording();
      writeFileSync(join(user.home, 'c.txt'), 'c');
      await fields(
        `send -a ${url} --text one --data - --file c.txt --file https://files.example.com/x.pdf --text two`,
        { input: '{"k":[1]}' },
      );
      expect(requests[0]?.request.message.parts).toEqual([
        { text: 'one' },
        { data: { k: [1] }, mediaType: 'application/json' },
        { raw: 'Yw==', filename: 'c.txt', mediaType: 'text/plain' },
        { url: 'https://files.example.com/x.pdf', filename: 'x.pdf', mediaType: 'application/pdf' },
        { text: 'two' },
      ]);
    },
  ),
  row('TASK_GET_001', 'gets a task with artifacts and history', async ({ agent, fields, document }) => {
    const { task } = await document(`send -a ${agent.url} 'file y'`);
    const shown = await fields(`task get ${task.id} --history 2 -a ${agent.url}`);
    expect(shown).toMatchObject({
      'Task ID': task.id,
      'Context ID': task.contextId,
      State: 'TASK_STATE_COMPLETED',
    });
    expect(shown.text).toMatch(/File: table\.csv[^]*History: user\nText:\n {2}file y/);
    expect(
      (await document(`task get ${task.id} --history 2 -a ${agent.url}`)).artifacts[0].parts[0].filename,
    ).toBe('table.csv');
  }),
  row(
    'TASK_CANCEL_001',
    'cancels a task; repeating it is idempotent',
    async ({ agent, fields, document }) => {
      const { task } = await document(`send -a ${agent.url} 'slow 60' --async`);
      for (let time = 0; time < 2; time++)
        expect((await fields(`task cancel ${task.id} -a ${agent.url}`)).State).toBe('TASK_STATE_CANCELED');
    },
  ),
  row('INTERACT_001', 'continues a context', async ({ agent, document }) => {
    const first = await document(`send -a ${agent.url} one`);
    const second = await document(`send -a ${agent.url} two --context-id ${first.task.contextId}`);
    expect(second.task.contextId).toBe(first.task.contextId);
    expect(second.task.id).not.toBe(first.task.id);
  }),
  row(
    'INTERACT_002',
    'continues a task and never starts another one instead',
    async ({ agent, document }) => {
      const { task } = await document(`send -a ${agent.url} ask`);
      const wrong = await document(`send -a ${agent.url} green --task-id ${task.id} --context-id other`, 1);
      expect(wrong.error.hint).toContain('--debug');
      const done = await document(`send -a ${agent.url} green --task-id ${task.id}`);
      expect(done.task).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } });
      const unknown = await document(`send -a ${agent.url} green --task-id unknown-task`, 1);
      expect(unknown.error).toMatchObject({ code: 'TaskNotFoundError', a2aCode: -32001 });
      expect(unknown.error.hint).toContain('--debug');
    },
  ),
  row('INTERACT_003', 'does not invent task or context IDs', async ({ fields, recording }) => {
    const { url, requests } = await recording();
    await fields(`send -a ${url} hi`);
    expect(requests[0]?.request.message).not.toHaveProperty('taskId');
    expect(requests[0]?.request.message).not.toHaveProperty('contextId');
  }),
  row('INTERACT_004', 'prints the IDs and the command to resume', async ({ agent, fields }) => {
    const shown = await fields(`send -a ${agent.url} ask`);
    expect(shown.State).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(shown.Resume).toBe(`dragoman send --task-id ${shown['Task ID']} -a ${agent.url} "<reply>"`);
    expect(
      (await fields(shown.Resume!.slice('dragoman '.length).replace('"<reply>"', 'red'))).text,
    ).toContain('Your color is red.');
  }),
  row('INTERACT_005', 'stores no session state', async ({ agent }) => {
    const other = new CliUser();
    const { code } = await other.run(['send', '-a', agent.url, 'ask']);
    expect(code).toBe(0);
    expect(readdirSync(other.home)).toEqual([]);
    expect((await other.run(['send', '-a', agent.url, 'x', '--continue'])).code).toBe(2);
    other.removeHome();
  }),
  row('TASK_POLL_001', 'gets a task once, or polls it until it is done', async ({ agent, document }) => {
    const long = await document(`send -a ${agent.url} 'slow 600' --async`);
    const read = await document(`task get ${long.task.id} -a ${agent.url}`);
    expect(read.status.state).toMatch(/SUBMITTED|WORKING/);
    await document(`task cancel ${long.task.id} -a ${agent.url}`);
    const short = await document(`send -a ${agent.url} 'slow 1' --async`);
    expect(
      (await document(`task get ${short.task.id} --wait --poll-interval 200ms -a ${agent.url}`)).status.state,
    ).toBe('TASK_STATE_COMPLETED');
  }),
  row(
    'TASK_POLL_002',
    'respects --poll-interval and --timeout, and can be interrupted',
    async ({ start, document, raw }) => {
      const never = await raw({
        on: { SendMessage: () => ({ task: wireTask1_0('WORKING') }), GetTask: () => wireTask1_0('WORKING') },
      });
      const countPolls = () => never.requests.filter((each) => each.json?.method === 'GetTask').length;
      // On a busy machine the time may end before the first response, when there is no task to continue with.
      for (const seconds of [1, 8, 60]) {
        const before = countPolls();
        const { error } = await document(
          `send -a ${never.url} hi --poll-interval 200ms --timeout ${seconds}s`,
          5,
        );
        expect(error).toMatchObject({ code: 'A2ACLI_ERR_TIMEOUT', a2aCode: null });
        expect(countPolls() - before).toBeLessThan(6 * seconds);
        if (error.hint === 'Raise --timeout.' && seconds < 60) continue;
        expect(error.hint).toContain('task get task-1 --wait');
        break;
      }
      const waiting = start(`send -a ${never.url} hi --poll-interval 200ms`);
      await waiting.prints(/Waiting: task task-1/, 'stderr');
      const { code, stderr } = await waiting.stop('SIGINT');
      expect(code).toBe(130);
      expect(stderr).toContain('Task ID: task-1\nResume: dragoman task get task-1 --wait');
    },
  ),
  row(
    'TASK_POLL_003',
    'stops at interrupted states and continues at unknown ones',
    async ({ polling, fields, raw }) => {
      expect((await fields(`send -a ${polling.url} ask --poll-interval 100ms`)).State).toBe(
        'TASK_STATE_INPUT_REQUIRED',
      );
      expect((await fields(`send -a ${polling.url} auth --poll-interval 100ms`)).State).toBe(
        'TASK_STATE_AUTH_REQUIRED',
      );
      const states = ['UNSPECIFIED', 'UNSPECIFIED', 'COMPLETED'];
      const odd = await raw({
        on: {
          SendMessage: () => ({ task: wireTask1_0('UNSPECIFIED') }),
          GetTask: () => wireTask1_0(states.shift() ?? 'COMPLETED'),
        },
      });
      expect((await fields(`task get task-1 -a ${odd.url}`)).State).toBe('TASK_STATE_UNSPECIFIED');
      expect((await fields(`send -a ${odd.url} hi --poll-interval 50ms`)).State).toBe('TASK_STATE_COMPLETED');
    },
  ),
  row('TASK_POLL_004', 'polls the task when its stream breaks', async ({ fields, raw }) => {
    const broken = await raw({
      card: { capabilities: { streaming: true } },
      stream: (_params, events) => {
        events.event({ task: wireTask1_0('WORKING') });
        events.reset();
      },
      on: { GetTask: () => wireTask1_0('COMPLETED') },
    });
    expect((await fields(`send -a ${broken.url} hi --poll-interval 50ms`)).State).toBe(
      'TASK_STATE_COMPLETED',
    );
  }),
];

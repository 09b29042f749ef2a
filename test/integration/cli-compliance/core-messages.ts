import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { CliUser, wireTask1_0 } from '../../support/cli/client-command.ts';
import { type Row, row } from './row.ts';

/** What a person says to an agent, and what becomes of it: tier 1. */
export const messages: readonly Row[] = [
  row(
    'CARD_GET_001',
    'cards by host, URL and file, and a transport out of them',
    async ({ agent, person, fields, document }) => {
      const { url } = agent;
      const card = await document(`card get -a ${url}`);
      writeFileSync(join(person.home, 'saved-card.json'), JSON.stringify(card));
      for (const ref of [
        url.replace('http://', ''),
        `${url}/.well-known/agent-card.json`,
        'saved-card.json',
        `file://${person.home}/saved-card.json`,
      ]) {
        const shown = await fields(`card get -a ${ref}`);
        expect(shown.Name).toBe('Demo');
        expect(shown.Selected).toMatch(/^JSONRPC 1\.0 http/);
      }
      expect((await fields('send -a saved-card.json hi')).State).toBe('TASK_STATE_COMPLETED');
    },
  ),
  row('SEND_001', 'a message begins an interaction', async ({ agent, fields }) => {
    const shown = await fields(`send -a ${agent.url} 'hi there'`);
    expect(shown.text).toContain('Text:\n  You said: hi there\n\n');
  }),
  row('SEND_002', 'waits unless told not to', async ({ agent, plain, fields }) => {
    for (const { url } of [agent, plain]) {
      expect((await fields(`send -a ${url} 'slow 1' --poll-interval 100ms`)).State).toBe(
        'TASK_STATE_COMPLETED',
      );
      for (const flag of ['--async', '--return-immediately', '--no-wait'])
        expect((await fields(`send -a ${url} 'slow 5' ${flag}`)).State).toMatch(/SUBMITTED|WORKING/);
    }
  }),
  row(
    'SEND_003',
    'streams where it can, ends where it cannot, takes a bare message',
    async ({ agent, plain, lines }) => {
      const events = await lines(`send -a ${agent.url} 'slow 0.1'`);
      expect(events[0]).toHaveProperty('task');
      expect(events.filter((each) => each.artifactUpdate)).toHaveLength(5);
      expect(JSON.stringify((await lines(`send -a ${plain.url} 'slow 0.1'`)).at(-1))).toContain(
        'TASK_STATE_COMPLETED',
      );
      expect(await lines(`send -a ${agent.url} hello`)).toMatchObject([{ message: { role: 'ROLE_AGENT' } }]);
    },
  ),
  row('SEND_004', 'shows text, data and files', async ({ agent, fields }) => {
    expect((await fields(`send -a ${agent.url} 'data x'`)).text).toContain('Data:\n  {\n    "heard": "x"');
    expect((await fields(`send -a ${agent.url} 'file x'`)).File).toBe('table.csv (text/csv, 15 bytes)');
    expect((await fields(`send -a ${agent.url} hi`)).text).toMatch(/^Text:\n {2}You said: hi\n\n/m);
  }),
  row(
    'SEND_005',
    'media types are told, and guessed only where they are not',
    async ({ person, run, fields, recording }) => {
      const { url, heard } = await recording();
      for (const name of ['a.bin', 'b.csv']) writeFileSync(join(person.home, name), name);
      await fields(
        `send -a ${url} --file a.bin --media-type application/pdf --file b.csv --text t --media-type text/markdown`,
      );
      expect(heard[0]?.request.message.parts.map(({ mediaType }) => mediaType)).toEqual([
        'application/pdf',
        'text/csv',
        'text/markdown',
      ]);
      expect((await run(`send -a ${url} --media-type text/plain x`)).code).toBe(2);
    },
  ),
  row(
    'SEND_006',
    'parts keep their order; one may come from standard input',
    async ({ person, fields, recording }) => {
      const { url, heard } = await recording();
      writeFileSync(join(person.home, 'c.txt'), 'c');
      await fields(
        `send -a ${url} --text one --data - --file c.txt --file https://files.example.com/x.pdf --text two`,
        { input: '{"k":[1]}' },
      );
      expect(heard[0]?.request.message.parts).toEqual([
        { text: 'one' },
        { data: { k: [1] }, mediaType: 'application/json' },
        { raw: 'Yw==', filename: 'c.txt', mediaType: 'text/plain' },
        { url: 'https://files.example.com/x.pdf', filename: 'x.pdf', mediaType: 'application/pdf' },
        { text: 'two' },
      ]);
    },
  ),
  row(
    'TASK_GET_001',
    'a task by its name, with what it made and what was said',
    async ({ agent, fields, document }) => {
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
    },
  ),
  row('TASK_CANCEL_001', 'ends a task, and may be said twice', async ({ agent, fields, document }) => {
    const { task } = await document(`send -a ${agent.url} 'slow 60' --async`);
    for (let time = 0; time < 2; time++)
      expect((await fields(`task cancel ${task.id} -a ${agent.url}`)).State).toBe('TASK_STATE_CANCELED');
  }),
  row('INTERACT_001', 'stays in a context', async ({ agent, document }) => {
    const first = await document(`send -a ${agent.url} one`);
    const second = await document(`send -a ${agent.url} two --context-id ${first.task.contextId}`);
    expect(second.task.contextId).toBe(first.task.contextId);
    expect(second.task.id).not.toBe(first.task.id);
  }),
  row(
    'INTERACT_002',
    'goes on with a task, and never begins another instead',
    async ({ agent, document }) => {
      const { task } = await document(`send -a ${agent.url} ask`);
      const wrong = await document(`send -a ${agent.url} green --task-id ${task.id} --context-id other`, 1);
      expect(wrong.error.hint).toContain('--debug');
      const done = await document(`send -a ${agent.url} green --task-id ${task.id}`);
      expect(done.task).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } });
      const unknown = await document(`send -a ${agent.url} green --task-id nobody`, 1);
      expect(unknown.error).toMatchObject({ code: 'TaskNotFoundError', a2aCode: -32001 });
      expect(unknown.error.hint).toContain('--debug');
    },
  ),
  row('INTERACT_003', 'makes no names that are the agent’s to make', async ({ fields, recording }) => {
    const { url, heard } = await recording();
    await fields(`send -a ${url} hi`);
    expect(heard[0]?.request.message).not.toHaveProperty('taskId');
    expect(heard[0]?.request.message).not.toHaveProperty('contextId');
  }),
  row('INTERACT_004', 'tells the names, and the command to go on with', async ({ agent, fields }) => {
    const shown = await fields(`send -a ${agent.url} ask`);
    expect(shown.State).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(shown.Resume).toBe(`dragoman send --task-id ${shown['Task ID']} "<reply>" -a ${agent.url}`);
    expect(
      (await fields(shown.Resume!.slice('dragoman '.length).replace('"<reply>"', 'red'))).text,
    ).toContain('Your colour is red.');
  }),
  row('INTERACT_005', 'remembers nothing', async ({ agent }) => {
    const other = new CliUser();
    const { code } = await other.run(['send', '-a', agent.url, 'ask']);
    expect(code).toBe(0);
    expect(readdirSync(other.home)).toEqual([]);
    expect((await other.run(['send', '-a', agent.url, 'x', '--continue'])).code).toBe(2);
    other.removeHome();
  }),
  row('TASK_POLL_001', 'looks once, or until there is an end', async ({ agent, document }) => {
    const { task } = await document(`send -a ${agent.url} 'slow 4' --async`);
    expect((await document(`task get ${task.id} -a ${agent.url}`)).status.state).toMatch(/SUBMITTED|WORKING/);
    expect(
      (await document(`task get ${task.id} --wait --poll-interval 200ms -a ${agent.url}`)).status.state,
    ).toBe('TASK_STATE_COMPLETED');
  }),
  row(
    'TASK_POLL_002',
    'keeps to interval and time, and can be interrupted',
    async ({ start, document, raw }) => {
      const never = await raw({
        on: { SendMessage: () => ({ task: wireTask1_0('WORKING') }), GetTask: () => wireTask1_0('WORKING') },
      });
      const { error } = await document(`send -a ${never.url} hi --poll-interval 200ms --timeout 1s`, 5);
      expect(error).toMatchObject({ code: 'A2ACLI_ERR_TIMEOUT', a2aCode: null });
      expect(error.hint).toContain('task get task-1 --wait');
      expect(never.requests.filter((each) => each.json?.method === 'GetTask').length).toBeLessThan(6);
      const waiting = start(`send -a ${never.url} hi --poll-interval 200ms`);
      await waiting.prints(/Waiting: task task-1/, 'stderr');
      const { code, stderr } = await waiting.stop('SIGINT');
      expect(code).toBe(130);
      expect(stderr).toContain('Task ID: task-1\nResume: dragoman task get task-1 --wait');
    },
  ),
  row(
    'TASK_POLL_003',
    'stops where the caller has to act, and goes on where nothing is known',
    async ({ plain, fields, raw }) => {
      expect((await fields(`send -a ${plain.url} ask --poll-interval 100ms`)).State).toBe(
        'TASK_STATE_INPUT_REQUIRED',
      );
      expect((await fields(`send -a ${plain.url} auth --poll-interval 100ms`)).State).toBe(
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
  row('TASK_POLL_004', 'asks for the task where its stream breaks', async ({ fields, raw }) => {
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

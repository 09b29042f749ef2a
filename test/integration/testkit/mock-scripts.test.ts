import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import type { StreamEvent } from '../../../src/protocol/event.ts';
import type { Message } from '../../../src/protocol/message.ts';
import { textOf } from '../../../src/protocol/part.ts';
import { lintStream } from '../../../src/protocol/lint-stream.ts';
import type { SendRequest } from '../../../src/protocol/requests.ts';
import { isTask, type Task } from '../../../src/protocol/task.ts';
import { TestAgentServer } from '../../../src/testkit/test-agent-server.ts';

let server: TestAgentServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

/** A test agent that plays one of the examples. */
async function playing(example: string): Promise<TestAgentServer> {
  const scriptFile = fileURLToPath(new URL(`../../../examples/scripts/${example}.yaml`, import.meta.url));
  server = await TestAgentServer.start({ scriptFile });
  return server;
}

const say = (text: string, more: Partial<Message> = {}): SendRequest => ({
  message: { messageId: crypto.randomUUID(), role: 'user', parts: [{ text }], ...more },
});

/** The state of the answer, and its last words. */
const statusLine = (answer: Task | Message): string =>
  isTask(answer)
    ? `${answer.status.state}: ${textOf(answer.status.message?.parts ?? [])}`
    : `message: ${textOf(answer.parts)}`;

describe('example scripts', () => {
  it('travel.yaml streams, requests input, stores state and returns a file', async () => {
    await using agent = connect((await playing('travel')).url);
    const events: StreamEvent[] = [];
    for await (const event of agent.stream(say('Book Lisbon'))) events.push(event);
    expect(lintStream(events)).toEqual([]);
    const [first] = events;
    const id = first?.kind === 'task' ? first.task.id : '';
    expect(events.at(-1)).toMatchObject({ status: { state: 'input-required' } });
    const booked = await agent.send(say('Monday', { taskId: id }));
    expect(statusLine(booked)).toBe('completed: Lisbon on Monday, have a good journey');
    expect(booked).toMatchObject({
      artifacts: [{ name: 'ticket.json', parts: [{ data: { to: 'Lisbon', day: 'Monday' } }] }],
    });
  });

  it('travel.yaml responds with a message, chunks, a sequence and the fallback', async () => {
    await using agent = connect((await playing('travel')).url);
    expect(statusLine(await agent.send(say('Hello')))).toBe('message: Hello! Where do you want to go?');
    const timetable = (await agent.send(say('the timetable'))) as Task;
    expect(timetable.artifacts?.map(({ parts }) => textOf(parts))).toEqual([
      '09:00 Lisbon\n10:30 Porto\n12:00 Faro\n',
    ]);
    const contextId = crypto.randomUUID();
    const answers: string[] = [];
    for (let i = 0; i < 3; i++)
      answers.push(statusLine(await agent.send(say('are we there yet', { contextId }))));
    expect(answers).toEqual([
      'completed: Not yet',
      'completed: Not yet, as I said',
      'failed: That is enough',
    ]);
    expect(statusLine(await agent.send(say('Sing')))).toBe(
      'rejected: I only book journeys, but you said: Sing',
    );
  });

  it('trouble.yaml fails once, then works, and abandons a task', async () => {
    const { url } = await playing('trouble');
    await using agent = connect(url);
    const crash = (): Promise<Response> =>
      fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'SendMessage',
          params: {
            message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'crash' }] },
          },
        }),
      });
    expect((await crash()).status).toBe(503);
    expect(await (await crash()).text()).toContain('Back again');
    expect(statusLine(await agent.send(say('hang up')))).toBe('working: I will be right back');
  });

  it('secured.yaml authenticates clients and requests authorization', async () => {
    const { url } = await playing('secured');
    await using stranger = connect(url);
    await expect(stranger.send(say('x'))).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' });
    await using alice = connect(url, { headers: { authorization: 'Bearer token-of-alice' } });
    const interrupted = (await alice.send(
      say('', { parts: [{ data: { transfer: { amount: 50 } } }] }),
    )) as Task;
    expect(statusLine(interrupted)).toBe('auth-required: Please confirm in your app');
    expect(statusLine(await alice.send(say('done', { taskId: interrupted.id })))).toBe(
      'completed: Moved 50 for alice',
    );
  });
});

describe('script loaded over the admin API', () => {
  it('cannot read files, whatever its name is', async () => {
    const { url } = await playing('travel');
    const script = 'rules: [{ then: [{ artifact: { file: travel.yaml } }] }]';
    const file = fileURLToPath(new URL('../../../examples/scripts/other.yaml', import.meta.url));
    const answer = await fetch(new URL('/__admin/rules', url), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ script, file }),
    });
    expect(answer.ok).toBe(false);
    expect(await answer.text()).toContain('attachments need a script that was loaded from a file');
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { request0_1, request0_3 } from '../../support/mesh/mesh-test-client.ts';
import { hasPostgres, usePostgres } from '../../support/store/postgres-server.ts';
import { brokers, openGatewayReplicas } from './gateway-replicas.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-gateways-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const postgres = usePostgres();

describe.each(brokers)('two gateways that share a queue on %s', (_name, program, start) => {
  it.skipIf(program === undefined)('answer each request once', async () => {
    const { startGateway, ask, expectOneAnswerEach } = await openGatewayReplicas(start);
    await Promise.all([startGateway(1), startGateway(2)]);
    await ask(0, 30);
    await expectOneAnswerEach(30);
  });
});

const stores = brokers.flatMap(([broker, program, start]) => [
  {
    broker,
    store: 'SQLite',
    start,
    isSkipped: program === undefined,
    url: () => `sqlite:${join(folder, broker)}.db`,
  },
  {
    broker,
    store: 'PostgreSQL',
    start,
    isSkipped: program === undefined || !hasPostgres,
    url: () => `${postgres().url}?schema=${broker.toLowerCase()}`,
  },
]);

/**
 * Conversations of each test. The broker decides which gateway receives a request, so that most conversations involve
 * both; in mesh-register.test.ts the test decides.
 */
const count = 20;
const numbers = Array.from({ length: count }, (_none, n) => n);

describe.each(stores)(
  'two gateways that share a queue on $broker and a store in $store',
  ({ start, isSkipped, url }) => {
    async function open() {
      const opened = await openGatewayReplicas(start, `store: "${url()}"`);
      await Promise.all([opened.startGateway(1), opened.startGateway(2)]);
      const { client } = opened;
      /** Sends a request and returns its response. */
      const call = async (id: string, request: unknown) => {
        await client.send('Echo', id, request);
        return (await client.waitForResponse(id)).body;
      };
      return { ...opened, call };
    }

    it.skipIf(isSkipped)('continue, return and repeat the tasks of each other', async () => {
      const { call, worked, client } = await open();
      const outcomes = await Promise.all(
        numbers.map(async (n) => {
          const contextId = `s-${n}`;
          const asked = await call(`a-${n}`, request0_3(`a-${n}`, 'ask', { contextId }));
          // By its task, or as most gateways of the mesh do, by its context.
          const message = n % 2 === 0 ? { taskId: `a-${n}` } : {};
          const reply = request0_3(`r-${n}`, `L${n}`, { contextId, message });
          const answered = await call(`r-${n}`, reply);
          const got = await call(`g-${n}`, {
            jsonrpc: '2.0',
            id: `g-${n}`,
            method: 'tasks/get',
            params: { id: `r-${n}` },
          });
          const [first] = client.repliesFor(`r-${n}`, 'response');
          await client.send('Echo', `r-${n}`, reply);
          await client.waitFor(
            (each) => each !== first && each.channel === 'response' && each.topic.endsWith(`/r-${n}`),
          );
          const responses = client.repliesFor(`r-${n}`, 'response');
          return {
            states: [asked, answered, got].map(({ result }) => result?.status.state),
            isAnswered: JSON.stringify(answered).includes(`answered L${n}`),
            isSame: responses.every(
              ({ properties, body }) =>
                JSON.stringify([properties['a2aResponseId'], body]) ===
                JSON.stringify([first?.properties['a2aResponseId'], first?.body]),
            ),
          };
        }),
      );
      expect(outcomes).toEqual(
        numbers.map(() => ({
          states: ['input-required', 'completed', 'completed'],
          isAnswered: true,
          isSame: true,
        })),
      );
      // The reply continues the run that asked.
      expect(worked).toEqual(numbers.map(() => 'ask'));
    });

    it.skipIf(isSkipped)('cancel the tasks of each other', async () => {
      const { call, client } = await open();
      const states = await Promise.all(
        numbers.map(async (n) => {
          const id = `w-${n}`;
          const request =
            n % 2 === 0 ? request0_3(id, 'wait', { contextId: `s-${n}` }) : request0_1(id, 'wait');
          await client.send('Echo', id, request);
          await client.waitFor((each) => each.channel === 'status' && each.topic.endsWith(`/${id}`));
          const canceled = await call(`c-${n}`, {
            jsonrpc: '2.0',
            id: `c-${n}`,
            method: 'tasks/cancel',
            params: { id },
          });
          const ended = await client.waitForResponse(id);
          return [
            canceled.result?.status.state,
            ended.body.result?.status.state,
            client.repliesFor(id, 'response').length,
          ];
        }),
      );
      expect(states).toEqual(numbers.map(() => ['canceled', 'canceled', 1]));
    });
  },
);

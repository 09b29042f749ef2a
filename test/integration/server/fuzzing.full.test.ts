import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineAgent, type LocalAgent } from '../../../src/engine/local-agent.ts';
import { memoryTaskStore } from '../../../src/store/memory-task-store.ts';
import { serve, type RunningServer } from '../../../src/server/node/serve.ts';
import { userRequest, expectTask } from '../../support/engine/conversation.ts';
import { SeededDice, type FuzzedRequest, fuzzRequest } from '../../support/fuzz/request-fuzzer.ts';
import {
  sendRawRequest,
  RawConnection,
  type RawHttpResponse,
  rawRequest,
} from '../../support/http/raw-http.ts';
import { type SeedRequest, seedRequests } from '../../support/fuzz/seed-requests.ts';

const count = Number(process.env.DRAGOMAN_MUTANTS ?? 50_000);
const seed = Number(process.env.DRAGOMAN_SEED ?? Date.now() % 1_000_000);
const lines = 4;
const atOnce = 32;

const faults: unknown[] = [];
const noteFault = (fault: unknown): void => {
  faults.push(fault);
};

let agent: LocalAgent;
let server: RunningServer;
let seeds: SeedRequest[];

beforeAll(async () => {
  process.on('unhandledRejection', noteFault);
  agent = defineAgent(
    {
      name: 'Echo',
      description: 'Says it back',
      pushNotifications: true,
      process: ({ text }) => text || 'nothing',
    },
    {
      taskStore: memoryTaskStore({ maxTasks: 5_000, maxReplayableEvents: 100 }),
      maxPushConfigs: 1_000_000,
      // No request may leave the local host.
      push: { egress: { resolve: async () => [] } },
    },
  );
  server = await serve(agent, { maxBodyBytes: 100_000, onError: noteFault });
  seeds = seedRequests(expectTask(await agent.send(userRequest('hi'))).id);
});

afterAll(async () => {
  process.off('unhandledRejection', noteFault);
  await server.stop(100);
  await agent.close();
});

/** Returns what is wrong with a response, if anything. */
function problem({ status, headers, body }: RawHttpResponse): string | undefined {
  if (!(status >= 200 && status < 500)) return `status ${status}: ${body.slice(0, 300)}`;
  if (body.includes('"code":-32603')) return `an internal error: ${body.slice(0, 300)}`;
  const type = headers.get('content-type') ?? '';
  try {
    if (/\bjson\b/.test(type) && body !== '') JSON.parse(body);
    if (type.startsWith('text/event-stream'))
      for (const [, data = ''] of body.matchAll(/^data: (.*)$/gm)) JSON.parse(data);
  } catch {
    return `not JSON: ${body.slice(0, 300)}`;
  }
  return undefined;
}

/** Sends pipelined requests and returns the responses received before the connection closed. */
async function sendFramed(
  line: RawConnection,
  mutants: readonly FuzzedRequest[],
): Promise<RawHttpResponse[]> {
  line.write(Buffer.concat(mutants.map(({ bytes }) => bytes)));
  const replies: RawHttpResponse[] = [];
  for (const _mutant of mutants) {
    const reply = await line.nextResponse();
    if (!reply) break;
    replies.push(reply);
  }
  return replies;
}

/** Sends bytes that may not be HTTP on a new connection and ends it. */
async function sendAlone({ bytes }: FuzzedRequest): Promise<RawHttpResponse[]> {
  const line = new RawConnection(server.port);
  line.socket.end(bytes);
  const replies = await line.remainingResponses();
  line.destroy();
  return replies;
}

interface Tally {
  replies: number;
  statuses: Map<number, number>;
  problems: string[];
}

async function work(dice: SeededDice, share: number, tally: Tally): Promise<void> {
  let line = new RawConnection(server.port);
  for (let left = share; left > 0; left -= atOnce) {
    const mutants = Array.from({ length: Math.min(atOnce, left) }, () => fuzzRequest(dice.pick(seeds), dice));
    const framed = mutants.filter(({ isFramed }) => isFramed);
    const [together, ...alone] = await Promise.all([
      sendFramed(line, framed),
      ...mutants.filter(({ isFramed }) => !isFramed).map(sendAlone),
    ]);
    if (together.length < framed.length) {
      tally.problems.push(`a line closed after: ${framed[together.length]?.bytes.toString('latin1') ?? ''}`);
      line.destroy();
      line = new RawConnection(server.port);
    }
    for (const reply of [...together, ...alone.flat()]) {
      tally.replies++;
      tally.statuses.set(reply.status, (tally.statuses.get(reply.status) ?? 0) + 1);
      const wrong = problem(reply);
      if (wrong !== undefined) tally.problems.push(wrong);
    }
  }
  line.destroy();
}

it(`responds correctly to ${count} mutated requests (seed ${seed})`, { timeout: 120_000 }, async () => {
  const tally: Tally = { replies: 0, statuses: new Map(), problems: [] };
  await Promise.all(
    Array.from({ length: lines }, (_, i) =>
      work(new SeededDice(seed * lines + i), Math.ceil(count / lines), tally),
    ),
  );
  expect(tally.problems.slice(0, 5), `seed ${seed}`).toEqual([]);
  expect(faults.slice(0, 5), `seed ${seed}`).toEqual([]);
  expect(tally.replies).toBeGreaterThan(count * 0.9);
  // Most are rejected and many are not; otherwise the mutations would be useless.
  expect(tally.statuses.get(200)).toBeGreaterThan(count * 0.2);
  expect(tally.statuses.get(400)).toBeGreaterThan(count * 0.05);
});

it('still responds after the mutated requests', async () => {
  expect((await sendRawRequest(server.port, rawRequest('GET', '/healthz')))?.status).toBe(200);
  for (const each of seeds.slice(0, 2)) {
    const reply = await sendRawRequest(
      server.port,
      rawRequest(each.verb, each.path, JSON.stringify(each.body), each.headers),
    );
    expect(reply?.status, each.name).toBe(200);
    expect(reply?.body, each.name).toContain('"result"');
  }
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(Object.keys(Object.prototype)).toEqual([]);
});

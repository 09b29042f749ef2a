import { afterEach, describe, expect, it } from 'vitest';
import { defineAgent, type LocalAgent } from '../../../src/engine/local-agent.ts';
import type { FastPathServer } from '../../../src/server/fast-path/fast-path-server.ts';
import { type ServeOptions, type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { userRequest, expectTask } from '../../support/engine/conversation.ts';
import { SeededDice, fuzzRequest } from '../../support/fuzz/request-fuzzer.ts';
import { RawConnection, type RawHttpResponse } from '../../support/http/raw-http.ts';
import { requestBytes, seedRequests } from '../../support/fuzz/seed-requests.ts';

const opened: { server: RunningServer; agent: LocalAgent }[] = [];
afterEach(async () => {
  for (const { server, agent } of opened.splice(0)) {
    await server.stop(50);
    await agent.close();
  }
});

/** An agent with deterministic ids. */
async function open(options: ServeOptions) {
  let drawn = 0;
  const agent = defineAgent(
    {
      name: 'Echo',
      description: 'Says it back',
      pushNotifications: true,
      async *process({ text }) {
        yield text;
      },
    },
    { generateId: () => `id-${++drawn}`, push: { egress: { resolve: async () => [] } } },
  );
  const server = await serve(agent, options);
  opened.push({ server, agent });
  return { agent, port: server.port, fastPathServer: server.server as FastPathServer };
}

describe('fast path and node:http', () => {
  /** Removes times, ports, ids and encrypted page tokens, which differ between both servers. */
  function comparable({ status, headers, body }: RawHttpResponse) {
    const { date, ...others } = Object.fromEntries(headers);
    // Only responses to invalid HTTP have no Date header.
    if (status < 300) expect(date).toMatch(/ GMT$/);
    return {
      status,
      headers: others,
      body: body
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
        .replaceAll(/"(?:m-\d+|[\da-f]{8}-[\da-f-]{27})"/g, '"M"')
        .replaceAll(/"nextPageToken":"[^"]+"/g, '"nextPageToken":"T"')
        .replaceAll(/127\.0\.0\.1:\d+|localhost:\d+/g, 'HOST'),
    };
  }

  it('return the same responses to mutated requests', { timeout: 120_000 }, async () => {
    const seed = Number(process.env.DRAGOMAN_SEED ?? 1);
    const options = { maxBodyBytes: 100_000 };
    const twins = [await open(options), await open({ ...options, fastPath: false })] as const;
    const seeds = await Promise.all(
      twins.map(async ({ agent }) => seedRequests(expectTask(await agent.send(userRequest('hi'))).id)),
    );
    let compared = 0;
    let fastPathConnectionCount = 0;
    for (let i = 0; i < 3_000; i++) {
      const at = i % (seeds[0]?.length ?? 1);
      const mutants = seeds.map((each) => {
        const chosen = each[at];
        if (!chosen) throw new Error('there is a seed');
        // The same seed produces the same mutation.
        return i < each.length
          ? { bytes: requestBytes(chosen), isFramed: true, strategy: 'as it is' }
          : fuzzRequest(chosen, new SeededDice(seed + i));
      });
      const [ours, theirs] = await Promise.all(
        twins.map(async ({ port }, twin) => {
          const line = new RawConnection(port);
          line.write(mutants[twin]?.bytes ?? '');
          // A request without complete framing may wait until the client ends.
          if (!mutants[twin]?.isFramed) line.socket.end();
          const reply = await line.nextResponse();
          if (twin === 0) fastPathConnectionCount += twins[0].fastPathServer.fastPathConnections.size;
          line.destroy();
          return reply && comparable(reply);
        }),
      );
      const what = `seed ${seed + i}: ${mutants[0]?.strategy} ${mutants[0]?.bytes.toString('latin1').slice(0, 400)}`;
      expect(ours, what).toEqual(theirs);
      if (ours) compared++;
    }
    expect(compared).toBeGreaterThan(2_500);
    expect(fastPathConnectionCount).toBeGreaterThan(1_000);
  });
});

// Overhead of a bridge action relative to a client call: `npm run bench -- bridge`. Same agent, same message, short rounds in
// random order. The result is the median of the ratios per round, in wall-clock and CPU time. An action subscribes to its
// task, as `stream` does: `send` returns the task id only with the response, too late to cancel or to keep waiting.
import { bridge } from '../dist/bridge/index.js';
import { connect } from '../dist/client/index.js';
import { defineAgent } from '../dist/engine/index.js';
import { serve } from '../dist/server/index.js';

const text = 'hello from the bench, please echo this short sentence';
const message = () => ({
  messageId: crypto.randomUUID(),
  role: 'user',
  parts: [{ text }],
  metadata: { skillId: 'default' },
});

const echo = defineAgent({
  name: 'Echo',
  description: 'Says it back',
  async *process({ text: said }) {
    yield { state: 'working', message: 'One moment' };
    yield { artifact: { artifactId: 'a', text: said } };
  },
});

const median = (figures) => figures.toSorted((a, b) => a - b)[figures.length >> 1];

/** Returns the cost of an action relative to a client call, with concurrency 1 and 16. */
export async function bridgeCost() {
  const server = await serve(echo);
  const agent = connect(server.url);
  const made = await bridge({ agentName: 'echo', agent, cardInterval: 0 });
  const ways = waysOf(agent, made);
  const rows = [];
  for (const conc of [1, 16]) {
    for (const way of Object.values(ways)) await round(way, conc, 2_000);
    const rounds = [];
    for (let n = Math.ceil(2_000 / Math.sqrt(conc)); n > 0; n--) {
      const one = {};
      for (const name of Object.keys(ways).toSorted(() => Math.random() - 0.5))
        one[name] = await round(ways[name], conc);
      rounds.push(one);
    }
    for (const plain of ['stream', 'send']) {
      const over = (unit) => median(rounds.map((one) => one.action[unit] / one[plain][unit]));
      rows.push({ conc, plain, time: over('wall'), processor: over('cpu') });
    }
  }
  await made.close();
  await agent.close();
  await server.stop(0);
  return { rows };
}

const waysOf = (agent, made) => ({
  send: async () => (await agent.send({ message: message() })).status.state === 'completed',
  stream: async () => {
    let isOver = false;
    for await (const event of agent.stream({ message: message() }))
      isOver ||= event.kind === 'status' && event.status.state === 'completed';
    return isOver;
  },
  action: async () => (await made.invoke('echo/default', { prompt: text })).success,
});

/** Runs concurrent calls. @returns wall-clock and CPU microseconds per call */
async function round(way, conc, calls = conc) {
  let left = calls;
  const used = process.cpuUsage();
  const began = performance.now();
  await Promise.all(
    Array.from({ length: conc }, async () => {
      while (left-- > 0) if (!(await way())) throw new Error('a call failed');
    }),
  );
  const wall = ((performance.now() - began) * 1_000) / calls;
  const { user, system } = process.cpuUsage(used);
  return { wall, cpu: (user + system) / calls };
}

#!/usr/bin/env node
// What an action call costs over a plain call of the client: the same agent and the same message, in very short rounds
// of random order, so that all see the same machine. The median of the ratios within each round counts, in time and in
// processor time. An action follows its task, as `stream` does: without the name of the task it could neither be canceled
// nor be waited for further, and `send` brings that name with the answer. Run `npm run build` first.
//   node bench/bridge.mjs [--rounds 2000] [--conc 1,16]
import { parseArgs } from 'node:util';
import { bridge } from '../dist/bridge/index.js';
import { connect } from '../dist/client/index.js';
import { defineAgent } from '../dist/engine/index.js';
import { serve } from '../dist/server/index.js';

const { values: v } = parseArgs({
  options: {
    rounds: { type: 'string', default: '2000' },
    conc: { type: 'string', default: '1,16' },
  },
});
const text = 'hello from the bench, please echo this short sentence';
const message = () => ({
  messageId: crypto.randomUUID(),
  role: 'user',
  parts: [{ text }],
  metadata: { skillId: 'default' },
});

const server = await serve(
  defineAgent({
    name: 'Echo',
    description: 'Says it back',
    async *process({ text: said }) {
      yield { state: 'working', message: 'One moment' };
      yield { artifact: { artifactId: 'a', text: said } };
    },
  }),
);
const agent = connect(server.url);
const made = await bridge({ agentName: 'echo', agent, cardInterval: 0 });

const ways = {
  send: async () => (await agent.send({ message: message() })).status.state === 'completed',
  stream: async () => {
    let isOver = false;
    for await (const event of agent.stream({ message: message() }))
      isOver ||= event.kind === 'status' && event.status.state === 'completed';
    return isOver;
  },
  action: async () => (await made.invoke('echo/default', { prompt: text })).success,
};

/** Makes as many calls as there are callers at once, or more. @returns microseconds for each, and of the processor */
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

const median = (figures) => figures.toSorted((a, b) => a - b)[figures.length >> 1];
for (const conc of v.conc.split(',').map(Number)) {
  for (const way of Object.values(ways)) await round(way, conc, 2_000);
  const rounds = [];
  for (let n = Math.ceil(+v.rounds / Math.sqrt(conc)); n > 0; n--) {
    const one = {};
    for (const name of Object.keys(ways).toSorted(() => Math.random() - 0.5))
      one[name] = await round(ways[name], conc);
    rounds.push(one);
  }
  const each = (name, unit) => Math.round(median(rounds.map((one) => one[name][unit])));
  const over = (name, unit) =>
    `${((median(rounds.map((one) => one.action[unit] / one[name][unit])) - 1) * 100).toFixed(1)} %`;
  const units = (figure) => ({ wall: figure('wall'), cpu: figure('cpu') });
  console.log(
    JSON.stringify({
      conc,
      microsecondsPerCall: Object.fromEntries(
        Object.keys(ways).map((name) => [name, units((unit) => each(name, unit))]),
      ),
      overStream: units((unit) => over('stream', unit)),
      overSend: units((unit) => over('send', unit)),
    }),
  );
}
await made.close();
await agent.close();
await server.stop(0);

#!/usr/bin/env node
// What an action call costs over a plain call of the client: the same agent, the same words, in many short rounds of
// random order, so that all see the same machine; the quarter of the rounds that nothing disturbed counts. An action
// follows its task, as `stream` does. Run `npm run build` first.
//   node bench/bridge.mjs [--rounds 200] [--calls 48] [--conc 1,16]
import { parseArgs } from 'node:util';
import { bridge } from '../dist/bridge/index.js';
import { connect } from '../dist/client/index.js';
import { defineAgent } from '../dist/engine/index.js';
import { serve } from '../dist/server/index.js';

const { values: v } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    calls: { type: 'string', default: '48' },
    conc: { type: 'string', default: '1,16' },
  },
});
const text = 'hello from the bench, please echo this short sentence';
const message = () => ({ messageId: crypto.randomUUID(), role: 'user', parts: [{ text }] });

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

async function round(way, calls, conc) {
  let left = calls;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: conc }, async () => {
      while (left-- > 0) if (!(await way())) throw new Error('a call failed');
    }),
  );
  return ((performance.now() - began) * 1_000) / calls;
}

const quarter = (times) => times.toSorted((a, b) => a - b)[times.length >> 2];
for (const conc of v.conc.split(',').map(Number)) {
  for (const way of Object.values(ways)) await round(way, 1_000, conc);
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let n = 0; n < +v.rounds; n++) {
    for (const name of Object.keys(ways).toSorted(() => Math.random() - 0.5))
      times[name].push(await round(ways[name], +v.calls, conc));
  }
  const us = Object.fromEntries(
    Object.entries(times).map(([name, each]) => [name, Math.round(quarter(each))]),
  );
  const over = (name) => `${((us.action / us[name] - 1) * 100).toFixed(1)} %`;
  console.log(
    JSON.stringify({ conc, microsecondsPerCall: us, overStream: over('stream'), overSend: over('send') }),
  );
}
await made.close();
await agent.close();
await server.stop(0);

#!/usr/bin/env node
// Measures start and stop of a test agent after its import: node bench/testkit-start.mjs [times]
// Uses dist/; run npm run build first.
const times = Number(process.argv[2] ?? 50);
const imported = performance.now();
const { TestAgentServer } = await import('../dist/testkit/index.js');
console.log(`import         ${(performance.now() - imported).toFixed(1)} ms`);

const script = 'rules: [{ when: { text: hello }, then: [{ complete: Hi }] }]';
const starts = [];
const stops = [];
let firstWork = 0;
for (let i = 0; i < times; i++) {
  const before = process.cpuUsage();
  const began = performance.now();
  const agent = await TestAgentServer.start({ script });
  const up = performance.now();
  const { user, system } = process.cpuUsage(before);
  if (i === 0) firstWork = (user + system) / 1_000;
  // Opens a keep-alive connection, which must not delay the stop.
  await (await fetch(agent.cardUrl)).text();
  const asked = performance.now();
  await agent.stop();
  starts.push(up - began);
  stops.push(performance.now() - asked);
}
const at = (list, share) => list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) * share)].toFixed(1);
console.log(`first start    ${starts[0].toFixed(1)} ms, of which ${firstWork.toFixed(1)} ms of processor`);
console.log(`start          ${at(starts, 0.5)} ms (median of ${times}), ${at(starts, 1)} ms at most`);
console.log(`stop           ${at(stops, 0.5)} ms (median of ${times}), ${at(stops, 1)} ms at most`);

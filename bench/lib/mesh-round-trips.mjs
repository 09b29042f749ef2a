// Round trips of `send` in one process: direct, and to the same agent over a mesh. Prints JSON.
import { defineAgent } from '../../dist/engine/index.js';
import { memoryTaskStore } from '../../dist/store/index.js';
import { connectMemoryBroker, meshAgent, serveOnMesh } from '../../dist/mesh/index.js';

const seconds = Number(process.argv[2] ?? 3);
const atOnce = 16;
const agent = defineAgent(
  { name: 'Echo', description: 'Echoes text', process: ({ text }) => text },
  { taskStore: memoryTaskStore({ maxTasks: 10_000 }) },
);
const broker = connectMemoryBroker();
const face = await serveOnMesh(agent, {
  broker,
  namespace: 'bench',
  name: 'Echo',
  limits: { tasks: 1_000 },
  // A client that starts later waits for the next announcement.
  card: { interval: 200 },
});
const remote = meshAgent({ broker, namespace: 'bench', name: 'Echo', limits: { tasks: 1_000 } });
let number = 0;
const request = () => ({
  message: { messageId: `m-${++number}`, role: 'user', parts: [{ text: 'hello from the bench' }] },
});

async function rate(target, duration) {
  const until = performance.now() + duration * 1_000;
  let trips = 0;
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  const work = async () => {
    while (performance.now() < until) {
      const task = await target.send(request());
      if (task.status.state !== 'completed') throw new Error(`it ended as ${task.status.state}`);
      trips++;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const { user, system } = process.cpuUsage(cpu);
  const perSecond = (trips / (performance.now() - began)) * 1_000;
  return { perSecond, cpuUsPerTrip: (user + system) / trips };
}

await remote.card();
for (const target of [agent, remote]) await rate(target, Math.min(1, seconds / 2));
const direct = await rate(agent, seconds);
const mesh = await rate(remote, seconds);
console.log(JSON.stringify({ direct, mesh }));
await remote.close();
await face.close();
await broker.close();
process.exit(0);

// Requests a large file from the agent at AGENT_URL through a gateway with an artifact store, over its mesh. Prints JSON: the
// additional memory relative to a small file.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readGatewayConfig, runGateway } from '../../dist/gateway/index.js';
import { meshAgent } from '../../dist/mesh/index.js';
import { connectBroker } from '../../dist/mesh/brokers/connect-broker.js';

const megabytes = Number(process.argv[2] ?? 100);
const folder = mkdtempSync(path.join(tmpdir(), 'dragoman-bench-'));
const mesh = '{ url: "memory:bench", namespace: bench, card_interval_seconds: 1 }';
const file = `
mesh: ${mesh}
artifacts: { type: filesystem, base_path: "${folder}", max_bytes: 1000000000 }
agents:
  Large: { url: "${process.env.AGENT_URL}", show: [mesh] }
`;
const gateway = await runGateway(readGatewayConfig(file, path.join(folder, 'bench.yaml'), {}));
const broker = await connectBroker('memory:bench');
const agent = meshAgent({ broker, namespace: 'bench', name: 'Large' });

async function fetched(size) {
  let seen = '';
  const request = {
    message: { messageId: crypto.randomUUID(), role: 'user', parts: [{ text: String(size) }] },
  };
  for await (const event of agent.stream(request)) seen += JSON.stringify(event);
  if (!seen.includes('artifact://')) throw new Error(`there is no file: ${seen.slice(0, 500)}`);
  return largest(folder);
}

function largest(at) {
  return Math.max(
    0,
    ...readdirSync(at, { withFileTypes: true }).map((each) => {
      const whole = path.join(at, each.name);
      return each.isDirectory() ? largest(whole) : statSync(whole).size;
    }),
  );
}

// Warm-up: the first megabytes allocate buffers and JIT code.
for (let i = 0; i < 3; i++) await fetched(4);
globalThis.gc?.();
const before = process.memoryUsage().rss;
let peak = before;
const looking = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage().rss);
}, 5);
const began = performance.now();
const stored = await fetched(megabytes);
clearInterval(looking);
const seconds = (performance.now() - began) / 1_000;
console.log(JSON.stringify({ megabytes, stored, seconds, extra: peak - before }));
await agent.close();
await broker.close();
await gateway.stop(0);
rmSync(folder, { recursive: true, force: true });
process.exit(0);

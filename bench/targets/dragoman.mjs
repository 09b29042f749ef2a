// Echo agent on Dragoman. STORE=sqlite:FILE or STORE=postgres://… stores its tasks there.
import { chunk, defineAgent } from '../../dist/engine/index.js';
import { memoryTaskStore } from '../../dist/store/index.js';
import { openTaskStore } from '../../dist/store/url/open-task-store.js';
import { parseStoreUrl } from '../../dist/store/url/parse-store-url.js';
import { serve } from '../../dist/server/index.js';

const command = /^(stream|tick|hang|fan|clock)(?::(\d+))?(?::(\d+))?/;
const turn = () => new Promise(setImmediate);

async function* bench({ text, generateId = crypto.randomUUID.bind(crypto) }) {
  const [, name = 'stream', count = '3', wait = '0'] = command.exec(text) ?? [];
  if (name === 'hang') await new Promise(() => {});
  if (name === 'clock') {
    // Each chunk is the time at which it was written.
    for (let i = 0; i < +count; i++) {
      await new Promise((resolve) => setTimeout(resolve, +wait));
      const parts = [{ text: String(performance.timeOrigin + performance.now()) }];
      yield chunk('clock', parts, { append: i > 0, lastChunk: i === +count - 1 });
    }
    return;
  }
  if (+wait > 0) await new Promise((resolve) => setTimeout(resolve, +wait));
  // "working" and "completed" come from the engine.
  const total = name === 'fan' ? +count : +count - 2;
  const artifactId = generateId();
  for (let i = 0; i < total; i++) {
    if (name !== 'stream') await turn();
    const parts = [{ text }];
    yield chunk(artifactId, parts, { append: i > 0, lastChunk: i === total - 1, name: 'echo' });
  }
  if (name !== 'stream') await turn();
}

const store = process.env.STORE;
const taskStore = store
  ? await openTaskStore(parseStoreUrl(store))
  : memoryTaskStore({ maxTasks: 2_000_000, maxBytes: Infinity, maxOwnerBytes: Infinity });
const agent = defineAgent(
  {
    name: 'Echo',
    description: 'Echoes text',
    provider: { organization: 'bench', url: 'http://127.0.0.1' },
    skills: [{ id: 'echo', name: 'Echo', description: 'Echo the text', tags: ['echo'], examples: ['hi'] }],
    process: bench,
    retry: { attempts: 3 },
  },
  { taskStore },
);
// One load generator represents many clients, so limits per client are disabled.
const server = await serve(agent, {
  port: Number(process.env.PORT),
  limits: { streamsPerClient: Infinity, requestsPerClient: Infinity },
});
process.on('SIGTERM', async () => {
  await server.stop(0);
  await agent.close();
  await taskStore[Symbol.asyncDispose]();
  process.exit(0);
});

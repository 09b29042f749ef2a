// Echo agent on Dragoman. STORE=sqlite:FILE stores its tasks in SQLite.
import { chunk, defineAgent } from '../../dist/engine/index.js';
import { memoryTaskStore } from '../../dist/store/index.js';
import { serve } from '../../dist/server/index.js';

const command = /^(stream|tick|hang|fan)(?::(\d+))?(?::(\d+))?/;
const turn = () => new Promise(setImmediate);

async function* bench({ text, generateId = crypto.randomUUID.bind(crypto) }) {
  const [, name = 'stream', count = '3', wait = '0'] = command.exec(text) ?? [];
  if (name === 'hang') await new Promise(() => {});
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
const taskStore = store?.startsWith('sqlite:')
  ? await (await import('../../dist/store/sqlite.js')).sqliteTaskStore({
      file: store.slice('sqlite:'.length),
    })
  : memoryTaskStore({ maxTasks: 2_000_000, maxBytes: Infinity, maxOwnerBytes: Infinity });
const agent = defineAgent(
  {
    name: 'Echo',
    description: 'Echoes text',
    provider: { organization: 'bench', url: 'http://127.0.0.1' },
    skills: [{ id: 'echo', name: 'Echo', description: 'Echo the text', tags: ['echo'], examples: ['hi'] }],
    process: bench,
  },
  { taskStore },
);
// One load generator represents many clients, so limits per client are disabled.
await serve(agent, {
  port: Number(process.env.PORT),
  limits: { streamsPerClient: Infinity, requestsPerClient: Infinity },
});

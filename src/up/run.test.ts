import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadAgent } from '../cli/load-agent.ts';
import { type MeshDirectory, meshDirectory } from '../mesh/discovery.ts';
import type { Link } from '../mesh/link.ts';
import { openLink } from '../mesh/open-link.ts';
import { meshAgent } from '../mesh/source.ts';
import { readUpConfig } from './config.ts';
import { type RunningUp, runUp } from './run.ts';

const sample = fileURLToPath(new URL('../../examples/up/dragoman.yaml', import.meta.url));
const namespace = 'bazaar';
let link: Link;
let directory: MeshDirectory;
let running: RunningUp;

beforeAll(async () => {
  // The same, but wherever there is room, and on a mesh that nobody else is on.
  const text = readFileSync(sample, 'utf8')
    .replaceAll(/\b4[012]00\b/g, '0')
    .replace('memory:', 'memory:up');
  link = await openLink('memory:up');
  directory = await meshDirectory({ link, namespace });
  const settings = readUpConfig(text, sample, {});
  running = await runUp(settings, { log: () => {}, note: () => {}, loadModule: loadAgent });
});
afterAll(async () => {
  await running.stop();
  await directory.close();
  await link.close();
});

describe('what is up', () => {
  it('is on the mesh too', async () => {
    await expect.poll(() => directory.agents().map(({ name }) => name)).toEqual(['caravan', 'interpreter']);
    const agent = meshAgent({ link, namespace, name: 'caravan', directory });
    const answer = await agent.send({
      message: { messageId: 'm', role: 'user', parts: [{ text: 'hello' }] },
    });
    expect(JSON.stringify(answer)).toContain('Welcome, traveller');
    await agent.close();
  });

  it('stops twice as well as once', async () => {
    await running.stop();
    await running.stop();
    expect(running.mcpUrl).toMatch(/mcp$/);
  });
});

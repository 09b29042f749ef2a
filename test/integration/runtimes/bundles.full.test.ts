import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import commonjsPlugin from '@rollup/plugin-commonjs';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { rollup } from 'rollup';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../../support/console/chromium.ts';
import { type RunningCommand, runNode } from '../../support/cli/run-command.ts';
import { ConsumerFolder } from '../../support/process/consumer-folder.ts';
import {
  bundleWithEsbuild,
  optionalImports,
  runtimeFixtures,
} from '../../support/runtimes/runtime-programs.ts';

/** Its types do not describe the ES module. */
const commonjs = commonjsPlugin as unknown as typeof commonjsPlugin.default;
let consumer: ConsumerFolder;

beforeAll(() => {
  consumer = new ConsumerFolder();
  cpSync(runtimeFixtures, consumer.path, { recursive: true });
  for (const entry of ['dragoman', 'dragoman/client'])
    consumer.write(`${entry.replace('/', '-')}.mjs`, `export { connect } from '${entry}';`);
  consumer.write('agent-in-page.mjs', `export { defineAgent, toFetchHandler } from 'dragoman';`);
});
afterAll(() => consumer.remove());

/** Bundles a program with Rollup. @returns the code and the modules that the bundle does not contain. */
async function bundleWithRollup(entry: string) {
  const warnings: string[] = [];
  const bundle = await rollup({
    input: entry,
    plugins: [nodeResolve({ browser: true }), commonjs()],
    onLog: (_level, { code = '', message }) => warnings.push(`${code}: ${message}`),
  });
  const { output } = await bundle.generate({ format: 'es', inlineDynamicImports: true });
  await bundle.close();
  return { code: output[0].code, external: [...output[0].imports, ...output[0].dynamicImports], warnings };
}

describe.each(['dragoman.mjs', 'dragoman-client.mjs', 'agent-in-page.mjs'])('bundle of %s', (entry) => {
  it('is made by Rollup for the browser, without modules of Node', async () => {
    const { code, external } = await bundleWithRollup(join(consumer.path, entry));
    expect(external.filter((each) => !optionalImports.includes(each))).toEqual([]);
    expect(/\b(?:from|import|require)\s*\(?\s*["']node:/.exec(code)?.[0]).toBeUndefined();
  });
});

it('contains the driver of Node in a bundle for Node, which runs alone', async () => {
  const { code } = await bundleWithEsbuild(join(consumer.path, 'run-client-checks.mjs'), 'node');
  expect(code.includes('UndiciResponse')).toBe(true);
  const alone = new ConsumerFolder();
  const server = runNode([join(consumer.path, 'serve-node.mjs')]);
  try {
    const [, port = ''] = await server.prints(/^port (\d+)$/m);
    alone.write(
      'bundle.mjs',
      `import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);\n${code}`,
    );
    const { stdout, stderr } = await runNode([
      join(alone.path, 'bundle.mjs'),
      `http://127.0.0.1:${port}/agent`,
    ]).ended;
    expect(stderr).toBe('');
    expect((JSON.parse(stdout) as { error?: string }[]).filter(({ error }) => error !== undefined)).toEqual(
      [],
    );
  } finally {
    await server.stop();
    alone.remove();
  }
});

describe('connect in a web page', async () => {
  const browser = await launchChromium();
  let bundle: string;
  const pages = createServer((request, response) => {
    const isScript = request.url === '/bundle.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? bundle : '<!doctype html><title>page</title>');
  });
  let agent: RunningCommand;
  let agentUrl: string;

  beforeAll(async () => {
    agent = runNode([join(consumer.path, 'serve-node.mjs')]);
    const [, port = ''] = await agent.prints(/^port (\d+)$/m);
    agentUrl = `http://127.0.0.1:${port}/agent`;
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    await agent.stop();
    await browser?.close();
    await new Promise((resolve) => pages.close(resolve));
  });

  it.skipIf(!browser).each([
    ['esbuild', bundleWithEsbuild],
    ['Rollup', bundleWithRollup],
  ])('calls an agent of another origin, bundled by %s', async (_name, build) => {
    ({ code: bundle } = await build(join(consumer.path, 'client-checks.mjs')));
    const page = await (await browser?.newContext())?.newPage();
    await page?.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`);
    const script = `import('/bundle.js').then(({ runClientChecks }) => runClientChecks('${agentUrl}'))`;
    const results = (await page?.evaluate(script)) as { name: string; error?: string }[];
    expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(results.length).toBeGreaterThan(15);
    console.log(`Chromium: client ${results.length} of ${results.length}`);
  });
});

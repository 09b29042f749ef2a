/** Commands that shall send telemetry while a package of the OpenTelemetry SDK is not installed. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runDragoman } from '../../support/cli/run-command.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';

const open = closeAfterEach();

/** Returns the environment of a process that does not find a package. */
async function withoutPackage(name: string): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'dragoman-missing-'));
  open.push({ close: () => rm(folder, { recursive: true }) });
  const hooks = join(folder, 'hooks.mjs');
  await writeFile(
    hooks,
    `export async function resolve(specifier, context, next) {
  if (specifier !== ${JSON.stringify(name)}) return next(specifier, context);
  throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
}\n`,
  );
  const start = join(folder, 'start.mjs');
  await writeFile(
    start,
    `import { register } from 'node:module';\nregister(${JSON.stringify(pathToFileURL(hooks).href)});\n`,
  );
  return { NODE_OPTIONS: `--import ${pathToFileURL(start).href}` };
}

const install = /npm install @opentelemetry\/api@1 .*@opentelemetry\/exporter-metrics-otlp-proto@/;

describe('export of telemetry without the OpenTelemetry SDK', () => {
  it.each([
    '@opentelemetry/api',
    '@opentelemetry/sdk-trace-node',
    '@opentelemetry/exporter-metrics-otlp-proto',
  ])('exits with 2 and the command that installs %s, if the flag asks for it', async (name) => {
    const args = ['serve', 'examples/echo.js', '--port', '0', '--otlp', 'http://127.0.0.1:4318'];
    const { code, stdout, stderr } = await runDragoman(args, { env: await withoutPackage(name) }).ended;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(
      'error: --otlp: Sending telemetry to a collector requires the OpenTelemetry SDK\n',
    );
    expect(stderr).toMatch(install);
  });

  it('warns and serves, if a variable of the environment asks for it', async () => {
    const env = {
      ...(await withoutPackage('@opentelemetry/sdk-trace-node')),
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
    };
    const agent = runDragoman(['serve', 'examples/echo.js', '--port', '0'], { env });
    open.push({ close: () => agent.stop('SIGKILL') });
    await agent.prints(/http:\/\/127\.0\.0\.1:\d+/);
    expect(agent.stderr).toContain('No telemetry is exported: ');
    expect(agent.stderr).toMatch(install);
  });
});

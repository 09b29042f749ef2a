import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { readScenarios } from '../../../src/testkit/scenario/files/read-scenarios.ts';
import { formatFailure } from '../../../src/testkit/scenario/reports/report.ts';
import { openHarness } from '../../../src/testkit/scenario/harness/open-harness.ts';
import { runScenarios } from '../../../src/testkit/scenario/run-scenarios.ts';
import {
  type TestBroker,
  mosquitto,
  natsServer,
  startMosquitto,
  startNats,
} from '../../support/mesh/broker.ts';

const folder = fileURLToPath(new URL('../../../../shared/mesh/scenarios/', import.meta.url));
const isHere = existsSync(folder);
if (!isHere) process.stdout.write('skipped: the scenario files of the mesh are not beside this checkout\n');

describe.skipIf(!isHere)('Solace Agent Mesh scenario files', () => {
  const files = isHere ? readdirSync(folder).filter((file) => /^test_proxy_.*\.yaml$/.test(file)) : [];
  const brokers: TestBroker[] = [];
  afterAll(async () => {
    for (const broker of brokers) await broker.remove();
  });

  it.each([
    ['memory', true, undefined],
    ['Mosquitto', mosquitto !== undefined, startMosquitto],
    ['NATS', natsServer !== undefined, startNats],
  ] as const)('pass unchanged on %s', { timeout: 120_000 }, async (name, isThere, start) => {
    if (!isThere) return console.log(`skipped: there is no ${name} here`);
    const broker = await start?.();
    if (broker) brokers.push(broker);
    const scenarios = files.flatMap((file) =>
      readScenarios(readFileSync(`${folder}/${file}`, 'utf8'), file, 'compatible'),
    );
    expect(files).toHaveLength(9);
    const results = await runScenarios(scenarios, {
      openHarness: () => openHarness({ broker: broker?.url ?? 'memory' }),
    });
    expect(results.filter(({ outcome }) => outcome !== 'passed').map((each) => formatFailure(each))).toEqual(
      [],
    );
    expect(results.length).toBeGreaterThanOrEqual(9);
  });
});

import { readFileSync } from 'node:fs';
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
import {
  hasMeshScenarios,
  meshScenarioFiles,
  meshScenarioFolder,
} from '../../support/testkit/mesh-scenarios.ts';

describe.skipIf(!hasMeshScenarios)('Solace Agent Mesh scenario files', () => {
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
    const scenarios = meshScenarioFiles.flatMap((file) =>
      readScenarios(readFileSync(`${meshScenarioFolder}/${file}`, 'utf8'), file, 'compatible'),
    );
    const results = await runScenarios(scenarios, {
      openHarness: () => openHarness({ broker: broker?.url ?? 'memory' }),
    });
    expect(results.filter(({ outcome }) => outcome !== 'passed').map((each) => formatFailure(each))).toEqual(
      [],
    );
    expect(results.length).toBeGreaterThanOrEqual(9);
  });
});

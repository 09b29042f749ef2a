#!/usr/bin/env node
// Measures scenario cases through the mesh proxy: node bench/scenarios.mjs [cases] [parallel]
// Uses dist/; run npm run build first.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import {
  formatFailure,
  openHarness,
  readScenarios,
  runScenarios,
  summarizeResults,
} from '../dist/testkit/index.js';

const [cases = 1_000, parallel = 2 * availableParallelism()] = process.argv.slice(2).map(Number);
const names = ['streaming', 'input-required', 'files', 'oauth', 'directives'];
const kinds = names.flatMap((name) => {
  const file = new URL(`../examples/scenarios/${name}.yaml`, import.meta.url);
  return readScenarios(readFileSync(file, 'utf8'), `${name}.yaml`);
});
const scenarios = Array.from({ length: cases }, (_, index) => {
  const kind = kinds[index % kinds.length];
  return { ...kind, id: `${kind.id}-${index}` };
});

const began = performance.now();
const { user: userBefore, system: systemBefore } = process.cpuUsage();
const results = await runScenarios(scenarios, { openHarness: () => openHarness(), parallel });
const seconds = (performance.now() - began) / 1_000;
const { user, system } = process.cpuUsage();
const { passed, failed, skipped } = summarizeResults(results);
for (const result of results.filter(({ outcome }) => outcome === 'failed').slice(0, 3))
  console.log(formatFailure(result));
console.log(
  `${cases} cases of ${kinds.length} kinds, ${parallel} at once: ${seconds.toFixed(1)} s, ` +
    `${(cases / seconds).toFixed(0)} a second, ` +
    `${((user + system - userBefore - systemBefore) / 1e6).toFixed(1)} s of processor; ` +
    `${passed} passed, ${failed} failed, ${skipped} skipped`,
);
process.exitCode = failed > 0 ? 1 : 0;

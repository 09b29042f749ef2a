import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readScenarios } from '../../src/testkit/scenario/read.ts';
import { failureText } from '../../src/testkit/scenario/report.ts';
import { openRig } from '../../src/testkit/scenario/rigs.ts';
import { runScenarios } from '../../src/testkit/scenario/run.ts';

const folder = fileURLToPath(new URL('../../../shared/mesh/scenarios/', import.meta.url));
const isHere = existsSync(folder);
if (!isHere) process.stdout.write('skipped: the scenario files of the mesh are not beside this checkout\n');

function scenariosOf(file: string) {
  return readScenarios(readFileSync(`${folder}/${file}`, 'utf8'), file, 'compatible');
}

describe.skipIf(!isHere)('the scenario files of the mesh', () => {
  const files = isHere ? readdirSync(folder).filter((file) => /^test_proxy_.*\.yaml$/.test(file)) : [];

  it('are nine', () => {
    expect(files).toHaveLength(9);
  });

  it('pass as they are', async () => {
    const results = await runScenarios(files.flatMap(scenariosOf), { openRig: () => openRig() });
    expect(results.filter(({ outcome }) => outcome !== 'passed').map((each) => failureText(each))).toEqual(
      [],
    );
  });
});

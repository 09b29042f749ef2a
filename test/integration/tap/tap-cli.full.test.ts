import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTrafficFile } from '../../../src/tap/traffic-file.ts';
import { httpGet } from '../../support/http/http-calls.ts';
import { useTapCommands } from '../../support/tap/tap-command.ts';

const tap = useTapCommands();

describe('dragoman tap', () => {
  it('appends to an existing file and renumbers its records', async () => {
    const to = await tap.startAgent();
    const file = join(tap.createFolder(), 'talk.jsonl');
    for (let i = 0; i < 2; i++) {
      const running = tap.run(['--to', to, '--record', file, '-o', 'json']);
      const [, url = ''] = await running.prints(/^listening on (\S+)\n/, 'stderr');
      await httpGet(`${url}/.well-known/agent-card.json`);
      await running.prints(/card of Sample/);
      const { stdout } = await running.stop('SIGTERM');
      const lines = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { kind: string });
      expect(lines.map(({ kind }) => kind)).toEqual(['request', 'response']);
    }
    expect(readTrafficFile(readFileSync(file, 'utf8')).map(({ sequence }) => sequence)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8,
    ]);
  });

  it('prints colors with FORCE_COLOR', async () => {
    const running = tap.run(['--to', await tap.startAgent()], { NO_COLOR: '', FORCE_COLOR: '1' });
    const [, url = ''] = await running.prints(/^listening on (\S+)\n/);
    await httpGet(`${url}/.well-known/agent-card.json`);
    // oxlint-disable-next-line no-control-regex -- matches color codes
    await running.prints(/\u001B\[36m──▶\u001B\[39m/);
  });
});

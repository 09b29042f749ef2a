import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serveConsole } from '../../../src/console/serve-console.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { bearerAuth } from '../../../src/server/auth/index.ts';
import { type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { ConsolePage } from '../../support/console/console-page.ts';

const token = 'letmein-please';
const agent = defineAgent({
  name: 'Asker',
  description: 'Asks',
  async *process({ text, ask }) {
    if (text === 'please ask') await ask('Which?');
    yield text;
  },
});

let served: RunningServer;
let folder: string;
beforeAll(async () => {
  served = await serve(agent, {
    onlyVersion: '1.0',
    grpc: false,
    auth: { authenticators: [bearerAuth({ tokens: { [token]: 'alice' } })] },
  });
});
afterAll(async () => {
  await served.stop(0);
  await agent.close();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dragoman-reports-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Starts a console that keeps its sessions, and stops it after the work. */
async function withConsole<T>(work: (page: ConsolePage, agentId: string) => Promise<T>): Promise<T> {
  const credentials = { kind: 'bearer' as const, token };
  await using running = await serveConsole({ agents: [{ url: served.url, credentials }], sessions: folder });
  const page = new ConsolePage(running);
  const [{ id }] = await page.requestJson('agents');
  return await work(page, id);
}

/** Returns the ID of the report of the newest run when it has ended. */
async function reportId(page: ConsolePage): Promise<string> {
  for await (const event of page.stream('conformance/run')) {
    if (event.kind === 'report') return event.reportId;
    if (event.kind === 'error') throw new Error(event.message);
  }
  throw new Error('The run has no report');
}

describe('conformance after a restart of the console', () => {
  it('shows the reports, repeats their rules, and has the messages without secrets', async () => {
    const before = await withConsole(async (page, agentId) => {
      await page.requestJson(`agents/${agentId}/prompts`, {
        'input-required': { text: 'please ask' },
        failed: { text: `fail with ${token}` },
      });
      await page.requestJson('conformance/run', { agentId, level: 'MUST' });
      const id = await reportId(page);
      const report = await page.requestJson(`conformance/reports/${id}`);
      await page.requestJson('conformance/reports', report);
      return { id, report, entries: await page.requestJson('conformance/reports') };
    });
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    );
    for (const file of files)
      expect(readFileSync(join(file.parentPath, file.name), 'utf8')).not.toContain(token);

    await withConsole(async (page, agentId) => {
      expect(await page.requestJson('conformance/reports')).toEqual(before.entries);
      // A page that is opened shows the newest report.
      expect(await reportId(page)).toBe(before.id);
      expect(await page.requestJson(`conformance/reports/${before.id}`)).toEqual(before.report);
      expect(await page.requestJson(`agents/${agentId}/prompts`)).toEqual({
        'input-required': { text: 'please ask' },
      });
      const { sessionNotes } = await page.requestJson('info');
      expect(sessionNotes).toEqual([]);
      const [{ id: uploadedId }] = before.entries;
      const changes = `conformance/reports/${before.id}/changes?since=${uploadedId}`;
      expect(await page.requestJson(changes)).toEqual([]);

      const results = Object.values(before.report.categories).flat() as any[];
      const { test, version, transport } = results.find(
        (each) => each.category === 'lifecycle' && each.verdict === 'pass',
      );
      await page.requestJson(`conformance/reports/${before.id}/repeat`, { test, version, transport });
      expect(await reportId(page)).toBe(before.id);
      const again = await page.requestJson(`conformance/reports/${before.id}`);
      expect(again.summary).toEqual(before.report.summary);
      expect(again.conformanceLevel).toBe(before.report.conformanceLevel);
      expect(again.provenance.requests).toBeGreaterThan(before.report.provenance.requests);
    });
  });

  it('leaves out damaged files and names them', async () => {
    const upload = (agentName: string) => ({
      agentName,
      testDate: '2026-01-01T00:00:00.000Z',
      conformanceLevel: 'full',
      categories: {},
    });
    const names = ['first', 'second', 'third'];
    const entries = await withConsole(async (page, agentId) => {
      await page.requestJson(`agents/${agentId}/prompts`, { slow: { text: 'slow' } });
      const kept = [];
      for (const name of names) kept.push(await page.requestJson('conformance/reports', upload(name)));
      return kept;
    });
    const fileOf = (id: string): string => join(folder, '1', 'reports', `${id}.json`);
    writeFileSync(fileOf(entries[0].id), readFileSync(fileOf(entries[0].id), 'utf8').slice(0, -20));
    const run = {
      format: 'dragoman-report',
      version: 1,
      id: entries[1].id,
      agentId: 'x',
      run: upload('second'),
    };
    writeFileSync(fileOf(entries[1].id), JSON.stringify(run));
    writeFileSync(join(folder, '1', 'messages.json'), '{"agents":[]}');
    await withConsole(async (page, agentId) => {
      const found = await page.requestJson('conformance/reports');
      expect(found.map((each: any) => each.agentName)).toEqual(['third']);
      expect(await page.requestJson(`agents/${agentId}/prompts`)).toEqual({});
      const { sessionNotes } = await page.requestJson('info');
      const damaged = [`reports/${entries[0].id}.json`, `reports/${entries[1].id}.json`, 'messages.json'];
      expect(sessionNotes).toHaveLength(damaged.length);
      for (const path of damaged)
        expect(sessionNotes).toContainEqual(expect.stringContaining(`${path} is damaged and not shown: `));
    });
  });
});

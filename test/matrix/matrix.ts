import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesystemArtifactStore } from '../../src/artifacts/stores/filesystem.ts';
import type { ArtifactStore } from '../../src/artifacts/artifact-store.ts';
import { readArtifactUri } from '../../src/artifacts/artifact-uri.ts';
import { readGatewayConfig } from '../../src/gateway/config/read-gateway-config.ts';
import { runGateway } from '../../src/gateway/run-gateway.ts';
import { connectBroker } from '../../src/mesh/brokers/connect-broker.ts';
import { type Caller, httpCaller, meshCaller, type Outcome } from './clients.ts';
import { type Downstream, made, startDownstream } from './downstream.ts';
import { expectedLosses } from './expected-losses.ts';
import { type File, type Version, versions } from './versions.ts';

/** What is tried between each pair. */
const doings = [
  'send',
  'stream',
  'cancel',
  'input-required',
  'artifact in',
  'artifact out',
  'failure',
] as const;
type Doing = (typeof doings)[number];

/** A way to the gateway. */
export type Way = 'mesh' | 'JSONRPC' | 'REST';

/** One cell of the matrix. */
export interface Cell {
  readonly caller: Version;
  readonly way: Way;
  readonly downstream: Version;
  readonly doing: Doing;
}

/** The cells of some ways. 0.1 has no REST. */
export function cellsOf(ways: readonly Way[]): Cell[] {
  return ways.flatMap((way) =>
    versions
      .filter((caller) => way !== 'REST' || caller !== '0.1')
      .flatMap((caller) =>
        versions.flatMap((downstream) => doings.map((doing) => ({ caller, way, downstream, doing }))),
      ),
  );
}

const nameOf = ({ caller, way, downstream, doing }: Cell) =>
  `${caller}_${way}_${downstream}_${doing}`.replaceAll(/[^A-Za-z0-9_]/g, '-').replace(/^/, 'c');

/** What the matrix of one gateway stands on. */
interface Scene {
  readonly store: ArtifactStore;
  readonly callers: ReadonlyMap<string, Caller>;
  /** What was reported as lost, for each agent. */
  readonly losses: ReadonlyMap<string, readonly string[]>;
}

const namespace = 'matrix';
const user = 'alice';
const session = 'files';

/** Describes the cells of some ways, all of them at one gateway. */
export function describeMatrix(
  title: string,
  ways: readonly Way[],
  startBroker?: () => Promise<{ readonly url: string; remove(): Promise<void> }>,
): void {
  const cells = cellsOf(ways);
  const open: (() => Promise<unknown>)[] = [];
  let scene: Scene;

  beforeAll(async () => {
    const downstreams = new Map<string, Downstream>();
    for (const version of versions) {
      const started = await startDownstream(version);
      open.push(() => started.close());
      downstreams.set(version, started);
    }
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-matrix-'));
    open.push(async () => rmSync(folder, { recursive: true, force: true }));
    const broker = await startBroker?.();
    if (broker) open.push(() => broker.remove());
    // An agent for each cell, so that what is lost can be told by its name.
    const agents = cells.map(
      (cell) => `  ${nameOf(cell)}: { url: "${downstreams.get(cell.downstream)?.url}" }`,
    );
    const mesh =
      broker && `mesh: { url: "${broker.url}", namespace: ${namespace}, card_interval_seconds: 0 }`;
    const file = [
      mesh ? `${mesh}\nartifacts: { type: filesystem, base_path: "${folder}" }` : 'listen: 0',
      'agents:',
      ...(mesh ? agents.map((line) => line.replace(' }', ', expose: [mesh] }')) : agents),
    ].join('\n');
    const losses = new Map<string, string[]>();
    const gateway = await runGateway(readGatewayConfig(file, join(folder, 'dragoman.yaml'), {}), {
      log: ({ message }) => {
        const [, agent = '', report = ''] = /^(\S+): lost in translation of [^:]*: (.*)$/.exec(message) ?? [];
        if (agent !== '')
          losses.set(agent, [
            ...(losses.get(agent) ?? []),
            ...report.split(/; (?=\S+ (?:dropped|guessed|defaulted): )/),
          ]);
      },
    });
    open.push(() => gateway.stop(0));
    const link = broker && (await connectBroker(broker.url));
    if (link) open.push(() => link.close());
    const callers = new Map<string, Caller>();
    for (const way of ways)
      for (const version of versions) {
        const made =
          way === 'mesh'
            ? link && (await meshCaller(link, namespace, version))
            : httpCaller(gateway.url ?? '', way === 'REST' && version === '0.3' ? '0.3 REST' : version, way);
        if (made) callers.set(`${version} ${way}`, made);
      }
    scene = { store: filesystemArtifactStore(folder), callers, losses };
  });
  afterAll(async () => {
    for (const close of open.toReversed()) await close();
  });

  describe.concurrent(title, () => {
    it.each(cells)('$caller asks $downstream by $way: $doing', async (cell) => {
      const caller = scene.callers.get(`${cell.caller} ${cell.way}`);
      if (!caller) throw new Error('nobody asks');
      await new Trial(cell, caller, scene.store)[cell.doing]();
      const reported = new Set((scene.losses.get(nameOf(cell)) ?? []).map(withoutIds));
      expect([...reported].toSorted()).toEqual(expectedLosses(cell));
    });
  });
}

/** Reports name ids, which differ. */
const withoutIds = (loss: string): string => loss.replaceAll(/[\w-]*[0-9a-f]{8}-[0-9a-f-]{27,}[\w-]*/g, '…');

/** One cell at work. */
class Trial implements Record<Doing, () => Promise<void>> {
  readonly #cell: Cell;
  readonly #caller: Caller;
  readonly #store: ArtifactStore;
  readonly #agent: string;

  constructor(cell: Cell, caller: Caller, store: ArtifactStore) {
    this.#cell = cell;
    this.#caller = caller;
    this.#store = store;
    this.#agent = nameOf(cell);
  }

  async send(): Promise<void> {
    const outcome = await this.#asked('send', { text: 'tea' });
    expect(outcome).toMatchObject({ state: 'completed', updates: 0, error: undefined });
    expect(outcome.lastTexts).toContain('tea it is');
    expect(outcome.lastTexts).toContain('done');
  }

  async stream(): Promise<void> {
    const outcome = await this.#asked('stream', { text: 'tea' });
    expect(outcome).toMatchObject({ state: 'completed', error: undefined });
    expect(outcome.updates).toBeGreaterThanOrEqual(2);
    for (const text of ['on it', 'tea it is', 'done']) expect(outcome.texts).toContain(text);
  }

  async cancel(): Promise<void> {
    const asking = this.#caller.ask(this.#agent, 'stream', { text: 'cancel' });
    await this.#caller.cancel(this.#agent, await asking.begun);
    expect(await asking.outcome).toMatchObject({ state: 'canceled', error: undefined });
  }

  async 'input-required'(): Promise<void> {
    const contextId = crypto.randomUUID();
    const first = await this.#caller.ask(this.#agent, 'send', { text: 'ask' }, { contextId }).outcome;
    expect(first).toMatchObject({ state: 'input-required', error: undefined });
    expect(first.texts).toContain('Which one?');
    const { taskId } = first;
    if (taskId === undefined) throw new Error('there is no task');
    const second = await this.#caller.ask(this.#agent, 'send', { text: 'tea' }, { contextId, taskId })
      .outcome;
    expect(second).toMatchObject({ state: 'completed', error: undefined });
    expect(second.lastTexts).toContain('you chose tea');
  }

  async 'artifact in'(): Promise<void> {
    const outcome = await this.#asked('send', { text: 'read', file: await this.#given('in.txt', 'of mine') });
    expect(outcome).toMatchObject({ state: 'completed', error: undefined });
    expect(outcome.lastTexts).toContain('in.txt text/plain of mine');
  }

  async 'artifact out'(): Promise<void> {
    for (const operation of ['send', 'stream'] as const) {
      const outcome = await this.#asked(operation, { text: 'make' });
      expect(outcome).toMatchObject({ state: 'completed', error: undefined });
      const [file] = outcome.files;
      expect(file).toMatchObject({ name: expect.stringMatching(/^out/), type: made.type });
      expect(await this.#bytes(file)).toBe(atob(made.bytes));
    }
  }

  async failure(): Promise<void> {
    const failed = await this.#asked('stream', { text: 'fail' });
    expect(failed).toMatchObject({ state: 'failed', error: undefined });
    expect(failed.lastTexts).toContain('it broke');
    for (const operation of ['send', 'stream'] as const) {
      const { error } = await this.#asked(operation, { text: 'refuse' });
      expect(error).toContain('I will not do this');
    }
  }

  #asked(operation: 'send' | 'stream', said: { text: string; file?: File }): Promise<Outcome> {
    return this.#caller.ask(this.#agent, operation, said, { contextId: crypto.randomUUID() }).outcome;
  }

  /** A file of the caller: over HTTP as bytes, on a mesh by its name. */
  async #given(name: string, text: string): Promise<File> {
    const type = 'text/plain';
    if (this.#cell.way !== 'mesh') return { name, type, bytes: btoa(text) };
    const key = { app: namespace, user, session, filename: `${this.#agent}-${name}` };
    const { version } = await this.#store.save(key, Buffer.from(text), type);
    const uri = `artifact://${namespace}/${user}/${session}/${this.#agent}-${name}?version=${version}`;
    return { name, type, uri };
  }

  async #bytes(file: File | undefined): Promise<string> {
    if (file?.bytes !== undefined) return atob(file.bytes);
    expect(this.#cell.way).toBe('mesh');
    const found = readArtifactUri(file?.uri ?? '');
    if (!found) throw new Error(`there is no file at ${file?.uri}`);
    const { version, ...key } = found;
    const stored = await this.#store.load({ ...key, app: namespace }, version);
    return Buffer.from((await stored?.bytes()) ?? '').toString();
  }
}

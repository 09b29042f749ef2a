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
import { httpMatrixClient, type MatrixClient, meshMatrixClient, type Outcome } from './clients.ts';
import { type GrpcVersion, grpcMatrixClient, grpcVersions, startGrpcUpstream } from './grpc.ts';
import { producedFile, startUpstream, type Upstream } from './upstream.ts';
import { expectedLosses } from './expected-losses.ts';
import { type File, type Version, versions } from './versions.ts';

/** Scenarios of each pair of versions. */
const scenarios = [
  'send',
  'stream',
  'cancel',
  'input-required',
  'artifact in',
  'artifact out',
  'failure',
] as const;
type Scenario = (typeof scenarios)[number];

/** Transport between client and gateway. */
export type MatrixTransport = 'mesh' | 'JSONRPC' | 'REST' | 'GRPC';

/** Version and transport of an agent behind the gateway. */
export type UpstreamKind = Version | `${GrpcVersion} gRPC`;

const grpcUpstreams = grpcVersions.map((version) => `${version} gRPC` as const);

/** One cell of the matrix. */
export interface Cell {
  readonly client: Version;
  readonly transport: MatrixTransport;
  readonly upstream: UpstreamKind;
  readonly scenario: Scenario;
}

/** Returns all cells of some transports. 0.1 has neither REST nor gRPC. */
export function listCells(
  transports: readonly MatrixTransport[],
  upstreams: readonly UpstreamKind[] = versions,
): Cell[] {
  return transports.flatMap((transport) =>
    versions
      .filter((client) => (transport !== 'REST' && transport !== 'GRPC') || client !== '0.1')
      .flatMap((client) =>
        upstreams.flatMap((upstream) =>
          scenarios.map((scenario) => ({ client, transport, upstream, scenario })),
        ),
      ),
  );
}

/** Returns the cells with gRPC on either side. */
export function listGrpcCells(): Cell[] {
  return [
    ...listCells(['GRPC'], [...versions, ...grpcUpstreams]),
    ...listCells(['JSONRPC', 'REST', 'mesh'], grpcUpstreams),
  ];
}

const cellName = ({ client, transport, upstream, scenario }: Cell) =>
  `${client}_${transport}_${upstream}_${scenario}`.replaceAll(/[^A-Za-z0-9_]/g, '-').replace(/^/, 'c');

interface Fixture {
  readonly store: ArtifactStore;
  readonly clients: ReadonlyMap<string, MatrixClient>;
  /** Reported translation losses by agent. */
  readonly losses: ReadonlyMap<string, readonly string[]>;
}

const namespace = 'matrix';
const user = 'alice';
const session = 'files';

/** Describes cells at one gateway. */
export function describeMatrix(
  title: string,
  cells: readonly Cell[],
  startBroker?: () => Promise<{ readonly url: string; remove(): Promise<void> }>,
): void {
  const transports = new Set(cells.map(({ transport }) => transport));
  const open: (() => Promise<unknown>)[] = [];
  let fixture: Fixture;

  beforeAll(async () => {
    const upstreams = new Map<string, Upstream>();
    for (const kind of new Set(cells.map(({ upstream }) => upstream))) {
      const started = await startUpstreamOf(kind);
      open.push(() => started.close());
      upstreams.set(kind, started);
    }
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-matrix-'));
    open.push(async () => rmSync(folder, { recursive: true, force: true }));
    const broker = await startBroker?.();
    if (broker) open.push(() => broker.remove());
    // One agent per cell, so that losses can be assigned by its name.
    const agents = cells.map(
      (cell) => `  ${cellName(cell)}: { url: "${upstreams.get(cell.upstream)?.url}" }`,
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
    const connection = broker && (await connectBroker(broker.url));
    if (connection) open.push(() => connection.close());
    const clients = new Map<string, MatrixClient>();
    for (const transport of transports)
      for (const version of versions) {
        if (transport === 'GRPC') {
          if (version === '0.1') continue;
          const caller = grpcMatrixClient(gateway.url ?? '', version);
          open.push(async () => caller.close());
          clients.set(`${version} ${transport}`, caller.client);
          continue;
        }
        const wireVersion = transport === 'REST' && version === '0.3' ? '0.3 REST' : version;
        const client =
          transport === 'mesh'
            ? connection && (await meshMatrixClient(connection, namespace, version))
            : httpMatrixClient(gateway.url ?? '', wireVersion, transport);
        if (client) clients.set(`${version} ${transport}`, client);
      }
    fixture = { store: filesystemArtifactStore(folder), clients, losses };
  });
  afterAll(async () => {
    for (const close of open.toReversed()) await close();
  });

  describe.concurrent(title, () => {
    it.each(cells)('translates $client over $transport to $upstream: $scenario', async (cell) => {
      const client = fixture.clients.get(`${cell.client} ${cell.transport}`);
      if (!client) throw new Error('no client');
      await new CellTest(cell, client, fixture.store)[cell.scenario]();
      const reported = new Set((fixture.losses.get(cellName(cell)) ?? []).map(withoutIds));
      expect([...reported].toSorted()).toEqual(expectedLosses(cell));
    });
  });
}

function startUpstreamOf(kind: UpstreamKind): Promise<Upstream> {
  const version = grpcVersions.find((each) => kind === `${each} gRPC`);
  return version ? startGrpcUpstream(version) : startUpstream(kind as Version);
}

/** Replaces ids, which differ between runs. */
const withoutIds = (loss: string): string => loss.replaceAll(/[\w-]*[0-9a-f]{8}-[0-9a-f-]{27,}[\w-]*/g, '…');

class CellTest implements Record<Scenario, () => Promise<void>> {
  readonly #cell: Cell;
  readonly #client: MatrixClient;
  readonly #store: ArtifactStore;
  readonly #agent: string;

  constructor(cell: Cell, client: MatrixClient, store: ArtifactStore) {
    this.#cell = cell;
    this.#client = client;
    this.#store = store;
    this.#agent = cellName(cell);
  }

  async send(): Promise<void> {
    const outcome = await this.#request('send', { text: 'tea' });
    expect(outcome).toMatchObject({ state: 'completed', updates: 0, error: undefined });
    expect(outcome.lastTexts).toContain('tea it is');
    expect(outcome.lastTexts).toContain('done');
  }

  async stream(): Promise<void> {
    const outcome = await this.#request('stream', { text: 'tea' });
    expect(outcome).toMatchObject({ state: 'completed', error: undefined });
    expect(outcome.updates).toBeGreaterThanOrEqual(2);
    for (const text of ['on it', 'tea it is', 'done']) expect(outcome.texts).toContain(text);
  }

  async cancel(): Promise<void> {
    const pending = this.#client.request(this.#agent, 'stream', { text: 'cancel' });
    await this.#client.cancel(this.#agent, await pending.started);
    expect(await pending.outcome).toMatchObject({ state: 'canceled', error: undefined });
  }

  async 'input-required'(): Promise<void> {
    const contextId = crypto.randomUUID();
    const first = await this.#client.request(this.#agent, 'send', { text: 'ask' }, { contextId }).outcome;
    expect(first).toMatchObject({ state: 'input-required', error: undefined });
    expect(first.texts).toContain('Which one?');
    const { taskId } = first;
    if (taskId === undefined) throw new Error('no task');
    const second = await this.#client.request(this.#agent, 'send', { text: 'tea' }, { contextId, taskId })
      .outcome;
    expect(second).toMatchObject({ state: 'completed', error: undefined });
    expect(second.lastTexts).toContain('you chose tea');
  }

  async 'artifact in'(): Promise<void> {
    const outcome = await this.#request('send', {
      text: 'read',
      file: await this.#clientFile('in.txt', 'of mine'),
    });
    expect(outcome).toMatchObject({ state: 'completed', error: undefined });
    expect(outcome.lastTexts).toContain('in.txt text/plain of mine');
  }

  async 'artifact out'(): Promise<void> {
    for (const operation of ['send', 'stream'] as const) {
      const outcome = await this.#request(operation, { text: 'make' });
      expect(outcome).toMatchObject({ state: 'completed', error: undefined });
      const [file] = outcome.files;
      expect(file).toMatchObject({ name: expect.stringMatching(/^out/), type: producedFile.type });
      expect(await this.#bytes(file)).toBe(atob(producedFile.bytes));
    }
  }

  async failure(): Promise<void> {
    const failed = await this.#request('stream', { text: 'fail' });
    expect(failed).toMatchObject({ state: 'failed', error: undefined });
    expect(failed.lastTexts).toContain('it broke');
    for (const operation of ['send', 'stream'] as const) {
      const { error } = await this.#request(operation, { text: 'refuse' });
      expect(error).toContain('I will not do this');
    }
  }

  #request(operation: 'send' | 'stream', content: { text: string; file?: File }): Promise<Outcome> {
    return this.#client.request(this.#agent, operation, content, { contextId: crypto.randomUUID() }).outcome;
  }

  /** A file of the client: bytes over HTTP, an artifact URI on a mesh. */
  async #clientFile(name: string, text: string): Promise<File> {
    const type = 'text/plain';
    if (this.#cell.transport !== 'mesh') return { name, type, bytes: btoa(text) };
    const key = { app: namespace, user, session, filename: `${this.#agent}-${name}` };
    const { version } = await this.#store.save(key, Buffer.from(text), type);
    const uri = `artifact://${namespace}/${user}/${session}/${this.#agent}-${name}?version=${version}`;
    return { name, type, uri };
  }

  async #bytes(file: File | undefined): Promise<string> {
    if (file?.bytes !== undefined) return atob(file.bytes);
    expect(this.#cell.transport).toBe('mesh');
    const found = readArtifactUri(file?.uri ?? '');
    if (!found) throw new Error(`no file at ${file?.uri}`);
    const { version, ...key } = found;
    const stored = await this.#store.load({ ...key, app: namespace }, version);
    return Buffer.from((await stored?.bytes()) ?? '').toString();
  }
}

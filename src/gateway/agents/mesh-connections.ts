import type { ArtifactStore } from '../../artifacts/artifact-store.ts';
import { withArtifacts } from '../../artifacts/with-artifacts.ts';
import type { Clock } from '../../client/abortable-sleep.ts';
import { type MeshDirectory, meshDirectory } from '../../mesh/mesh-directory.ts';
import { type MeshServer, serveOnMesh } from '../../mesh/server/serve-on-mesh.ts';
import type { BrokerConnection } from '../../mesh/brokers/broker-connection.ts';
import { connectBroker } from '../../mesh/brokers/connect-broker.ts';
import { meshAgent } from '../../mesh/client/mesh-agent.ts';
import { meshSessionId } from '../../mesh/mesh-session.ts';
import type { Agent } from '../../protocol/agent.ts';
import type { LogSink } from '../../primitives/log.ts';
import { openArtifactStore, artifactScope } from '../config/artifact-store.ts';
import { formatLosses } from '../telemetry/format-losses.ts';
import type { AgentSettings, AgentSourceSettings, MeshSettings } from '../gateway-settings.ts';
import type { GatewayRecorder } from '../telemetry/gateway-recorder.ts';

/** What a port needs. */
export interface MeshConnectionsOptions {
  readonly log: LogSink;
  readonly clock: Clock;
  /** From where paths in the settings are seen. */
  readonly file: string;
  /** Opens a link, instead of what the settings say. */
  readonly openLink?: ((mesh: MeshSettings) => Promise<BrokerConnection>) | undefined;
  /** Records what passes. */
  readonly tap?: GatewayRecorder | undefined;
}

/** Shows agents on brokers and finds agents there; what several use is opened once. */
export class MeshConnections {
  readonly #options: MeshConnectionsOptions;
  readonly #links = new Map<string, Promise<BrokerConnection>>();
  readonly #directories = new Map<string, Promise<MeshDirectory>>();
  readonly #stores = new Map<string, ArtifactStore>();

  constructor(options: MeshConnectionsOptions) {
    this.#options = options;
  }

  /** Shows an agent where its settings say. */
  async show(agent: Agent, settings: AgentSettings): Promise<MeshServer> {
    const mesh = settings.exposeOnMesh as MeshSettings;
    const { name, displayName, convertProgress, idleTimeout, totalTimeout } = settings;
    const { log, clock, tap } = this.#options;
    return serveOnMesh(this.#withFiles(agent, name, mesh), {
      broker: await this.#link(mesh),
      namespace: mesh.namespace,
      name,
      displayName,
      convertProgress,
      ...(mesh.cardInterval !== undefined && { card: { interval: mesh.cardInterval } }),
      ...(mesh.queue !== undefined && { queue: `${mesh.queue}/${name}` }),
      shared: mesh.isShared,
      timeouts: { idle: idleTimeout, ...(totalTimeout !== undefined && { total: totalTimeout }) },
      clock,
      log,
      onLoss: (losses, { operation, version, taskId, side }) => {
        tap?.lost(losses, { operation, version, taskId, from: 'gateway', to: 'mesh' });
        log({
          level: 'warn',
          message: `${name}: lost in translation of ${operation} (${side}, ${version}): ${formatLosses(losses)}`,
          taskId,
          fields: { agent: name },
        });
      },
    });
  }

  /** Finds an agent that lives on a mesh. */
  async find(
    source: Extract<AgentSourceSettings, { kind: 'mesh' }>,
    settings: AgentSettings,
  ): Promise<Agent> {
    const { mesh, name } = source;
    const { log, clock } = this.#options;
    const link = await this.#link(mesh);
    const directory = await this.#directory(mesh, link);
    const { namespace } = mesh;
    return meshAgent({
      broker: link,
      namespace,
      name,
      directory,
      timeouts: { idle: settings.idleTimeout },
      clock,
      log,
    });
  }

  /** Closes everything. */
  async close(): Promise<void> {
    const directories = await Promise.allSettled(this.#directories.values());
    for (const each of directories) if (each.status === 'fulfilled') await each.value.close();
    const links = await Promise.allSettled(this.#links.values());
    for (const each of links) if (each.status === 'fulfilled') await each.value.close();
    for (const store of this.#stores.values()) await store.close?.();
  }

  /** Files do not travel over brokers: they are kept, and their names travel. */
  #withFiles(agent: Agent, app: string, { artifacts, namespace }: MeshSettings): Agent {
    if (!artifacts) return agent;
    const key = JSON.stringify(artifacts);
    let store = this.#stores.get(key);
    if (!store) this.#stores.set(key, (store = openArtifactStore(artifacts, this.#options.file)));
    const { log, clock } = this.#options;
    return withArtifacts(agent, {
      store,
      app,
      namespace,
      scope: artifactScope(artifacts),
      // The agent may have been given a context of its own; the files belong where the caller looks for them.
      session: (contextId, call) => meshSessionId(call) ?? contextId ?? 'default',
      resolveMentions: artifacts.resolve_mentions,
      ...(artifacts.max_bytes !== undefined && { limits: { maxBytes: artifacts.max_bytes } }),
      log,
      clock,
    });
  }

  #link(mesh: MeshSettings): Promise<BrokerConnection> {
    const { url, username, password } = mesh;
    const { tap, openLink: open = () => connectBroker(url, { username, password }) } = this.#options;
    return kept(this.#links, JSON.stringify([url, username, password]), async () => {
      const link = await open(mesh);
      return tap?.link(link) ?? link;
    });
  }

  #directory({ url, username, namespace }: MeshSettings, link: BrokerConnection): Promise<MeshDirectory> {
    const { clock, log } = this.#options;
    return kept(this.#directories, JSON.stringify([url, username, namespace]), () =>
      meshDirectory({ link, namespace, clock, log }),
    );
  }
}

/** Opens once what many ask for; what cannot be opened is tried again by the next. */
function kept<T>(open: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  let opening = open.get(key);
  if (!opening) {
    open.set(key, (opening = make()));
    opening.catch(() => open.delete(key));
  }
  return opening;
}

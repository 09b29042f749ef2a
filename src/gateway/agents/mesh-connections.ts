import type { ArtifactStore } from '../../artifacts/artifact-store.ts';
import { withArtifacts } from '../../artifacts/with-artifacts.ts';
import { compositeKey } from '../../primitives/composite-key.ts';
import type { Clock } from '../../primitives/clock.ts';
import { type MeshDirectory, meshDirectory } from '../../mesh/mesh-directory.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { MaybePromise } from '../../primitives/maybe-promise.ts';
import type { MeshCall } from '../../mesh/server/mesh-server-options.ts';
import { type MeshServer, serveOnMesh } from '../../mesh/server/serve-on-mesh.ts';
import type { BrokerConnection } from '../../mesh/brokers/broker-connection.ts';
import { connectBroker } from '../../mesh/brokers/connect-broker.ts';
import { meshAgent } from '../../mesh/client/mesh-agent.ts';
import type { MeshRegister } from '../../mesh/sharing/mesh-register.ts';
import { meshSessionId } from '../../mesh/mesh-session.ts';
import type { Agent } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { LogSink } from '../../primitives/log.ts';
import { openArtifactStore, artifactScope } from '../config/artifact-store.ts';
import { formatLosses } from '../telemetry/format-losses.ts';
import type { AgentSettings, AgentSourceSettings, MeshSettings } from '../gateway-settings.ts';
import type { OwnershipRegister } from '../ownership/ownership-register.ts';
import type { GatewayRecorder } from '../telemetry/gateway-recorder.ts';

/** Options of {@link MeshConnections}. */
export interface MeshConnectionsOptions {
  readonly log: LogSink;
  readonly clock: Clock;
  readonly metrics?: Metrics | undefined;
  /** Configuration file; paths in the settings are relative to it. */
  readonly file: string;
  /** Replaces the connection by URL. */
  readonly openBroker?: ((mesh: MeshSettings) => Promise<BrokerConnection>) | undefined;
  readonly recorder?: GatewayRecorder | undefined;
  /** Owners of tasks, and what the gateways that share them know of the mesh. */
  readonly ownership: OwnershipRegister;
}

/** Serves agents on meshes and connects to agents there. Agents share broker connections, directories and stores. */
export class MeshConnections {
  readonly #options: MeshConnectionsOptions;
  readonly #brokers = new Map<string, Promise<BrokerConnection>>();
  readonly #directories = new Map<string, Promise<MeshDirectory>>();
  readonly #stores = new Map<string, ArtifactStore>();

  constructor(options: MeshConnectionsOptions) {
    this.#options = options;
  }

  async serve(
    agent: Agent,
    settings: AgentSettings,
    authorize: (call: MeshCall) => MaybePromise<void>,
  ): Promise<MeshServer> {
    const mesh = settings.exposeOnMesh as MeshSettings;
    const { name, displayName, convertProgress, idleTimeout, totalTimeout } = settings;
    const { log, clock, recorder, metrics } = this.#options;
    return serveOnMesh(this.#withFiles(agent, name, mesh), {
      broker: await this.#broker(mesh),
      namespace: mesh.namespace,
      name,
      displayName,
      convertProgress,
      authorize,
      ...(mesh.cardInterval !== undefined && { card: { interval: mesh.cardInterval } }),
      ...(mesh.queue !== undefined && { queue: `${mesh.queue}/${name}` }),
      shared: mesh.isShared,
      ...(mesh.isShared && { register: this.#register(name, mesh) }),
      ...(mesh.replyTopics && { replyTopics: mesh.replyTopics }),
      timeouts: { idle: idleTimeout, ...(totalTimeout !== undefined && { total: totalTimeout }) },
      clock,
      log,
      onLimit: (limit) => metrics?.countLimitHit(limit),
      onLoss: (losses, { operation, version, taskId, side }) => {
        recorder?.recordLosses(losses, { operation, version, taskId, from: 'gateway', to: 'mesh' });
        log({
          level: 'warn',
          message: `${name}: lost in translation of ${operation} (${side}, ${version}): ${formatLosses(losses)}`,
          taskId,
          fields: { agent: name },
        });
      },
    });
  }

  async connect(
    source: Extract<AgentSourceSettings, { kind: 'mesh' }>,
    settings: AgentSettings,
  ): Promise<Agent> {
    const { mesh, name } = source;
    const { log, clock, ownership } = this.#options;
    const broker = await this.#broker(mesh);
    const directory = await this.#directory(mesh, broker);
    return meshAgent({
      broker,
      namespace: mesh.namespace,
      name,
      directory,
      // Gateways behind a load balancer find the tasks of each other.
      register: ownership.meshRegister?.(compositeKey('client', mesh.namespace, name)),
      timeouts: { idle: settings.idleTimeout },
      clock,
      log,
    });
  }

  async close(): Promise<void> {
    const directories = await Promise.allSettled(this.#directories.values());
    for (const each of directories) if (each.status === 'fulfilled') await each.value.close();
    const brokers = await Promise.allSettled(this.#brokers.values());
    for (const each of brokers) if (each.status === 'fulfilled') await each.value.close();
    for (const store of this.#stores.values()) await store.close?.();
  }

  /** Gateways that share a queue also share what they know of its tasks. */
  #register(agent: string, { namespace }: MeshSettings): MeshRegister | undefined {
    const { ownership, log } = this.#options;
    const register = ownership.meshRegister?.(compositeKey(namespace, agent));
    if (!register) {
      log({
        level: 'warn',
        message: `${agent}: gateways with mesh.shared do not find each other's tasks unless they share a store (store: sqlite:FILE or postgres://…)`,
        fields: { agent },
      });
    }
    return register;
  }

  /** Stores files in the artifact store, because brokers carry only their URIs. */
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
      // The upstream may use a different context id; the client looks for files in the mesh session.
      session: (contextId, call) => meshSessionId(call) ?? contextId ?? 'default',
      resolveMentions: artifacts.resolve_mentions,
      ...(artifacts.max_bytes !== undefined && { limits: { maxBytes: artifacts.max_bytes } }),
      log,
      clock,
    });
  }

  #broker(mesh: MeshSettings): Promise<BrokerConnection> {
    const { url, username, password, clientId } = mesh;
    const { recorder, log } = this.#options;
    const onWarning = (message: string) => log({ level: 'warn', message });
    const onError = (thrown: unknown) => {
      const error = A2AError.from(thrown);
      log({ level: 'error', message: error.message, error: thrown });
    };
    const { openBroker = () => connectBroker(url, { username, password, clientId, onWarning, onError }) } =
      this.#options;
    return openOnce(this.#brokers, JSON.stringify([url, username, password, clientId]), async () => {
      const broker = await openBroker(mesh);
      return recorder?.recordBroker(broker) ?? broker;
    });
  }

  #directory({ url, username, namespace }: MeshSettings, broker: BrokerConnection): Promise<MeshDirectory> {
    const { clock, log } = this.#options;
    return openOnce(this.#directories, JSON.stringify([url, username, namespace]), () =>
      meshDirectory({ broker: broker, namespace, clock, log }),
    );
  }
}

/** Returns the cached resource or opens it. A failed attempt is not cached. */
function openOnce<T>(cache: Map<string, Promise<T>>, key: string, open: () => Promise<T>): Promise<T> {
  let opening = cache.get(key);
  if (!opening) {
    cache.set(key, (opening = open()));
    opening.catch(() => cache.delete(key));
  }
  return opening;
}

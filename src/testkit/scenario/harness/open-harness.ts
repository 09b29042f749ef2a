import { withArtifacts } from '../../../artifacts/with-artifacts.ts';
import { connect } from '../../../client/connect.ts';
import { serveOnMesh } from '../../../mesh/server/serve-on-mesh.ts';
import { connectMemoryBroker } from '../../../mesh/brokers/memory/connect-memory.ts';
import { connectBroker } from '../../../mesh/brokers/connect-broker.ts';
import { MeshTopics } from '../../../mesh/mesh-topics.ts';
import type { Agent } from '../../../protocol/agent.ts';
import { serve } from '../../../server/node/serve.ts';
import { DirectScenarioClient, type ScenarioClient } from './direct-client.ts';
import { createCaseFiles, sharedApp } from './case-files.ts';
import { MeshScenarioClient } from './mesh-client.ts';
import { hexId } from './build-message.ts';
import type { Scenario } from '../files/read-scenarios.ts';
import type { ScenarioCapture, CaseFiles, ScenarioHarness } from './harness-types.ts';
import { type CaseEnvironment, CaseEnvironments } from './case-environments.ts';
import { CaseTimeline } from './case-timeline.ts';

/**
 * What stands between caller and test agent: a mesh with the proxy on it, the proxy over HTTP, or nothing but a client.
 */
export type HarnessKind = 'mesh' | 'http' | 'direct';

/** How cases are driven. */
export interface HarnessOptions {
  /** For cases that do not say. @defaultValue `mesh` */
  readonly kind?: HarnessKind;
  /** The broker of the mesh: `memory`, or its URL. @defaultValue `memory` */
  readonly broker?: string;
}

/** What a case needs beside its act, and what takes it down again. */
interface CaseSetup {
  readonly scenario: Scenario;
  readonly timeline: CaseTimeline;
  readonly files: CaseFiles;
  readonly act: CaseEnvironment;
  /** Runs when the case is over, the last one first. */
  readonly cleanUp: (() => Promise<unknown>)[];
}

/** The target whose words on the way stay words, as the files of the Solace Agent Mesh know it. */
const plainTarget = 'TestAgent_Proxied_NoConvert';

const gatewayId = 'TestHarnessGateway_01';

/** Opens what drives cases, one after the other. */
export async function openHarness(options: HarnessOptions = {}): Promise<ScenarioHarness> {
  const { kind: rig = 'mesh', broker: link = 'memory' } = options;
  const stage = new CaseEnvironments();
  const broker = link === 'memory' ? connectMemoryBroker() : await connectBroker(link);
  // Several may run at one broker, each in a namespace of its own.
  const topics = new MeshTopics(link === 'memory' ? sharedApp : `${sharedApp}/${hexId()}`);

  async function onMesh({ scenario, timeline, files, act, cleanUp }: CaseSetup): Promise<ScenarioClient> {
    const name = act.upstream.name;
    const face = await serveOnMesh(withFiles(act.upstream.agent, name, files), {
      broker: broker,
      namespace: topics.namespace,
      name,
      card: { interval: 0 },
      // What is still open when a case is over is of no interest.
      timeouts: { close: 1 },
      convertProgress: scenario.convertsProgress ?? name !== plainTarget,
    });
    cleanUp.push(() => face.close());
    return new MeshScenarioClient({ link: broker, topics, id: gatewayId, files, timeline }, scenario);
  }

  async function overHttp(scene: CaseSetup): Promise<ScenarioClient> {
    const { scenario, files, act, cleanUp } = scene;
    const server = await serve(withFiles(act.upstream.agent, act.upstream.name, files, scenario.user));
    cleanUp.push(() => server.stop(0));
    const { version = '0.3', transport = 'JSONRPC' } = scenario.spec.caller ?? {};
    const client = connect(server.url, { versions: [version], transports: [transport] });
    cleanUp.push(() => client.close());
    return new DirectScenarioClient(client, scene);
  }

  const callers: { readonly [Name in HarnessKind]: (scene: CaseSetup) => Promise<ScenarioClient> } = {
    mesh: onMesh,
    http: overHttp,
    direct: async (scene) => new DirectScenarioClient(scene.act.upstream.agent, scene),
  };

  async function run(scenario: Scenario, signal: AbortSignal): Promise<ScenarioCapture> {
    const timeline = new CaseTimeline(signal);
    const files = await createCaseFiles(scenario);
    const act = await stage.begin(scenario, timeline);
    const cleanUp: (() => Promise<unknown>)[] = [() => act.end()];
    try {
      const name = scenario.spec.gateway ?? rig;
      const caller = await callers[name]({ scenario, timeline, files, act, cleanUp });
      const [sent] = await Promise.all([acted(scenario, caller, timeline), caller.drive()]);
      return {
        events: timeline.events,
        requests: act.requests(),
        tokenRequests: act.tokens.requests,
        cancellation: { sent, received: act.agent.canceledTaskIds },
        files: name === 'direct' ? undefined : files,
      };
    } finally {
      for (const each of cleanUp.toReversed()) await each();
    }
  }

  const close = async (): Promise<void> => {
    await stage.close();
    await broker.close();
  };
  return { run, close, [Symbol.asyncDispose]: close };
}

/** Does what the caller does after it has sent. @returns whether it asked for an end. */
async function acted(
  { spec: words }: Scenario,
  caller: ScenarioClient,
  timeline: CaseTimeline,
): Promise<boolean> {
  let sent = false;
  for (const { delay_seconds: seconds } of words.gateway_actions_after_input) {
    await timeline.pause(seconds * 1_000);
    if (timeline.isOver) break;
    await caller.cancel();
    sent = true;
  }
  return sent;
}

function withFiles(agent: Agent, app: string, { store }: CaseFiles, user?: string): Agent {
  return withArtifacts(agent, {
    store,
    app,
    namespace: sharedApp,
    ...(user === undefined ? {} : { user: () => user }),
  });
}

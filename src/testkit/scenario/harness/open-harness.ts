import { withArtifacts } from '../../../artifacts/with-artifacts.ts';
import { connect } from '../../../client/connect.ts';
import { serveOnMesh } from '../../../mesh/server/serve-on-mesh.ts';
import { connectMemoryBroker } from '../../../mesh/brokers/memory/connect-memory.ts';
import { connectBroker } from '../../../mesh/brokers/connect-broker.ts';
import { MeshTopics } from '../../../mesh/mesh-topics.ts';
import type { Agent } from '../../../protocol/agent.ts';
import { serve } from '../../../server/node/serve.ts';
import { DirectScenarioClient, type ScenarioClient } from './direct-client.ts';
import { openConversation } from '../conversation/open-conversation.ts';
import { createCaseFiles, sharedApp } from './case-files.ts';
import { MeshScenarioClient } from './mesh-client.ts';
import { hexId } from './build-message.ts';
import type { Scenario } from '../files/read-scenarios.ts';
import type { ScenarioCapture, CaseFiles, ScenarioHarness } from './harness-types.ts';
import { type CaseEnvironment, CaseEnvironments } from './case-environments.ts';
import { CaseTimeline } from './case-timeline.ts';

/** Test harness of a case: a proxy on the mesh, a proxy over HTTP, or a client that calls the mock agent directly. */
export type HarnessKind = 'mesh' | 'http' | 'direct';

/** Options of {@link openHarness}. */
export interface HarnessOptions {
  /** Harness of cases without the key `harness`. @defaultValue `mesh` */
  readonly kind?: HarnessKind;
  /** `memory`, or the URL of a broker. @defaultValue `memory` */
  readonly broker?: string;
}

/** Collaborators and cleanup of one case. */
interface CaseSetup {
  readonly scenario: Scenario;
  readonly timeline: CaseTimeline;
  readonly files: CaseFiles;
  readonly environment: CaseEnvironment;
  /** Called after the case, the last one first. */
  readonly cleanUp: (() => Promise<unknown>)[];
}

/** Target of Solace Agent Mesh scenarios whose status texts are not converted to progress data. */
const unconvertedTarget = 'TestAgent_Proxied_NoConvert';

const gatewayId = 'TestHarnessGateway_01';

/** Opens a test harness that runs cases one after the other. Scenarios with steps call their agent themselves. */
export async function openHarness(options: HarnessOptions = {}): Promise<ScenarioHarness> {
  const { kind = 'mesh', broker: brokerUrl = 'memory' } = options;
  const environments = new CaseEnvironments();
  const broker = brokerUrl === 'memory' ? connectMemoryBroker() : await connectBroker(brokerUrl);
  // Several harnesses may share a broker; each one uses its own namespace.
  const topics = new MeshTopics(brokerUrl === 'memory' ? sharedApp : `${sharedApp}/${hexId()}`);

  async function onMesh(setup: CaseSetup): Promise<ScenarioClient> {
    const { scenario, timeline, files, environment, cleanUp } = setup;
    const name = environment.upstream.name;
    const server = await serveOnMesh(withFiles(environment.upstream.agent, name, files), {
      broker,
      namespace: topics.namespace,
      name,
      card: { interval: 0 },
      // Open requests do not matter after the end of a case.
      timeouts: { close: 1 },
      convertProgress: scenario.convertProgress ?? name !== unconvertedTarget,
    });
    cleanUp.push(() => server.close());
    return new MeshScenarioClient({ broker, topics, id: gatewayId, files, timeline }, scenario);
  }

  async function overHttp(setup: CaseSetup): Promise<ScenarioClient> {
    const { scenario, files, environment, cleanUp } = setup;
    const server = await serve(
      withFiles(environment.upstream.agent, environment.upstream.name, files, scenario.user),
    );
    cleanUp.push(() => server.stop(0));
    const { version = '0.3', transport = 'JSONRPC' } = scenario.spec.client ?? {};
    const client = connect(server.url, { versions: [version], transports: [transport] });
    cleanUp.push(() => client.close());
    return new DirectScenarioClient(client, setup);
  }

  const clients: { readonly [Name in HarnessKind]: (setup: CaseSetup) => Promise<ScenarioClient> } = {
    mesh: onMesh,
    http: overHttp,
    direct: async (setup) => new DirectScenarioClient(setup.environment.upstream.agent, setup),
  };

  async function run(scenario: Scenario, signal: AbortSignal): Promise<ScenarioCapture> {
    if (scenario.conversation) return openConversation(scenario, scenario.conversation, signal);
    const timeline = new CaseTimeline(signal);
    const files = await createCaseFiles(scenario);
    const environment = await environments.create(scenario, timeline);
    const cleanUp: (() => Promise<unknown>)[] = [() => environment.end()];
    try {
      const harness = scenario.spec.harness ?? kind;
      const client = await clients[harness]({ scenario, timeline, files, environment, cleanUp });
      const [sent] = await Promise.all([runActions(scenario, client, timeline), client.run()]);
      return {
        events: timeline.events,
        requests: environment.requests(),
        tokenRequests: environment.tokenEndpoint.requests,
        cancellation: { sent, received: environment.agent.canceledTaskIds },
        files: harness === 'direct' ? undefined : files,
      };
    } finally {
      for (const close of cleanUp.toReversed()) await close();
    }
  }

  const close = async (): Promise<void> => {
    await environments.close();
    await broker.close();
  };
  return { run, close, [Symbol.asyncDispose]: close };
}

/** Runs `gateway_actions_after_input`. @returns whether a cancel request was sent */
async function runActions(
  { spec }: Scenario,
  client: ScenarioClient,
  timeline: CaseTimeline,
): Promise<boolean> {
  let sent = false;
  for (const { delay_seconds: seconds } of spec.gateway_actions_after_input) {
    await timeline.sleep(seconds * 1_000);
    if (timeline.isEnded) break;
    await client.cancel();
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

import { createEndpointCache } from '../../../client/discovery/endpoint-cache.ts';
import type { HttpClient } from '../../../client/http/http-client.ts';
import { undiciHttpClient } from '../../../client/http/undici-driver.ts';
import type { ProxiedAgent } from '../../../gateway/config/proxied-agent-schema.ts';
import { type Upstream, createUpstream } from '../../../gateway/agents/upstream.ts';
import type { CardDraft } from '../../agent/card-draft.ts';
import type { JournalEntry } from '../../journal/journal-entry.ts';
import { TestAgentServer } from '../../test-agent-server.ts';
import type { Scenario } from '../files/read-scenarios.ts';
import type { DownstreamRequest } from './harness-types.ts';
import type { CaseTimeline } from './case-timeline.ts';
import { FakeTokenEndpoint } from './fake-token-endpoint.ts';

/** What the test agent says of itself. */
const card: CardDraft = {
  name: 'test_agent',
  description: 'Plays what a scenario says.',
  securitySchemes: {
    bearer: { type: 'http', scheme: 'bearer' },
    apikey: { type: 'apiKey', location: 'header', name: 'X-API-Key' },
  },
  securityRequirements: [{ bearer: [] }, { apikey: [] }],
};

const basePath = '/a2a';

/** How long the proxy waits for the test agent, in seconds. */
const patience = 3;

/** One case on the stage. */
export interface CaseEnvironment {
  /** The test agent, as the proxy reaches it. */
  readonly upstream: Upstream;
  readonly agent: TestAgentServer;
  readonly tokens: FakeTokenEndpoint;
  /** What the test agent was asked. */
  requests(): DownstreamRequest[];
  /** Takes everything down that is of this case alone. */
  end(): Promise<void>;
}

/** The test agent and the way to it, which are used for one case after the other. */
export class CaseEnvironments {
  readonly #http: HttpClient = undiciHttpClient({ connectTimeout: patience * 1_000, maxConnections: 64 });
  readonly #memory = createEndpointCache();
  #agent: Promise<TestAgentServer> | undefined;

  /** Sets everything up for a case; nothing of the one before is left. */
  async begin(scenario: Scenario, timeline: CaseTimeline): Promise<CaseEnvironment> {
    const { spec: words } = scenario;
    // A script says who the agent is, too, so that it needs one of its own.
    const script = words.downstream_script && JSON.stringify(words.downstream_script);
    const agent = script === undefined ? await this.#shared() : await start({ script });
    agent.reset();
    agent.prime(words.downstream_a2a_agent_responses);
    const { downstream_agent_auth: auth, downstream_http_error: error } = words;
    if (auth)
      agent.requireAuth({
        enabled: auth.enabled,
        type: auth.type,
        expectedValue: auth.expected_value,
        failOnce: auth.should_fail_once,
      });
    if (error) agent.injectHttpError({ status: error.status_code, body: error.error_body });
    const tokens = new FakeTokenEndpoint(this.#http, words.mock_oauth_server, timeline.now);
    const upstream = createUpstream(configOf(scenario, agent.url), {
      http: tokens,
      endpointCache: this.#memory,
    });
    return {
      upstream,
      agent,
      tokens,
      requests: () =>
        agent.journal
          .entries({ method: 'POST', where: ({ request }) => request.path.startsWith(basePath) })
          .map((entry) => requestOf(entry, timeline.beganAt)),
      async end() {
        await upstream.close();
        if (script !== undefined) await agent.stop();
      },
    };
  }

  async close(): Promise<void> {
    await (await this.#agent)?.stop();
    await this.#http.close();
  }

  #shared(): Promise<TestAgentServer> {
    return (this.#agent ??= start({ card }));
  }
}

function start(options: { card?: CardDraft; script?: string }): Promise<TestAgentServer> {
  return TestAgentServer.start({ ...options, basePath, admin: false });
}

/** The entry of a file by which the proxy knows the agent: what was asked for is an alias of the one that is there. */
function configOf({ spec: words }: Scenario, url: string): ProxiedAgent {
  const name = words.gateway_input?.target_agent_name ?? '';
  const { proxy_auth_config: auth, proxy_config_override: override, downstream } = words;
  return {
    name,
    url: override?.agent_name === name ? override.url : url,
    // An agent somewhere else has the time that its case gives it.
    request_timeout_seconds:
      override?.agent_name === name
        ? Math.max(patience, words.expected_completion_timeout_seconds)
        : patience,
    // What those who wrote such files see at their agents, unless a case wants something else.
    a2a_version: downstream?.version ?? '0.3',
    transport: downstream?.transport ?? 'JSONRPC',
    ...(auth?.agent_name === name
      ? { authentication: auth.authentication as NonNullable<ProxiedAgent['authentication']> }
      : {}),
  };
}

/** What is known of a request: those that the door answered brought credentials, but nobody looked at their body. */
function requestOf(
  { time, request, responseOrigin: answeredBy }: JournalEntry,
  beganAt: number,
): DownstreamRequest {
  const header = (name: string): string | undefined => [request.headers[name]].flat()[0];
  return {
    at: Date.parse(time) - beganAt,
    path: request.path,
    authorization: header('authorization'),
    apiKey: header('x-api-key'),
    body: answeredBy === 'agent' ? request.json : undefined,
  };
}

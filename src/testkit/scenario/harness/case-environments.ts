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

const card: CardDraft = {
  name: 'test_agent',
  description: 'Mock agent of a scenario.',
  securitySchemes: {
    bearer: { type: 'http', scheme: 'bearer' },
    apikey: { type: 'apiKey', location: 'header', name: 'X-API-Key' },
  },
  securityRequirements: [{ bearer: [] }, { apikey: [] }],
};

const basePath = '/a2a';

/** Request timeout of the proxy, in seconds. */
const proxyTimeoutSeconds = 3;

/** Environment of one case. */
export interface CaseEnvironment {
  /** The test agent as upstream of the proxy. */
  readonly upstream: Upstream;
  readonly agent: TestAgentServer;
  readonly tokenEndpoint: FakeTokenEndpoint;
  /** Returns the requests that the test agent received. */
  requests(): DownstreamRequest[];
  /** Releases the resources of this case. */
  end(): Promise<void>;
}

/** Creates the environment of each case. The test agent and its HTTP client are reused between cases. */
export class CaseEnvironments {
  readonly #http: HttpClient = undiciHttpClient({
    connectTimeout: proxyTimeoutSeconds * 1_000,
    maxConnections: 64,
  });
  readonly #endpointCache = createEndpointCache();
  #agent: Promise<TestAgentServer> | undefined;

  /** Creates the environment of a case, without state of the previous one. */
  async create(scenario: Scenario, timeline: CaseTimeline): Promise<CaseEnvironment> {
    const { spec } = scenario;
    // A script also defines the card, so it needs its own agent.
    const script = spec.downstream_script && JSON.stringify(spec.downstream_script);
    const agent = await (script === undefined
      ? (this.#agent ??= startAgent({ card }))
      : startAgent({ script }));
    agent.reset();
    agent.prime(spec.downstream_a2a_agent_responses);
    const { downstream_agent_auth: auth, downstream_http_error: error } = spec;
    if (auth)
      agent.requireAuth({
        enabled: auth.enabled,
        type: auth.type,
        expectedValue: auth.expected_value,
        failOnce: auth.should_fail_once,
      });
    if (error) agent.injectHttpError({ status: error.status_code, body: error.error_body });
    const tokenEndpoint = new FakeTokenEndpoint(this.#http, spec.mock_oauth_server, timeline.now);
    const upstream = createUpstream(toProxyConfig(scenario, agent.url), {
      http: tokenEndpoint,
      endpointCache: this.#endpointCache,
    });
    return {
      upstream,
      agent,
      tokenEndpoint,
      requests: () =>
        agent.journal
          .entries({ method: 'POST', where: ({ request }) => request.path.startsWith(basePath) })
          .map((entry) => toDownstreamRequest(entry, timeline.startedAt)),
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
}

function startAgent(options: { card?: CardDraft; script?: string }): Promise<TestAgentServer> {
  return TestAgentServer.start({ ...options, basePath, admin: false });
}

/** Returns the proxy configuration: the target agent of the case is an alias of the test agent. */
function toProxyConfig({ spec }: Scenario, url: string): ProxiedAgent {
  const name = spec.gateway_input?.target_agent_name ?? '';
  const { proxy_auth_config: auth, proxy_config_override: override, downstream } = spec;
  const { agent_name: _target, ...authFields } = auth ?? {};
  return {
    name,
    url: override?.agent_name === name ? override.url : url,
    // Another agent may need the whole timeout of the case.
    request_timeout_seconds:
      override?.agent_name === name
        ? Math.max(proxyTimeoutSeconds, spec.expected_completion_timeout_seconds)
        : proxyTimeoutSeconds,
    // Protocol of the proxy in Solace Agent Mesh, unless the case overrides it.
    a2a_version: downstream?.version ?? '0.3',
    transport: downstream?.transport ?? 'JSONRPC',
    // A case with an interactive login is skipped.
    ...(auth?.agent_name === name ? (authFields as Partial<ProxiedAgent>) : {}),
  };
}

/** Converts a journal entry. Intercepted requests have credentials but no body, because it was not read. */
function toDownstreamRequest(
  { time, request, responseOrigin }: JournalEntry,
  startedAt: number,
): DownstreamRequest {
  const header = (name: string): string | undefined => [request.headers[name]].flat()[0];
  return {
    at: Date.parse(time) - startedAt,
    path: request.path,
    authorization: header('authorization'),
    apiKey: header('x-api-key'),
    body: responseOrigin === 'agent' ? request.json : undefined,
  };
}

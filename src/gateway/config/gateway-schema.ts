import * as z from 'zod';
import {
  countFieldSchema,
  booleanFieldSchema,
  portFieldSchema,
  secondsFieldSchema,
  secondsOrNeverFieldSchema,
  textFieldSchema,
} from '../../documents/field-schemas.ts';
import { A2AError } from '../../protocol/errors.ts';
import { parseStoreUrl } from '../../store/url/parse-store-url.ts';
import { policySchema } from '../policy/policy-schema.ts';
import { proxiedAgentSchema, upstreamFields } from './proxied-agent-schema.ts';

/** Configuration of the artifact store. */
export const artifactsSchema = z
  .strictObject({
    type: z.enum(['memory', 'filesystem', 's3']),
    base_path: textFieldSchema.optional().describe('filesystem: root directory.'),
    bucket_name: textFieldSchema.optional().describe('s3: bucket.'),
    endpoint_url: z.url().optional().describe('s3: URL of the server.'),
    region: textFieldSchema.optional(),
    access_key_id: textFieldSchema.optional(),
    secret_access_key: textFieldSchema.optional(),
    artifact_scope: z.enum(['namespace', 'app', 'custom']).optional().describe('Which agents share files.'),
    artifact_scope_value: textFieldSchema.optional(),
    max_bytes: countFieldSchema.optional().describe('Maximum size of a file. Default 100 MiB.'),
    resolve_mentions: booleanFieldSchema
      .optional()
      .describe('Attaches files that are mentioned in text parts. Default true.'),
  })
  .refine(({ type, base_path }) => type !== 'filesystem' || base_path !== undefined, {
    path: ['base_path'],
    message: 'is required for type filesystem',
  })
  .refine(({ type, bucket_name }) => type !== 's3' || bucket_name !== undefined, {
    path: ['bucket_name'],
    message: 'is required for type s3',
  });

/** Who holds a token or key. */
const holderFields = {
  principal: textFieldSchema,
  scopes: z.array(textFieldSchema).optional().describe('Scopes of the client, for `policy`. Default none.'),
};

/** Authentication of HTTP clients. */
export const authSchema = z.strictObject({
  bearer: z
    .array(z.strictObject({ token: textFieldSchema, ...holderFields }))
    .optional()
    .describe('Bearer tokens and the principals they identify.'),
  api_keys: z
    .strictObject({
      header: textFieldSchema.optional().describe('Default X-API-Key.'),
      keys: z.array(z.strictObject({ key: textFieldSchema, ...holderFields })),
    })
    .optional(),
  jwt: z
    .strictObject({
      issuer: textFieldSchema,
      audience: z.union([textFieldSchema, z.array(textFieldSchema)]),
      jwks_url: z.url(),
    })
    .optional(),
  optional: booleanFieldSchema.optional().describe('Accepts requests without credentials. Default false.'),
});

/** Limits of the HTTP server. */
export const limitsSchema = z.strictObject({
  body_bytes: countFieldSchema.optional().describe('Maximum size of a request body. Default 10 MiB.'),
  streams: countFieldSchema.optional().describe('Open streams per agent. Default 50,000.'),
  streams_per_client: countFieldSchema.optional().describe('Open streams per client. Default 1,000.'),
  requests_per_client: countFieldSchema.optional().describe('Concurrent requests per client. Default 1,000.'),
  requests_per_second: countFieldSchema.optional().describe('Rate limit per client. Default no limit.'),
  address_requests_per_second: countFieldSchema
    .optional()
    .describe('Rate limit per address, before authentication. Default no limit.'),
  failed_auth_per_second: countFieldSchema
    .optional()
    .describe('Rate of invalid credentials per address. Default 5, at most 100 at once.'),
  body_bytes_in_transit: countFieldSchema
    .optional()
    .describe('Bytes of all request bodies in transit. Default 256 MiB.'),
  output_bytes: countFieldSchema
    .optional()
    .describe('Bytes of all responses that clients have not read. Default 256 MiB.'),
  output_bytes_per_client: countFieldSchema.optional().describe('The same per client. Default 64 MiB.'),
  page_bytes: countFieldSchema.optional().describe('Bytes of a page of tasks. Default 8 MiB.'),
});

const tlsSchema = z
  .strictObject({
    cert_file: textFieldSchema.describe('Certificate with its chain, as PEM.'),
    key_file: textFieldSchema.describe('Private key of the certificate, as PEM.'),
    client_ca_file: textFieldSchema
      .optional()
      .describe(
        'Authorities whose client certificates identify clients, as PEM. The subject is the principal.',
      ),
    client_certificates: z
      .enum(['optional', 'required'], { error: 'must be optional or required' })
      .optional()
      .describe('Whether a connection needs a client certificate, even for the card. Default optional.'),
  })
  .refine((tls) => tls.client_certificates === undefined || tls.client_ca_file !== undefined, {
    path: ['client_certificates'],
    message: 'requires client_ca_file',
  })
  .describe(
    'Serves HTTPS, and gRPC over TLS. Renewed files are used without a restart. Default: no encryption.',
  );

/** Signing of agent cards. */
export const signSchema = z.strictObject({
  key_file: textFieldSchema.describe('Private key, as PEM or JSON Web Key.'),
  kid: textFieldSchema.describe('Key id by which verifiers find the public key.'),
  jku: z.url().optional().describe('URL of the public keys (JWKS).'),
});

const meshSchema = z.strictObject({
  url: textFieldSchema.describe('memory:, mqtt://host, mqtts://host, ws://host or nats://host'),
  namespace: textFieldSchema,
  username: z.string().optional(),
  password: z.string().optional(),
  queue: textFieldSchema
    .optional()
    .describe('Durable queue that retains requests while the gateway is offline.'),
  shared: booleanFieldSchema.optional().describe('Several gateways consume from the queue. Default false.'),
  client_id: textFieldSchema
    .optional()
    .describe(
      'MQTT: name of this gateway among those that share the queue, the same after a restart. The broker then retains its requests until it returns.',
    ),
  reply_topics: z
    .array(textFieldSchema)
    .optional()
    .describe(
      'Patterns of the topics that requests may name for responses and updates. Default: all of the namespace, except those of requests and announcements.',
    ),
  card_interval_seconds: secondsOrNeverFieldSchema
    .optional()
    .describe('Between two announcements of a card. At most 20. Default 10.'),
});

/** Fields of every agent entry. */
export const exposedAgentFields = {
  display_name: upstreamFields.display_name,
  expose: z
    .array(z.enum(['http', 'mesh']))
    .min(1)
    .optional()
    .describe(
      'Where the agent is exposed. Default: http, and mesh if `mesh` is set and the agent is not a mesh agent.',
    ),
  convert_progress_updates: upstreamFields.convert_progress_updates,
  request_timeout_seconds: upstreamFields.request_timeout_seconds,
  total_timeout_seconds: upstreamFields.total_timeout_seconds,
};

/** Entries of remote agents: at a URL, or on the mesh. */
export const remoteAgentSchemas = [
  z.strictObject({ ...upstreamFields, ...exposedAgentFields }),
  z.strictObject({
    mesh: textFieldSchema.describe('Name of an agent on the mesh.'),
    ...exposedAgentFields,
  }),
] as const;

const agentSchema = z.union([
  ...remoteAgentSchemas,
  z.strictObject({
    module: textFieldSchema.describe('JavaScript file that exports an agent.'),
    ...exposedAgentFields,
  }),
]);

/** Configuration file of a gateway. */
export const gatewaySchema = z
  .strictObject({
    $schema: z.string().optional(),
    listen: z
      .union([
        portFieldSchema,
        textFieldSchema,
        z.strictObject({ port: portFieldSchema.optional(), host: textFieldSchema.optional() }),
      ])
      .optional()
      .describe('Port, "host:port" or an object with both. Default 127.0.0.1:4000.'),
    tls: tlsSchema.optional(),
    public_url: z
      .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
      .optional()
      .describe('URL under which clients reach the gateway.'),
    trust_forwarded: booleanFieldSchema
      .optional()
      .describe(
        'Trusts X-Forwarded-* headers if public_url is not set. Use only behind a proxy that sets them.',
      ),
    trust_proxy: z
      .array(textFieldSchema)
      .optional()
      .describe('Addresses and CIDR blocks of proxies whose X-Forwarded-For header identifies the client.'),
    allowed_hosts: z
      .array(textFieldSchema)
      .optional()
      .describe('Host names that clients may use, besides local names and the host of public_url.'),
    cors: z
      .strictObject({
        origins: z
          .union([z.literal('*'), z.array(textFieldSchema)])
          .describe('Origins such as https://app.example, or "*" for all.'),
      })
      .optional()
      .describe('Web pages of other origins that may call the gateway. Default none.'),
    fast_path: booleanFieldSchema
      .optional()
      .describe('Parses simple requests directly on the socket. Default true.'),
    grpc: booleanFieldSchema.optional().describe('Serves gRPC on the same port. Default true.'),
    mesh: meshSchema.optional(),
    agents: z.record(z.string(), agentSchema),
    artifacts: artifactsSchema.optional(),
    default_request_timeout_seconds: secondsFieldSchema.optional().describe('Default 300.'),
    health_interval_seconds: secondsOrNeverFieldSchema
      .optional()
      .describe('Between two health checks. Default 60.'),
    breaker: z
      .strictObject({
        failures: countFieldSchema
          .optional()
          .describe('Consecutive failures that open the circuit breaker. Default 5.'),
        open_seconds: secondsFieldSchema.optional().describe('Until the next attempt. Default 10.'),
      })
      .optional(),
    limits: limitsSchema.optional(),
    auth: authSchema.optional(),
    policy: policySchema.optional(),
    store: z
      .string()
      .regex(/^(memory|sqlite:.+|postgres(ql)?:\/\/.+)/, {
        error: 'must be memory, sqlite:FILE or postgres://USER@HOST/DATABASE',
        abort: true,
      })
      .superRefine(checkStore)
      .optional()
      .describe(
        'Where the gateway keeps the owners of tasks: memory, sqlite:FILE or postgres://…; several gateways may share a file or database. Default memory.',
      ),
    sign: signSchema.optional(),
    metrics: booleanFieldSchema.optional().describe('Serves /metrics to local clients. Default true.'),
    otlp: z
      .string()
      .optional()
      .describe(
        'URL of an OpenTelemetry collector that receives traces and metrics, such as http://localhost:4318. Default: as in OTEL_EXPORTER_OTLP_ENDPOINT.',
      ),
    not_ready_seconds: secondsOrNeverFieldSchema
      .optional()
      .describe('How long a stopping gateway accepts requests while /readyz responds 503. Default 0.'),
    drain_seconds: secondsFieldSchema
      .optional()
      .describe('How long a stopping gateway waits for running requests. Default 5.'),
  })
  .describe('Configuration of a Dragoman gateway');

/** Reports an invalid URL of a store without the URL, which may contain a password. */
function checkStore(text: string, context: z.RefinementCtx<string>): void {
  try {
    parseStoreUrl(text);
  } catch (thrown) {
    const { hint = '' } = A2AError.from(thrown);
    context.addIssue({ code: 'custom', message: `is invalid. ${hint}` });
  }
}

/** Parsed configuration file of a gateway. */
export type GatewayFile = z.infer<typeof gatewaySchema>;

const brokerSchema = z.looseObject({
  dev_mode: booleanFieldSchema.optional(),
  broker_url: z.string().optional(),
  broker_vpn: z.string().optional(),
  broker_username: z.string().optional(),
  broker_password: z.string().optional(),
  mqtt_url: z.string().optional(),
});

/** Broker section of a Solace Agent Mesh proxy app. */
export type BrokerConfig = z.infer<typeof brokerSchema>;

/** Configuration of a Solace Agent Mesh proxy app. Unknown keys are ignored. */
export const proxyAppSchema = z.looseObject({
  namespace: textFieldSchema,
  proxied_agents: z.array(proxiedAgentSchema).min(1, 'must name at least one agent'),
  artifact_service: z.looseObject({ ...artifactsSchema.shape }).optional(),
  discovery_interval_seconds: secondsOrNeverFieldSchema.optional(),
  default_request_timeout_seconds: secondsFieldSchema.optional(),
  broker: brokerSchema.optional(),
});

/** Parsed configuration of a proxy app. */
export type ProxyApp = z.infer<typeof proxyAppSchema>;

/** Solace Agent Mesh file with a list of apps. */
export const appsSchema = z.looseObject({
  apps: z
    .array(
      z.looseObject({
        name: z.string().optional(),
        broker: brokerSchema.optional(),
        app_config: proxyAppSchema,
      }),
    )
    .min(1, 'must name at least one app'),
});

/** Returns the JSON Schema of the gateway configuration file. */
export function gatewayJsonSchema(): { readonly [keyword: string]: unknown } {
  return { ...z.toJSONSchema(gatewaySchema) };
}

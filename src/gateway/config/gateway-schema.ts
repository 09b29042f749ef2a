import * as z from 'zod';
import { count, flag, port, seconds, secondsOrNever, text } from '../../documents/field-schemas.ts';
import { proxiedAgent, upstreamFields } from './proxied-agent-schema.ts';

/** Where files are kept. */
export const artifactsSchema = z
  .strictObject({
    type: z.enum(['memory', 'filesystem', 's3']),
    base_path: text.optional().describe('filesystem: the folder.'),
    bucket_name: text.optional().describe('s3: the bucket.'),
    endpoint_url: z.url().optional().describe('s3: the address of the server.'),
    region: text.optional(),
    access_key_id: text.optional(),
    secret_access_key: text.optional(),
    artifact_scope: z.enum(['namespace', 'app', 'custom']).optional().describe('Who shares files.'),
    artifact_scope_value: text.optional(),
    max_bytes: count.optional().describe('How large a file may be. Default 100 MiB.'),
    resolve_mentions: flag.optional().describe('Adds files that a text mentions. Default true.'),
  })
  .refine(({ type, base_path }) => type !== 'filesystem' || base_path !== undefined, {
    path: ['base_path'],
    message: 'is missing: the folder for type filesystem',
  })
  .refine(({ type, bucket_name }) => type !== 's3' || bucket_name !== undefined, {
    path: ['bucket_name'],
    message: 'is missing: the bucket for type s3',
  });

/** Who may call over HTTP. */
export const authSchema = z.strictObject({
  bearer: z
    .array(z.strictObject({ token: text, caller: text }))
    .optional()
    .describe('Tokens and whose they are.'),
  api_keys: z
    .strictObject({
      header: text.optional().describe('Default X-API-Key.'),
      keys: z.array(z.strictObject({ key: text, caller: text })),
    })
    .optional(),
  jwt: z
    .strictObject({ issuer: text, audience: z.union([text, z.array(text)]), jwks_url: z.url() })
    .optional(),
  optional: flag.optional().describe('Lets callers without credentials in.'),
});

/** How much callers may take. */
export const limitsSchema = z.strictObject({
  body_bytes: count.optional().describe('Bytes of a request. Default 10 MiB.'),
  streams: count.optional().describe('Streams of one agent at once. Default 50,000.'),
  streams_per_caller: count.optional().describe('Default 1,000.'),
  requests_per_caller: count.optional().describe('Requests that wait for their answers. Default 1,000.'),
  requests_per_second: count.optional().describe('Of one caller. Default no limit.'),
});

/** With what cards are signed. */
export const signSchema = z.strictObject({
  key_file: text.describe('A private key, as PEM or as a JSON Web Key.'),
  kid: text.describe('The name by which verifiers find the public key.'),
  jku: z.url().optional().describe('The address of the public keys.'),
});

const meshSchema = z.strictObject({
  url: text.describe('memory:, mqtt://host, mqtts://host, ws://host or nats://host'),
  namespace: text,
  username: z.string().optional(),
  password: z.string().optional(),
  queue: text.optional().describe('The queue in which requests wait while the gateway is away.'),
  shared: flag.optional().describe('Several gateways take from the queue. Default false.'),
  card_interval_seconds: secondsOrNever.optional().describe('At most 20. Default 10.'),
});

/** What is said of every agent, wherever it comes from. */
export const shownFields = {
  display_name: upstreamFields.display_name,
  show: z
    .array(z.enum(['http', 'mesh']))
    .min(1)
    .optional()
    .describe('Where it is shown. Default: http, and mesh where there is one and it is not from there.'),
  convert_progress_updates: upstreamFields.convert_progress_updates,
  request_timeout_seconds: upstreamFields.request_timeout_seconds,
  total_timeout_seconds: upstreamFields.total_timeout_seconds,
};

/** An agent that is elsewhere: at a URL, or on the mesh. */
export const remoteForms = [
  z.strictObject({ ...upstreamFields, ...shownFields }),
  z.strictObject({ mesh: text.describe('The name of an agent on the mesh.'), ...shownFields }),
] as const;

const agentSchema = z.union([
  ...remoteForms,
  z.strictObject({ module: text.describe('A JavaScript file that exports an agent.'), ...shownFields }),
]);

/** The file of a gateway. */
export const gatewaySchema = z
  .strictObject({
    $schema: z.string().optional(),
    listen: z
      .union([port, text, z.strictObject({ port: port.optional(), host: text.optional() })])
      .optional()
      .describe('A port, "host:port", or both. Default 127.0.0.1:4000.'),
    public_url: z
      .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
      .optional()
      .describe('The address of the gateway as others see it.'),
    trust_forwarded: flag
      .optional()
      .describe('Believes X-Forwarded-* where there is no public_url. Only behind a proxy that sets them.'),
    mesh: meshSchema.optional(),
    agents: z.record(z.string(), agentSchema),
    artifacts: artifactsSchema.optional(),
    default_request_timeout_seconds: seconds.optional().describe('Default 300.'),
    health_interval_seconds: secondsOrNever.optional().describe('Between two looks at a card. Default 60.'),
    breaker: z
      .strictObject({
        failures: count.optional().describe('Outages in a row that open it. Default 5.'),
        open_seconds: seconds.optional().describe('Until it is tried again. Default 10.'),
      })
      .optional(),
    limits: limitsSchema.optional(),
    auth: authSchema.optional(),
    sign: signSchema.optional(),
    metrics: flag.optional().describe('Shows /metrics to callers on this machine. Default true.'),
    drain_seconds: seconds.optional().describe('For running requests when it stops. Default 5.'),
  })
  .describe('A gateway of Dragoman');

/** The file of a gateway, as it is written. */
export type GatewayFile = z.infer<typeof gatewaySchema>;

const brokerSchema = z.looseObject({
  dev_mode: flag.optional(),
  broker_url: z.string().optional(),
  broker_vpn: z.string().optional(),
  broker_username: z.string().optional(),
  broker_password: z.string().optional(),
  mqtt_url: z.string().optional(),
});

/** The broker of a proxy app. */
export type Broker = z.infer<typeof brokerSchema>;

/** The configuration of a proxy app of Solace Agent Mesh; keys that a proxy has no use for are let pass. */
export const proxyAppSchema = z.looseObject({
  namespace: text,
  proxied_agents: z.array(proxiedAgent).min(1, 'must name at least one agent'),
  artifact_service: z.looseObject({ ...artifactsSchema.shape }).optional(),
  discovery_interval_seconds: secondsOrNever.optional(),
  default_request_timeout_seconds: seconds.optional(),
  broker: brokerSchema.optional(),
});

/** A proxy app, as it is written. */
export type ProxyApp = z.infer<typeof proxyAppSchema>;

/** A file of Solace Agent Mesh with its apps. */
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

/** The JSON Schema of the file of a gateway, for editors. */
export function gatewayJsonSchema(): { readonly [keyword: string]: unknown } {
  return { ...z.toJSONSchema(gatewaySchema) };
}

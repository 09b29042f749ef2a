import * as z from 'zod';
import {
  countFieldSchema,
  booleanFieldSchema,
  portFieldSchema,
  secondsFieldSchema,
  secondsOrNeverFieldSchema,
  textFieldSchema,
} from '../../documents/field-schemas.ts';
import { proxiedAgentSchema, upstreamFields } from './proxied-agent-schema.ts';

/** Where files are kept. */
export const artifactsSchema = z
  .strictObject({
    type: z.enum(['memory', 'filesystem', 's3']),
    base_path: textFieldSchema.optional().describe('filesystem: the folder.'),
    bucket_name: textFieldSchema.optional().describe('s3: the bucket.'),
    endpoint_url: z.url().optional().describe('s3: the address of the server.'),
    region: textFieldSchema.optional(),
    access_key_id: textFieldSchema.optional(),
    secret_access_key: textFieldSchema.optional(),
    artifact_scope: z.enum(['namespace', 'app', 'custom']).optional().describe('Who shares files.'),
    artifact_scope_value: textFieldSchema.optional(),
    max_bytes: countFieldSchema.optional().describe('How large a file may be. Default 100 MiB.'),
    resolve_mentions: booleanFieldSchema
      .optional()
      .describe('Adds files that a text mentions. Default true.'),
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
    .array(z.strictObject({ token: textFieldSchema, caller: textFieldSchema }))
    .optional()
    .describe('Tokens and whose they are.'),
  api_keys: z
    .strictObject({
      header: textFieldSchema.optional().describe('Default X-API-Key.'),
      keys: z.array(z.strictObject({ key: textFieldSchema, caller: textFieldSchema })),
    })
    .optional(),
  jwt: z
    .strictObject({
      issuer: textFieldSchema,
      audience: z.union([textFieldSchema, z.array(textFieldSchema)]),
      jwks_url: z.url(),
    })
    .optional(),
  optional: booleanFieldSchema.optional().describe('Lets callers without credentials in.'),
});

/** How much callers may take. */
export const limitsSchema = z.strictObject({
  body_bytes: countFieldSchema.optional().describe('Bytes of a request. Default 10 MiB.'),
  streams: countFieldSchema.optional().describe('Streams of one agent at once. Default 50,000.'),
  streams_per_caller: countFieldSchema.optional().describe('Default 1,000.'),
  requests_per_caller: countFieldSchema
    .optional()
    .describe('Requests that wait for their answers. Default 1,000.'),
  requests_per_second: countFieldSchema.optional().describe('Of one caller. Default no limit.'),
});

/** With what cards are signed. */
export const signSchema = z.strictObject({
  key_file: textFieldSchema.describe('A private key, as PEM or as a JSON Web Key.'),
  kid: textFieldSchema.describe('The name by which verifiers find the public key.'),
  jku: z.url().optional().describe('The address of the public keys.'),
});

const meshSchema = z.strictObject({
  url: textFieldSchema.describe('memory:, mqtt://host, mqtts://host, ws://host or nats://host'),
  namespace: textFieldSchema,
  username: z.string().optional(),
  password: z.string().optional(),
  queue: textFieldSchema.optional().describe('The queue in which requests wait while the gateway is away.'),
  shared: booleanFieldSchema.optional().describe('Several gateways take from the queue. Default false.'),
  card_interval_seconds: secondsOrNeverFieldSchema.optional().describe('At most 20. Default 10.'),
});

/** What is said of every agent, wherever it comes from. */
export const exposedAgentFields = {
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
export const remoteAgentSchemas = [
  z.strictObject({ ...upstreamFields, ...exposedAgentFields }),
  z.strictObject({
    mesh: textFieldSchema.describe('The name of an agent on the mesh.'),
    ...exposedAgentFields,
  }),
] as const;

const agentSchema = z.union([
  ...remoteAgentSchemas,
  z.strictObject({
    module: textFieldSchema.describe('A JavaScript file that exports an agent.'),
    ...exposedAgentFields,
  }),
]);

/** The file of a gateway. */
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
      .describe('A port, "host:port", or both. Default 127.0.0.1:4000.'),
    public_url: z
      .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
      .optional()
      .describe('The address of the gateway as others see it.'),
    trust_forwarded: booleanFieldSchema
      .optional()
      .describe('Believes X-Forwarded-* where there is no public_url. Only behind a proxy that sets them.'),
    mesh: meshSchema.optional(),
    agents: z.record(z.string(), agentSchema),
    artifacts: artifactsSchema.optional(),
    default_request_timeout_seconds: secondsFieldSchema.optional().describe('Default 300.'),
    health_interval_seconds: secondsOrNeverFieldSchema
      .optional()
      .describe('Between two looks at a card. Default 60.'),
    breaker: z
      .strictObject({
        failures: countFieldSchema.optional().describe('Outages in a row that open it. Default 5.'),
        open_seconds: secondsFieldSchema.optional().describe('Until it is tried again. Default 10.'),
      })
      .optional(),
    limits: limitsSchema.optional(),
    auth: authSchema.optional(),
    sign: signSchema.optional(),
    metrics: booleanFieldSchema
      .optional()
      .describe('Shows /metrics to callers on this machine. Default true.'),
    drain_seconds: secondsFieldSchema.optional().describe('For running requests when it stops. Default 5.'),
  })
  .describe('A gateway of Dragoman');

/** The file of a gateway, as it is written. */
export type GatewayFile = z.infer<typeof gatewaySchema>;

const brokerSchema = z.looseObject({
  dev_mode: booleanFieldSchema.optional(),
  broker_url: z.string().optional(),
  broker_vpn: z.string().optional(),
  broker_username: z.string().optional(),
  broker_password: z.string().optional(),
  mqtt_url: z.string().optional(),
});

/** The broker of a proxy app. */
export type BrokerConfig = z.infer<typeof brokerSchema>;

/** The configuration of a proxy app of Solace Agent Mesh; keys that a proxy has no use for are let pass. */
export const proxyAppSchema = z.looseObject({
  namespace: textFieldSchema,
  proxied_agents: z.array(proxiedAgentSchema).min(1, 'must name at least one agent'),
  artifact_service: z.looseObject({ ...artifactsSchema.shape }).optional(),
  discovery_interval_seconds: secondsOrNeverFieldSchema.optional(),
  default_request_timeout_seconds: secondsFieldSchema.optional(),
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

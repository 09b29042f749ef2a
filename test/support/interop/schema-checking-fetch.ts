/** Validates responses of a server against the published JSON schema of a version, if it is available. */
import { existsSync, readFileSync } from 'node:fs';
import { Ajv, type AnySchemaObject, type ValidateFunction } from 'ajv';
import * as formats from 'ajv-formats';

const spec = process.env.DRAGOMAN_SPEC
  ? new URL(`file://${process.env.DRAGOMAN_SPEC}/`)
  : new URL('../../../../shared/protocol/spec/', import.meta.url);

// Saved before a test replaces the global fetch.
const plainFetch = globalThis.fetch;

/** Schema definition of the response to each 0.2 and 0.3 method. */
export const responseSchemas0_3: Readonly<Record<string, string>> = {
  'message/send': 'SendMessageResponse',
  'message/stream': 'SendStreamingMessageResponse',
  'tasks/get': 'GetTaskResponse',
  'tasks/cancel': 'CancelTaskResponse',
  'tasks/resubscribe': 'SendStreamingMessageResponse',
  'tasks/pushNotificationConfig/set': 'SetTaskPushNotificationConfigResponse',
  'tasks/pushNotificationConfig/get': 'GetTaskPushNotificationConfigResponse',
};

/** Schema definition of the response to each 0.1 method. */
export const responseSchemas0_1: Readonly<Record<string, string>> = {
  'tasks/send': 'SendTaskResponse',
  'tasks/sendSubscribe': 'SendTaskStreamingResponse',
  'tasks/get': 'GetTaskResponse',
  'tasks/cancel': 'CancelTaskResponse',
  'tasks/resubscribe': 'SendTaskStreamingResponse',
  'tasks/pushNotification/set': 'SetTaskPushNotificationResponse',
  'tasks/pushNotification/get': 'GetTaskPushNotificationResponse',
};

/** A `fetch` that validates every JSON-RPC response and every card. */
export class SchemaCheckingFetch {
  /** The number of validated bodies. */
  checkedCount = 0;
  /** Descriptions of all schema violations. */
  readonly findings: string[] = [];
  readonly hasSchema: boolean;
  readonly #ajv = new Ajv({ strict: false, allErrors: true });
  readonly #responseSchemas: Readonly<Record<string, string>>;
  readonly #pending: Promise<void>[] = [];
  readonly #validators = new Map<string, ValidateFunction>();
  #root = '';

  constructor(file: string, responseSchemas: Readonly<Record<string, string>>) {
    this.#responseSchemas = responseSchemas;
    const schema = new URL(file, spec);
    this.hasSchema = existsSync(schema);
    if (!this.hasSchema) {
      console.log(`not checked: ${file} not found (set DRAGOMAN_SPEC to its folder)`);
      return;
    }
    formats.default.default(this.#ajv);
    const definitions = JSON.parse(readFileSync(schema, 'utf8')) as AnySchemaObject;
    this.#root = definitions.definitions ? 'definitions' : '$defs';
    this.#ajv.addSchema(definitions, 'a2a');
  }

  /** Fetches, and validates a copy of the response in the background. */
  readonly fetch: typeof fetch = async (input, init) => {
    const response = await plainFetch(input, init);
    if (!this.hasSchema) return response;
    const definition = this.#definitionFor(
      input instanceof Request ? input.url : input.toString(),
      init?.body,
    );
    if (definition) {
      const copy = response.clone();
      // A stream that its reader cancels cannot be validated.
      this.#pending.push(this.#check(copy, definition).catch(() => {}));
    }
    return response;
  };

  /** Waits until all responses are validated. @returns the findings */
  async finish(): Promise<string[]> {
    await Promise.all(this.#pending);
    return this.findings;
  }

  /** Validates one value against a definition. */
  check(definition: string, value: unknown): void {
    let validate = this.#validators.get(definition);
    if (!validate) {
      validate = this.#ajv.compile({ $ref: `a2a#/${this.#root}/${definition}` });
      this.#validators.set(definition, validate);
    }
    this.checkedCount++;
    if (!validate(value))
      this.findings.push(
        `${definition}: ${this.#ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`,
      );
  }

  #definitionFor(url: string, body: unknown): string | undefined {
    if (url.endsWith('/.well-known/agent.json') || url.endsWith('/.well-known/agent-card.json'))
      return 'AgentCard';
    if (typeof body !== 'string') return undefined;
    try {
      return this.#responseSchemas[String((JSON.parse(body) as { method?: unknown }).method)];
    } catch {
      return undefined;
    }
  }

  async #check(response: Response, definition: string): Promise<void> {
    const text = await response.text();
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      this.check(definition, JSON.parse(text));
      return;
    }
    for (const line of text.split('\n'))
      if (line.startsWith('data: ')) this.check(definition, JSON.parse(line.slice(6)));
  }
}

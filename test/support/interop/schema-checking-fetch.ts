/** Checks everything a server says against the published schema of a version, where that schema is at hand. */
import { existsSync, readFileSync } from 'node:fs';
import { Ajv, type AnySchemaObject, type ValidateFunction } from 'ajv';
import * as formats from 'ajv-formats';

const spec = process.env.DRAGOMAN_SPEC
  ? new URL(`file://${process.env.DRAGOMAN_SPEC}/`)
  : new URL('../../../../shared/protocol/spec/', import.meta.url);

// Taken before a test puts a watch in its place.
const plainFetch = globalThis.fetch;

/** The definition of the answer to each method, as 0.2 and 0.3 call them. */
export const responseSchemas0_3: Readonly<Record<string, string>> = {
  'message/send': 'SendMessageResponse',
  'message/stream': 'SendStreamingMessageResponse',
  'tasks/get': 'GetTaskResponse',
  'tasks/cancel': 'CancelTaskResponse',
  'tasks/resubscribe': 'SendStreamingMessageResponse',
  'tasks/pushNotificationConfig/set': 'SetTaskPushNotificationConfigResponse',
  'tasks/pushNotificationConfig/get': 'GetTaskPushNotificationConfigResponse',
};

/** The definition of the answer to each method, as 0.1 calls them. */
export const responseSchemas0_1: Readonly<Record<string, string>> = {
  'tasks/send': 'SendTaskResponse',
  'tasks/sendSubscribe': 'SendTaskStreamingResponse',
  'tasks/get': 'GetTaskResponse',
  'tasks/cancel': 'CancelTaskResponse',
  'tasks/resubscribe': 'SendTaskStreamingResponse',
  'tasks/pushNotification/set': 'SetTaskPushNotificationResponse',
  'tasks/pushNotification/get': 'GetTaskPushNotificationResponse',
};

/** A `fetch` that looks at every reply of JSON-RPC and at every card. */
export class SchemaCheckingFetch {
  /** How many bodies were checked, and what was wrong with them. */
  checked = 0;
  readonly findings: string[] = [];
  readonly isPresent: boolean;
  readonly #ajv = new Ajv({ strict: false, allErrors: true });
  readonly #answers: Readonly<Record<string, string>>;
  readonly #pending: Promise<void>[] = [];
  readonly #validators = new Map<string, ValidateFunction>();
  #root = '';

  constructor(file: string, answers: Readonly<Record<string, string>>) {
    this.#answers = answers;
    const schema = new URL(file, spec);
    this.isPresent = existsSync(schema);
    if (!this.isPresent) {
      console.log(`not checked: ${file} is not here (DRAGOMAN_SPEC names its folder)`);
      return;
    }
    formats.default.default(this.#ajv);
    const definitions = JSON.parse(readFileSync(schema, 'utf8')) as AnySchemaObject;
    this.#root = definitions.definitions ? 'definitions' : '$defs';
    this.#ajv.addSchema(definitions, 'a2a');
  }

  /** Fetches, and checks the reply once it is there. */
  readonly fetch: typeof fetch = async (input, init) => {
    const response = await plainFetch(input, init);
    if (!this.isPresent) return response;
    const definition = this.#definitionFor(
      input instanceof Request ? input.url : input.toString(),
      init?.body,
    );
    if (definition) {
      const copy = response.clone();
      // A stream that its reader leaves has no end to check.
      this.#pending.push(this.#check(copy, definition).catch(() => {}));
    }
    return response;
  };

  /** Waits until all replies are checked. */
  async settled(): Promise<string[]> {
    await Promise.all(this.#pending);
    return this.findings;
  }

  /** Checks one value. */
  check(definition: string, value: unknown): void {
    let validate = this.#validators.get(definition);
    if (!validate) {
      validate = this.#ajv.compile({ $ref: `a2a#/${this.#root}/${definition}` });
      this.#validators.set(definition, validate);
    }
    this.checked++;
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
      return this.#answers[String((JSON.parse(body) as { method?: unknown }).method)];
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

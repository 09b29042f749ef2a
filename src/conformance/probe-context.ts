import type { JsonObject } from '../primitives/json.ts';
import type { CrashMonitor } from './crash-monitor.ts';
import type { ProtocolDriver } from './drivers/protocol-driver.ts';
import type { Observation } from './observation/observation.ts';
import type { TaskTracker } from './observation/task-tracker.ts';
import type { ExampleResponses } from './prompts/example-responses.ts';
import type { PromptCatalog } from './prompts/prompt-catalog.ts';
import type { Advise } from './prompts/missing-input.ts';
import type { RawHttpClient } from './wire/raw-http-client.ts';
import type { CheckedVersion } from './rule-model.ts';
import type { WebhookAccess } from './webhook-access.ts';
import type { WebhookReceiver } from './wire/webhook-receiver.ts';

/** Collaborators of `Probe`. */
export interface ProbeContext {
  readonly http: RawHttpClient;
  readonly driver: ProtocolDriver;
  /** Credentials, sent with every request in addition to the headers of the version. */
  readonly headers: Readonly<Record<string, string>>;
  /** Credentials of another user, if configured. */
  readonly otherUserHeaders?: Readonly<Record<string, string>>;
  /** Credentials of a user that may not send messages, if configured. */
  readonly restrictedUserHeaders?: Readonly<Record<string, string>>;
  /** Empty if there is none. */
  readonly card: JsonObject;
  /** False if the agent has no readable card. */
  readonly hasCard: boolean;
  /** URL of the card, or the one at which it should be. */
  readonly cardUrl: string;
  /** Version of the format of the card; an interface of the card may have another one. */
  readonly cardVersion: CheckedVersion;
  readonly prompts: PromptCatalog;
  readonly examples: ExampleResponses;
  readonly crashMonitor: CrashMonitor;
  readonly webhookAccess: WebhookAccess;
  readonly taskTracker: TaskTracker;
  readonly receiver: WebhookReceiver;
  /** Drivers of the other transports of the same version. */
  readonly siblings: readonly ProtocolDriver[];
  readonly advise: Advise;
  /** Milliseconds for one response and for one task to end. */
  readonly deadline: number;
  /** Counts one more message. @throws InconclusiveError if the limit is exceeded. */
  readonly countMessage: () => void;
  readonly observe: (observation: Observation) => void;
  /** Called with the ID of a task that a message of the suite created or continued. */
  readonly onTask?: (id: string) => void;
}

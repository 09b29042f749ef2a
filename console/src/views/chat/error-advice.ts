/** What a person can do about a fault, by its reason. */
const advices: { readonly [reason: string]: string } = {
  UNAUTHENTICATED: 'Add the agent again with credentials: the view of agents says what it asks for.',
  PERMISSION_DENIED: 'The credentials are known but not enough. Add the agent again with others.',
  UNAVAILABLE: 'See whether the agent runs, then say it again.',
  TIMEOUT: 'The task may still go on: look for it among the tasks.',
  BROKEN_OFF: 'The task may still go on: look for it among the tasks.',
  NO_ANSWER: 'See whether the console still runs, then say it again.',
  TASK_NOT_FOUND: 'The agent has forgotten this task. Begin a new conversation.',
  UNSUPPORTED_OPERATION: 'Try another way, or without streaming.',
  VERSION_NOT_SUPPORTED: 'Choose another way.',
  CONTENT_TYPE_NOT_SUPPORTED: 'Its card says which media types it takes.',
  TASK_NOT_CANCELABLE: 'It is over, or the agent cannot stop it.',
  PAYLOAD_TOO_LARGE: 'Send less, or a link instead of a file.',
  RESOURCE_EXHAUSTED: 'Wait a moment, then say it again.',
  INVALID_AGENT_RESPONSE: 'The agent does not keep to the protocol: the wire shows what it said.',
};

/** What a person can do about a fault; undefined where the message says all. */
export function adviceFor(reason: string): string | undefined {
  return Object.hasOwn(advices, reason) ? advices[reason] : undefined;
}

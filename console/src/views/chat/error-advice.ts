/** Advice for the user, by error reason. */
const advices: { readonly [reason: string]: string } = {
  UNAUTHENTICATED: 'Add the agent again with credentials; the Agents view lists what it requires.',
  PERMISSION_DENIED:
    'The credentials are valid but not sufficient. Add the agent again with other credentials.',
  UNAVAILABLE: 'Check that the agent is running, then send the message again.',
  TIMEOUT: 'The task may still be running; see the Tasks view.',
  BROKEN_OFF: 'The task may still be running; see the Tasks view.',
  NO_RESPONSE: 'Check that the console is running, then send the message again.',
  TASK_NOT_FOUND: 'The agent no longer has this task. Start a new conversation.',
  UNSUPPORTED_OPERATION: 'Try another version or transport, or turn off streaming.',
  VERSION_NOT_SUPPORTED: 'Select another version or transport.',
  CONTENT_TYPE_NOT_SUPPORTED: 'The card lists the supported media types.',
  TASK_NOT_CANCELABLE: 'The task has ended, or the agent cannot cancel it.',
  PAYLOAD_TOO_LARGE: 'Send less data, or a link instead of a file.',
  RESOURCE_EXHAUSTED: 'Wait a moment, then send the message again.',
  INVALID_AGENT_RESPONSE: 'The agent violates the protocol; see the Traffic view.',
};

/** Advice for an error; undefined if the message is sufficient. */
export function adviceFor(reason: string): string | undefined {
  return Object.hasOwn(advices, reason) ? advices[reason] : undefined;
}

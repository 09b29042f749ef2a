import { A2AError } from '../../protocol/errors.ts';

/** The error of all calls after a store was closed. */
export function closedError(): A2AError {
  return new A2AError('UNAVAILABLE', 'The task store is closed');
}

/** The error of changes in a store that was opened to read it beside its agent. */
export function withoutLeaseError(): A2AError {
  const message = 'The task store was opened without a lease and cannot change tasks';
  return new A2AError('UNSUPPORTED_OPERATION', message, { hint: 'Open it without withoutLease: true.' });
}

/**
 * The error of an agent that starts on the store of another one.
 *
 * @param owner - name of the agent that the store belongs to.
 * @param alternative - what this agent can use instead.
 */
export function otherAgentError(owner: string, name: string, alternative: string): A2AError {
  const message = `The task store belongs to the agent "${owner}"; this agent is "${name}"`;
  return new A2AError('UNAVAILABLE', message, {
    hint: `Use ${alternative} for this agent. If the agent was renamed, run dragoman store migrate with --agent-name and the new name.`,
  });
}

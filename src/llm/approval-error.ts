import { A2AError } from '../protocol/errors.ts';

/** Creates the error for a tool call that a human must approve: nothing says that the client may approve it. */
export function approvalError(tool: string): A2AError {
  return new A2AError(
    'UNSUPPORTED_OPERATION',
    `The tool ${tool} needs an approval, which clients cannot give`,
    {
      hint: 'Call ask() of the process context in the tool, and do not require an approval.',
    },
  );
}

/** Objects in the 1.0 wire format, for raw servers in tests. */

const states: Record<string, string> = {
  working: 'TASK_STATE_WORKING',
  completed: 'TASK_STATE_COMPLETED',
  submitted: 'TASK_STATE_SUBMITTED',
  'input-required': 'TASK_STATE_INPUT_REQUIRED',
  'auth-required': 'TASK_STATE_AUTH_REQUIRED',
};

export const statusFixture = (state: string) => ({ state: states[state] });

export const wireTaskFixture = (state: string, texts: string[] = []) => ({
  id: 't1',
  contextId: 'c1',
  status: statusFixture(state),
  artifacts: texts.length === 0 ? undefined : [{ artifactId: 'a', parts: texts.map((text) => ({ text })) }],
});

export const statusUpdateFixture = (state: string) => ({
  statusUpdate: { taskId: 't1', contextId: 'c1', status: statusFixture(state) },
});

export const artifactUpdateFixture = (text: string, append = true) => ({
  artifactUpdate: {
    taskId: 't1',
    contextId: 'c1',
    artifact: { artifactId: 'a', parts: [{ text }] },
    append,
  },
});

export const wireCardFixture = (url: string, more: object = {}) => ({
  name: 'Raw',
  description: 'A raw agent',
  version: '1',
  supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  ...more,
});

export const isWireCard = (path: string) => path === '/.well-known/agent-card.json';

export const rpcResult = (id: unknown, value: unknown) => ({ jsonrpc: '2.0', id, result: value });

export const rpcErrorBody = (id: unknown, code: number, message = 'no') => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});

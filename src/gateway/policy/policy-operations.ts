import type { Operation } from '../../protocol/agent.ts';

/** Operations that a policy decides about. */
export type PolicyOperation = Operation | 'card';

/** Names of operations in the gateway file, in the order of tables. `push` stands for the four operations of push configurations. */
export const operationsByName = {
  send: ['send'],
  stream: ['stream'],
  get: ['getTask'],
  list: ['listTasks'],
  cancel: ['cancelTask'],
  subscribe: ['subscribe'],
  create_push: ['createPushConfig'],
  get_push: ['getPushConfig'],
  list_push: ['listPushConfigs'],
  delete_push: ['deletePushConfig'],
  push: ['createPushConfig', 'getPushConfig', 'listPushConfigs', 'deletePushConfig'],
  card: ['card'],
  extended_card: ['extendedCard'],
} as const satisfies { [name: string]: readonly PolicyOperation[] };

/** Name of an operation, or of the group `push`, in the gateway file. */
export type PolicyOperationName = keyof typeof operationsByName;

/** All names, for the schema and for messages. */
export const policyOperationNames = Object.keys(operationsByName) as [
  PolicyOperationName,
  ...PolicyOperationName[],
];

/** Names of single operations, without groups. */
export const singleOperationNames = policyOperationNames.filter((name) => name !== 'push');

const namesByOperation = new Map<PolicyOperation, PolicyOperationName>(
  singleOperationNames.map((name) => [operationsByName[name][0], name]),
);

/** Returns the name of an operation in the gateway file. */
export function policyOperationName(operation: PolicyOperation): PolicyOperationName {
  return namesByOperation.get(operation) as PolicyOperationName;
}

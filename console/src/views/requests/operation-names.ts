import type { Operation } from '../../../../src/protocol/agent.ts';

/** Display names of the operations, in the order of the list. */
export const operationNames: { readonly [operation in Operation]: string } = {
  send: 'Send message',
  stream: 'Stream message',
  getTask: 'Get task',
  listTasks: 'List tasks',
  cancelTask: 'Cancel task',
  subscribe: 'Subscribe to task',
  createPushConfig: 'Create push configuration',
  getPushConfig: 'Get push configuration',
  listPushConfigs: 'List push configurations',
  deletePushConfig: 'Delete push configuration',
  extendedCard: 'Get extended card',
};

import { isJsonObject, type JsonObject } from '../../../primitives/json.ts';
import { type MutantAgent, mutant, type WireMutation } from '../harness/mutant-agent.ts';
import { missingMemberMutants, mutateEvery, mutateResult } from '../harness/mutations.ts';
import { pushPre1_0Mutants } from '../push/push-pre-1_0.ts';
import { wireJsonResponse } from '../harness/wire-responses.ts';

const variant = { versions: ['0.3'], transports: ['GRPC'] } as const;

function mutant0_3(id: string, description: string, wire: WireMutation): MutantAgent {
  return mutant(id, description, { ...variant, wire: () => wire });
}

/** Mutants of JSON-RPC that change the agent or its notifications. */
const pushMutants: ReadonlySet<string> = new Set([
  'push-before.unknown:taken',
  'push-before.list:empty',
  'push-before.list:all-tasks',
  'push-before.delete:kept',
  'push-before.delivers:never',
  'push-before.delivers:other-task',
  'push-before.token:left-out',
]);

/** Mutants of 0.3 over gRPC. */
export const grpc0_3Mutants: readonly MutantAgent[] = [
  ...missingMemberMutants(
    {
      '0.3.task': ['task', 'contextId'],
      '0.3.status': ['status', 'state'],
      '0.3.artifact': ['artifact', 'artifactId'],
      '0.3.part': ['part', 'text'],
      '0.3.event': ['statusUpdate', 'taskId'],
      'stream.final': ['statusUpdate', 'final'],
    },
    variant,
  ).map((each) => ({ ...each, id: `${each.id}-grpc` })),
  mutant0_3(
    '0.3.message:grpc',
    'Messages of the history have no id.',
    mutateEvery('task', (task) => {
      for (const each of (task.history ?? []) as JsonObject[]) delete each.messageId;
    }),
  ),
  mutant0_3(
    'stream.final:always-grpc',
    'Every status is final.',
    mutateEvery('statusUpdate', (update) => {
      update.final = true;
    }),
  ),
  mutant0_3(
    '0.3.wrapped:grpc',
    'The result of a send is empty.',
    mutateResult(/^SendMessage$/, () => ({})),
  ),
  mutant0_3(
    '0.3.push-config:grpc',
    'A push configuration has no name.',
    mutateResult(/TaskPushNotificationConfig$/, (config) => {
      delete config.name;
    }),
  ),
  ...pushPre1_0Mutants
    .filter(({ id }) => pushMutants.has(id))
    .map((each) => ({ ...each, ...variant, id: `${each.id}-grpc` })),
  mutant0_3(
    'push-before.create:grpc',
    'A stored webhook has another URL.',
    mutateResult(/^GetTaskPush/, ({ pushNotificationConfig: webhook }) => {
      if (isJsonObject(webhook)) webhook.url = 'https://elsewhere.example.com';
    }),
  ),
  mutant('push-before.unsupported:grpc', 'An agent without webhooks reports an unknown task.', {
    ...variant,
    definition: { pushNotifications: false },
    wire: () => ({
      grpc: {
        reply: ({ operation }) =>
          operation.includes('PushNotification')
            ? wireJsonResponse(200, { error: { code: 5, status: 'NOT_FOUND', message: 'no' } })
            : undefined,
      },
    }),
  }),
];

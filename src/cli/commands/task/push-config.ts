import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Command } from 'commander';
import { v1_0 } from '../../../dialects/v1_0/index.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { PushConfig } from '../../../protocol/push.ts';
import { pushListener } from '../../../push/receiving/listener.ts';
import { pushReceiver } from '../../../push/receiving/receiver.ts';
import { ClientError } from '../../client/client-error.ts';
import { isTerminalOrInterrupted } from '../../client/output.ts';
import { type ClientSession, withAgent } from '../../client/session.ts';
import { printOutcome } from '../../client/wait.ts';

/** What `dragoman task push-config create` is told. */
export interface PushConfigFlags {
  url?: string;
  id?: string;
  token?: string;
  authScheme?: string;
  authCredentials?: string;
  listen?: boolean;
  listenUrl?: string;
}

/** Registers a webhook, and may be it. */
export async function runPushConfigCreateCommand(
  command: Command,
  taskId: string,
  flags: PushConfigFlags,
): Promise<void> {
  await withAgent(command, async (session) => {
    session.taskId = taskId;
    checkCapability(session);
    if (flags.listen) {
      await listen(session, taskId, flags);
      return;
    }
    const { url } = flags;
    if (url === undefined || !URL.canParse(url))
      throw new ClientError(
        'A2ACLI_ERR_USAGE',
        'there is no webhook',
        'Say where it is with --url https://…, or be it with --listen.',
      );
    tell(session, await session.agent.createPushConfig(configOf(taskId, { ...flags, url }), session.call));
  });
}

/** Lists the webhooks of a task. */
export async function runPushConfigListCommand(command: Command, taskId: string): Promise<void> {
  await withAgent(command, async (session) => {
    checkCapability(session);
    const { agent, call, out, flags } = session;
    const page = await agent.listPushConfigs({ taskId }, call);
    const seen = new Set<string>();
    while (page.nextPageToken !== '' && !seen.has(page.nextPageToken)) {
      seen.add(page.nextPageToken);
      const next = await agent.listPushConfigs({ taskId, pageToken: page.nextPageToken }, call);
      page.configs.push(...next.configs);
      page.nextPageToken = next.nextPageToken;
    }
    if (!out.isJson) {
      out.field('Task ID', taskId);
      out.field('Total', page.configs.length);
      for (const each of page.configs) {
        out.gap();
        tell(session, each);
      }
    } else if (flags.stream) {
      for (const each of page.configs) tell(session, each);
    } else out.json(v1_0.results.listPushConfigs.write(page));
  });
}

/** Shows a webhook of a task. */
export async function runPushConfigGetCommand(command: Command, taskId: string, id: string): Promise<void> {
  await withAgent(command, async (session) => {
    checkCapability(session);
    tell(session, await session.agent.getPushConfig({ taskId, id }, session.call));
  });
}

/** Has the agent forget a webhook. */
export async function runPushConfigDeleteCommand(
  command: Command,
  taskId: string,
  id: string,
): Promise<void> {
  await withAgent(command, async (session) => {
    checkCapability(session);
    await session.agent.deletePushConfig({ taskId, id }, session.call);
    if (session.out.isJson) session.out.json({});
    else {
      session.out.field('Task ID', taskId);
      session.out.field('Deleted', id);
    }
  });
}

function checkCapability({ card }: ClientSession): void {
  if (card.capabilities.pushNotifications === true) return;
  throw new A2AError(
    'PUSH_NOTIFICATION_NOT_SUPPORTED',
    'The card of the agent does not offer push notifications',
    {
      hint: 'Wait for the task with task get --wait, or follow it with task subscribe.',
    },
  );
}

function configOf(taskId: string, flags: PushConfigFlags & { url: string }): PushConfig {
  const { url, token, authScheme, authCredentials } = flags;
  if (authCredentials !== undefined && authScheme === undefined)
    throw new ClientError(
      'A2ACLI_ERR_USAGE',
      '--auth-credentials needs --auth-scheme',
      'Such as --auth-scheme Bearer.',
    );
  return {
    taskId,
    id: flags.id ?? crypto.randomUUID(),
    url,
    ...(token !== undefined && { token }),
    ...(authScheme !== undefined && {
      authentication: {
        scheme: authScheme,
        ...(authCredentials !== undefined && { credentials: authCredentials }),
      },
    }),
  };
}

/** Programs get what the protocol has; people do not get to see secrets. */
function tell({ out }: ClientSession, config: PushConfig): void {
  if (out.isJson) {
    out.json(v1_0.results.getPushConfig.write(config));
    return;
  }
  out.field('Config ID', config.id);
  out.field('Task ID', config.taskId);
  out.field('URL', config.url);
  out.field('Token', config.token === undefined ? undefined : '(set)');
  out.field('Authentication', config.authentication?.scheme);
}

/** Is the webhook: prints what comes until the task is over or needs something. */
async function listen(session: ClientSession, taskId: string, flags: PushConfigFlags): Promise<void> {
  const { agent, call, out } = session;
  const token = flags.token ?? crypto.randomUUID();
  let settle: () => void = () => {};
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const isWhole = out.isJson && !session.flags.stream;
  const server = createServer(
    pushListener(pushReceiver({ token }), ({ event }) => {
      if (!isWhole) out.event(event);
      const status =
        event.kind === 'task' ? event.task.status : event.kind === 'status' ? event.status : undefined;
      if (status && isTerminalOrInterrupted(status)) settle();
    }),
  );
  const port = Number(flags.listenUrl === undefined ? 0 : new URL(flags.listenUrl).port || 0);
  server.listen(port, flags.listenUrl === undefined ? '127.0.0.1' : undefined);
  await once(server, 'listening');
  const url = flags.listenUrl ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const config = configOf(taskId, { ...flags, url, token });
  const late = new Promise<never>((_resolve, reject) => {
    call.signal?.addEventListener('abort', () => reject(new A2AError('TIMEOUT')));
  });
  try {
    const made = await agent.createPushConfig(config, call);
    process.stderr.write(`Listening: ${url} (Ctrl-C stops it)\n`);
    // What happened before the webhook was known is not told again.
    const task = await agent.getTask({ id: taskId }, call);
    if (!isTerminalOrInterrupted(task.status)) await Promise.race([settled, late]);
    const last = await agent.getTask({ id: taskId }, call);
    if (isWhole) out.task(last);
    else if (isTerminalOrInterrupted(task.status)) out.event({ kind: 'task', task: last });
    printOutcome(session, last);
    await agent.deletePushConfig({ taskId, id: made.id }, call).catch(() => {});
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

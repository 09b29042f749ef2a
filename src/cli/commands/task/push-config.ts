import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Command } from 'commander';
import { v1_0 } from '../../../dialects/v1_0/index.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { PushConfig } from '../../../protocol/push.ts';
import { isTerminalOrInterrupted } from '../../../protocol/task.ts';
import { pushListener } from '../../../push/receiving/listener.ts';
import { pushReceiver } from '../../../push/receiving/receiver.ts';
import { type ClientSession, withAgent } from '../../client/session.ts';
import { printOutcome } from '../../client/wait.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { isUrl } from '../../../primitives/web/parse-url.ts';

/** Flags of `dragoman task push-config create`. */
export interface PushConfigFlags {
  url?: string;
  id?: string;
  notificationToken?: string;
  authScheme?: string;
  authCredentials?: string;
  listen?: boolean;
  webhookUrl?: string;
}

/** Runs `dragoman task push-config create`; with `--listen` it also runs the webhook. */
export async function runPushConfigCreateCommand(
  command: Command,
  taskId: string,
  flags: PushConfigFlags,
): Promise<void> {
  await withAgent(command, async (session) => {
    session.taskId = taskId;
    checkCapability(session);
    if (flags.listen) {
      await runWebhook(session, taskId, flags);
      return;
    }
    const { url } = flags;
    if (url === undefined || !isUrl(url))
      throw new UsageError(
        url === undefined ? 'Missing webhook' : `Invalid URL: ${url}`,
        'Pass its URL with --url https://…, or run a local webhook with --listen.',
      );
    const config = buildConfig(taskId, url, flags);
    printConfig(session, await session.agent.createPushConfig(config, session.call));
  });
}

/** Runs `dragoman task push-config list`. */
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
        printConfig(session, each);
      }
    } else if (flags.stream) {
      for (const each of page.configs) printConfig(session, each);
    } else out.json(v1_0.results.listPushConfigs.write(page));
  });
}

/** Runs `dragoman task push-config get`. */
export async function runPushConfigGetCommand(command: Command, taskId: string, id: string): Promise<void> {
  await withAgent(command, async (session) => {
    checkCapability(session);
    printConfig(session, await session.agent.getPushConfig({ taskId, id }, session.call));
  });
}

/** Runs `dragoman task push-config delete`. */
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
  throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'The agent does not support push notifications', {
    hint: 'Wait for the task with task get --wait, or subscribe to it with task subscribe.',
  });
}

function buildConfig(taskId: string, url: string, flags: PushConfigFlags): PushConfig {
  const { notificationToken: token, authScheme, authCredentials } = flags;
  if (authCredentials !== undefined && authScheme === undefined)
    throw new UsageError(
      '--auth-credentials needs --auth-scheme',
      'Add a scheme, such as --auth-scheme Bearer.',
    );
  const authentication =
    authScheme === undefined ? undefined : { scheme: authScheme, credentials: authCredentials };
  return { taskId, id: flags.id ?? crypto.randomUUID(), url, token, authentication };
}

/** Prints a configuration. Only the JSON output contains the secrets. */
function printConfig({ out }: ClientSession, config: PushConfig): void {
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

/** Runs a local webhook and prints notifications until the task is terminal or interrupted. */
async function runWebhook(session: ClientSession, taskId: string, flags: PushConfigFlags): Promise<void> {
  const { agent, call, out } = session;
  const { webhookUrl, notificationToken: token = crypto.randomUUID() } = flags;
  let finish: () => void = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const isDocument = out.isJson && !session.flags.stream;
  const server = createServer(
    pushListener(pushReceiver({ token }), ({ event }) => {
      if (!isDocument) out.event(event);
      const status =
        event.kind === 'task' ? event.task.status : event.kind === 'status' ? event.status : undefined;
      if (status && isTerminalOrInterrupted(status.state)) finish();
    }),
  );
  const port = Number(webhookUrl === undefined ? 0 : new URL(webhookUrl).port || 0);
  server.listen(port, webhookUrl === undefined ? '127.0.0.1' : undefined);
  await once(server, 'listening');
  const url = webhookUrl ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const config = buildConfig(taskId, url, { ...flags, notificationToken: token });
  const timedOut = new Promise<never>((_resolve, reject) => {
    call.signal?.addEventListener('abort', () => reject(new A2AError('TIMEOUT')));
  });
  try {
    const created = await agent.createPushConfig(config, call);
    process.stderr.write(`Listening: ${url} (press Ctrl-C to stop)\n`);
    // Events before the registration are not delivered, so the task may already be finished.
    const task = await agent.getTask({ id: taskId }, call);
    if (!isTerminalOrInterrupted(task.status.state)) await Promise.race([finished, timedOut]);
    const last = await agent.getTask({ id: taskId }, call);
    if (isDocument) out.task(last);
    else if (isTerminalOrInterrupted(task.status.state)) out.event({ kind: 'task', task: last });
    printOutcome(session, last);
    await agent.deletePushConfig({ taskId, id: created.id }, call).catch(() => {});
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

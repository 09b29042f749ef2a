import type { Agent, CallContext } from '../protocol/agent.ts';
import { invalidField } from '../protocol/errors.ts';
import type { LogSink } from '../primitives/log.ts';
import type { UrlPart } from '../protocol/part.ts';
import type { SendRequest } from '../protocol/requests.ts';
import { isTask, type Task } from '../protocol/task.ts';
import { defaultMaxBytes } from './stores/content.ts';
import { type ResolveContext, resolveRequest } from './middleware/resolve-request.ts';
import { safeSegment } from './stores/storage-path.ts';
import { ResponseRewriter, withProducedArtifacts } from './middleware/rewrite-response.ts';
import { rewriteStream, type StreamRewriteContext } from './middleware/rewrite-stream.ts';
import { FilePublisher, TaskFiles } from './middleware/file-publisher.ts';
import { LruCache } from './middleware/lru-cache.ts';
import type { ArtifactKey, ArtifactStore } from './artifact-store.ts';

/** How much {@link withArtifacts} takes and remembers. */
export interface ArtifactLimits {
  /** How large a file of the agent may be. @defaultValue 100 MiB */
  readonly maxBytes?: number;
  /** How many files a message may bring. @defaultValue 32 */
  readonly maxFiles?: number;
  /** How many files a task may make. @defaultValue 1,000 */
  readonly maxFilesPerTask?: number;
  /** How many artifacts of a stream may be under way at once. @defaultValue 64 */
  readonly maxOpenArtifacts?: number;
  /** Of how many tasks, and messages, it is remembered which files are theirs. @defaultValue 1,000 */
  readonly maxTasks?: number;
}

/** Where files are kept, and whose they are. */
export interface WithArtifactsOptions {
  readonly store: ArtifactStore;
  /** The name of the agent, as URIs have it. */
  readonly app: string;
  /** The namespace that agents share. */
  readonly namespace?: string;
  /**
   * Who shares the files: all agents of the namespace, each agent its own, or all that say the same word.
   * @defaultValue `namespace` where there is one, else `app`
   */
  readonly scope?: 'namespace' | 'app' | { readonly value: string };
  /** Whose files they are. @defaultValue the owner of the call, else `default_user` */
  readonly user?: (call: CallContext) => string;
  /**
   * The conversation in which files are kept.
   * @param contextId - that of the request, or else that of the answer
   * @defaultValue the context, else `default`
   */
  readonly session?: (contextId: string | undefined, call: CallContext) => string;
  /** Whether the caller may have the file of another user. @defaultValue nobody may */
  readonly canRead?: (key: ArtifactKey, call: CallContext) => boolean | Promise<boolean>;
  /** Whether files that a text mentions are added to the message. @defaultValue true */
  readonly resolveMentions?: boolean;
  /** How many bytes of files a message may bring. @defaultValue 100 MiB */
  readonly maxInlineBytes?: number;
  readonly limits?: ArtifactLimits;
  /** Where large artifacts are gathered. @defaultValue the folder of the system for temporary files */
  readonly spoolFolder?: string;
  readonly clock?: { now(): number };
  readonly log?: LogSink;
}

/**
 * Keeps files out of messages: what the caller names by `artifact://` reaches the agent as bytes, and bytes of the
 * agent are stored and reach the caller as `artifact://`.
 */
export function withArtifacts(agent: Agent, options: WithArtifactsOptions): Agent {
  const { store, app: alias, log, limits = {}, clock = Date } = options;
  const {
    maxBytes = defaultMaxBytes,
    maxFiles = 32,
    maxFilesPerTask = 1000,
    maxOpenArtifacts: maxOpen = 64,
    maxTasks = 1000,
  } = limits;
  const shared = sharedApp(options);
  const publisher = new FilePublisher(store, alias, maxFilesPerTask, () => clock.now(), log);
  const tasks = new LruCache<TaskFiles>(maxTasks);
  const messages = new LruCache<ReadonlyMap<string, UrlPart>>(maxTasks);

  const userOf = (call: CallContext): string =>
    safeSegment(options.user ? options.user(call) : call.owner || 'default_user');
  const sessionOf = (contextId: string | undefined, call: CallContext): string =>
    safeSegment(options.session ? options.session(contextId, call) : (contextId ?? 'default'));

  /** @param asked - the conversation that the caller named, which goes before what the agent calls it */
  function scopeFor(call: CallContext, asked?: string): StreamRewriteContext {
    const user = userOf(call);
    return {
      publisher,
      alias,
      log,
      maxOpen,
      spooling: { maxBytes, ...(options.spoolFolder !== undefined && { folder: options.spoolFolder }) },
      shelf: (contextId) => ({ app: shared ?? alias, user, session: sessionOf(asked ?? contextId, call) }),
      files(taskId) {
        const id = JSON.stringify([user, taskId]);
        const files = tasks.get(id) ?? new TaskFiles();
        tasks.set(id, files);
        return files;
      },
      brought: (messageId) => messages.get(JSON.stringify([user, messageId])),
      task: (id) => agent.getTask({ id }, call),
    };
  }

  /** The request as the agent gets it. */
  async function resolved(request: SendRequest, call: CallContext): Promise<SendRequest> {
    const { contextId, messageId } = request.message;
    const user = userOf(call);
    const scope: ResolveContext = {
      store,
      alias,
      user,
      call,
      maxFiles,
      session: contextId === undefined && !options.session ? undefined : sessionOf(contextId, call),
      resolveMentions: options.resolveMentions ?? true,
      maxInlineBytes: options.maxInlineBytes ?? defaultMaxBytes,
      app: (named) => shared ?? named,
      mayRead: options.canRead ?? (() => false),
    };
    const found = await resolveRequest(request, scope);
    if (!found) return request;
    messages.set(JSON.stringify([user, messageId]), found.brought);
    return found.request;
  }

  return {
    card: (call) => agent.card(call),
    extendedCard: (call) => agent.extendedCard(call),
    async send(request, call = {}) {
      const answer = await agent.send(await resolved(request, call), call);
      const scope = scopeFor(call, request.message.contextId);
      const outbound = new ResponseRewriter(scope);
      if (isTask(answer)) return await outbound.task(answer, true);
      const files = answer.taskId === undefined ? new TaskFiles() : scope.files(answer.taskId);
      return withProducedArtifacts(await outbound.message(answer, files, answer.contextId), files);
    },
    stream: (request, call = {}) =>
      rewriteStream(
        async () => agent.stream(await resolved(request, call), call),
        scopeFor(call, request.message.contextId),
      ),
    async getTask(request, call = {}) {
      return await new ResponseRewriter(scopeFor(call)).task(await agent.getTask(request, call));
    },
    async listTasks(request, call = {}) {
      const page = await agent.listTasks(request, call);
      const outbound = new ResponseRewriter(scopeFor(call));
      const rewritten: Task[] = [];
      for (const task of page.tasks) rewritten.push(await outbound.task(task));
      return { ...page, tasks: rewritten };
    },
    async cancelTask(request, call = {}) {
      return await new ResponseRewriter(scopeFor(call)).task(await agent.cancelTask(request, call));
    },
    subscribe: (request, call = {}) => rewriteStream(() => agent.subscribe(request, call), scopeFor(call)),
    createPushConfig: (config, call) => agent.createPushConfig(config, call),
    getPushConfig: (ref, call) => agent.getPushConfig(ref, call),
    listPushConfigs: (request, call) => agent.listPushConfigs(request, call),
    deletePushConfig: (ref, call) => agent.deletePushConfig(ref, call),
    ...(agent.jwks && { jwks: agent.jwks.bind(agent) }),
    ...(agent.ready && { ready: agent.ready.bind(agent) }),
    ...(agent.close && { close: agent.close.bind(agent) }),
  };
}

/** The application under which all files are kept, or undefined when each has its own. */
function sharedApp({ scope, namespace }: WithArtifactsOptions): string | undefined {
  if (typeof scope === 'object') return scope.value;
  if (scope === 'app' || (scope === undefined && namespace === undefined)) return undefined;
  if (namespace === undefined)
    throw invalidField('namespace', 'must be there when it is the scope of artifacts');
  return namespace;
}

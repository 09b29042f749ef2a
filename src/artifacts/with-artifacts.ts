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
import { compositeKey } from '../primitives/composite-key.ts';
import { LruMap } from '../primitives/lru-map.ts';
import { withInterceptor } from '../protocol/composition/with-interceptor.ts';
import type { ArtifactKey, ArtifactStore } from './artifact-store.ts';

/** Limits of {@link withArtifacts}. */
export interface ArtifactLimits {
  /** Maximum size of a file of the agent, in bytes. @defaultValue 100 MiB */
  readonly maxBytes?: number;
  /** Maximum number of files per message. @defaultValue 32 */
  readonly maxFiles?: number;
  /** Maximum number of files per task. @defaultValue 1,000 */
  readonly maxFilesPerTask?: number;
  /** Maximum number of incomplete artifacts per stream. @defaultValue 64 */
  readonly maxOpenArtifacts?: number;
  /** Capacity of the LRU maps of task files and message links. @defaultValue 1,000 */
  readonly maxTasks?: number;
}

/** Options of {@link withArtifacts}. */
export interface WithArtifactsOptions {
  readonly store: ArtifactStore;
  /** Name of the agent in artifact URIs. */
  readonly app: string;
  /** Namespace that agents share. */
  readonly namespace?: string;
  /**
   * Which agents share files: all agents of the namespace, none, or all with the same `value`.
   * @defaultValue `namespace` if one is set, otherwise `app`
   */
  readonly scope?: 'namespace' | 'app' | { readonly value: string };
  /** Returns the user who owns the files. @defaultValue the owner of the call, otherwise `default_user` */
  readonly user?: (call: CallContext) => string;
  /**
   * Returns the session in which files are stored.
   * @param contextId - of the request, otherwise of the response
   * @defaultValue the context, otherwise `default`
   */
  readonly session?: (contextId: string | undefined, call: CallContext) => string;
  /** Returns true if the client may read a file of another user. @defaultValue always false */
  readonly canRead?: (key: ArtifactKey, call: CallContext) => boolean | Promise<boolean>;
  /** Attaches files that are mentioned in text parts. @defaultValue true */
  readonly resolveMentions?: boolean;
  /** Maximum total size of the files of a message, in bytes. @defaultValue 100 MiB */
  readonly maxInlineBytes?: number;
  readonly limits?: ArtifactLimits;
  /** Directory for incomplete large artifacts. @defaultValue the system's temporary directory */
  readonly spoolFolder?: string;
  readonly clock?: { now(): number };
  readonly log?: LogSink;
}

/**
 * Middleware that keeps file content out of messages: resolves `artifact://` URIs of the client to bytes for the agent,
 * stores bytes of the agent and returns `artifact://` URIs to the client.
 */
export function withArtifacts<A extends Agent>(agent: A, options: WithArtifactsOptions): A {
  const { store, app: alias, log, limits = {}, clock = Date } = options;
  const {
    maxBytes = defaultMaxBytes,
    maxFiles = 32,
    maxFilesPerTask = 1000,
    maxOpenArtifacts = 64,
    maxTasks = 1000,
  } = limits;
  const sharedAppName = sharedApp(options);
  const publisher = new FilePublisher(store, alias, maxFilesPerTask, () => clock.now(), log);
  const taskFiles = new LruMap<string, TaskFiles>({ maxEntries: maxTasks });
  const messageLinks = new LruMap<string, ReadonlyMap<string, UrlPart>>({ maxEntries: maxTasks });

  const resolveUser = (call: CallContext): string =>
    safeSegment(options.user ? options.user(call) : call.owner || 'default_user');
  const resolveSession = (contextId: string | undefined, call: CallContext): string =>
    safeSegment(options.session ? options.session(contextId, call) : (contextId ?? 'default'));

  /** @param requestContextId - context of the request, which takes precedence over that of the response */
  function rewriteContext(call: CallContext, requestContextId?: string): StreamRewriteContext {
    const user = resolveUser(call);
    return {
      publisher,
      alias,
      log,
      maxOpenArtifacts,
      spoolOptions: { maxBytes, ...(options.spoolFolder !== undefined && { folder: options.spoolFolder }) },
      fileScope: (contextId) => ({
        app: sharedAppName ?? alias,
        user,
        session: resolveSession(requestContextId ?? contextId, call),
      }),
      files(taskId) {
        const key = compositeKey(user, taskId);
        const files = taskFiles.get(key) ?? new TaskFiles();
        taskFiles.set(key, files);
        return files;
      },
      clientLinks: (messageId) => messageLinks.get(compositeKey(user, messageId)),
      task: (id) => agent.getTask({ id }, call),
    };
  }

  async function resolve(request: SendRequest, call: CallContext): Promise<SendRequest> {
    const { contextId, messageId } = request.message;
    const user = resolveUser(call);
    const context: ResolveContext = {
      store,
      alias,
      user,
      call,
      maxFiles,
      session: contextId === undefined && !options.session ? undefined : resolveSession(contextId, call),
      resolveMentions: options.resolveMentions ?? true,
      maxInlineBytes: options.maxInlineBytes ?? defaultMaxBytes,
      app: (uriApp) => sharedAppName ?? uriApp,
      canRead: options.canRead ?? (() => false),
    };
    const resolved = await resolveRequest(request, context);
    if (!resolved) return request;
    messageLinks.set(compositeKey(user, messageId), resolved.links);
    return resolved.request;
  }

  return withInterceptor(agent, {
    async send(request, call, next) {
      const response = await next(await resolve(request, call), call);
      const context = rewriteContext(call, request.message.contextId);
      const rewriter = new ResponseRewriter(context);
      if (isTask(response)) return await rewriter.task(response, true);
      const files = response.taskId === undefined ? new TaskFiles() : context.files(response.taskId);
      return withProducedArtifacts(await rewriter.message(response, files, response.contextId), files);
    },
    stream: (request, call, next) =>
      rewriteStream(
        async () => next(await resolve(request, call), call),
        rewriteContext(call, request.message.contextId),
      ),
    async getTask(request, call, next) {
      return await new ResponseRewriter(rewriteContext(call)).task(await next(request, call));
    },
    async listTasks(request, call, next) {
      const page = await next(request, call);
      const rewriter = new ResponseRewriter(rewriteContext(call));
      const rewritten: Task[] = [];
      for (const task of page.tasks) rewritten.push(await rewriter.task(task));
      return { ...page, tasks: rewritten };
    },
    async cancelTask(request, call, next) {
      return await new ResponseRewriter(rewriteContext(call)).task(await next(request, call));
    },
    subscribe: (request, call, next) => rewriteStream(() => next(request, call), rewriteContext(call)),
  });
}

/** Returns the application under which all agents store files, or undefined if files are not shared. */
function sharedApp({ scope, namespace }: WithArtifactsOptions): string | undefined {
  if (typeof scope === 'object') return scope.value;
  if (scope === 'app' || (scope === undefined && namespace === undefined)) return undefined;
  if (namespace === undefined) throw invalidField('namespace', 'must be set for the scope namespace');
  return namespace;
}

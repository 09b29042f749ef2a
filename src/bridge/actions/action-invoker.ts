import { safeSegment } from '../../artifacts/stores/storage-path.ts';
import type { FileScope } from '../../artifacts/middleware/file-publisher.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import type { RawPart } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import type { Task } from '../../protocol/task.ts';
import type { ActionCallOptions, ActionReply, ActionResponse } from '../action-types.ts';
import { type ActionContentOptions, contentFromMessage, contentFromTask } from './action-content.ts';
import type { BridgedAgent } from './bridged-agent.ts';
import { SessionContexts, type SessionKey } from './session-contexts.ts';
import { resolveFiles } from './file-parameters.ts';
import { type FollowUp, followUpPrefix } from '../follow-ups/follow-up-store.ts';
import { CallTracker, type CallOutcome } from './call-tracker.ts';
import { buildActionMessage, buildFollowUpMessage } from './action-message.ts';
import type { BridgeSettings } from '../bridge-options.ts';
import { createParameterCheck, type ActionParameters } from './parameter-check.ts';
import { ProgressReporter } from './progress-reporter.ts';
import { communicationError } from './communication-error.ts';
import {
  completedResponse,
  failureResponse,
  invalidFollowUp,
  buildResponse,
  actionStatus,
} from './action-response.ts';
import { provideRequiredInput } from './skill-actions.ts';

/** User id of host applications with a single user. */
const defaultUser = 'default_user';

const checkFollowUp = createParameterCheck(provideRequiredInput.parameters);

interface Invocation {
  readonly bridged: BridgedAgent;
  /** Name of the action that started the task. */
  readonly action: string;
  readonly options: ActionCallOptions;
  readonly session: SessionKey;
}

/** What a call continues: a task, or a context if there is no task. */
interface Continuation extends Pick<FollowUp, 'contextId' | 'action' | 'kind'> {
  readonly taskId: string | undefined;
}

/** Executes actions: calls the agents and converts results to responses. */
export class ActionInvoker {
  readonly #agents: ReadonlyMap<string, BridgedAgent>;
  readonly #settings: BridgeSettings;
  readonly #contentOptions: ActionContentOptions;
  readonly #contexts = new SessionContexts();
  readonly #open = new Map<CallTracker, Promise<CallOutcome>>();
  #calls = 0;
  #isClosed = false;

  constructor(agents: ReadonlyMap<string, BridgedAgent>, settings: BridgeSettings) {
    this.#agents = agents;
    this.#settings = settings;
    const { store, maxInlineBytes, maxFilesPerTask, clock, log } = settings;
    this.#contentOptions = { store, maxInlineBytes, maxFilesPerTask, log, now: () => clock.now() };
  }

  /** Calls an action. Never rejects. */
  call(name: string, parameters: ActionParameters, options: ActionCallOptions): Promise<ActionResponse> {
    return this.#execute(options, () =>
      name === provideRequiredInput.name
        ? this.#provideInput(parameters, options)
        : this.#start(name, parameters, options),
    );
  }

  /** Continues a task or a context by its id. Never rejects. */
  reply(agentName: string, reply: ActionReply, options: ActionCallOptions): Promise<ActionResponse> {
    return this.#execute(options, async () => {
      const bridged = this.#agents.get(agentName);
      if (!bridged) throw new A2AError('NOT_FOUND', `Agent not found: ${agentName}`);
      const { taskId, contextId, text, files = [] } = reply;
      const isWaiting = text === '' && files.length === 0;
      if (taskId === undefined && (contextId === undefined || isWaiting))
        throw invalidField('taskId', 'is required, unless there is a contextId with a text');
      const kind = isWaiting ? 'running' : 'input';
      return this.#continue(bridged, { taskId, contextId, action: '', kind }, text, { files }, options);
    });
  }

  /** Counts a call and converts errors to a response. */
  async #execute(options: ActionCallOptions, call: () => Promise<ActionResponse>): Promise<ActionResponse> {
    this.#calls++;
    try {
      this.#admit(options);
      return await call();
    } catch (thrown) {
      return failureResponse(A2AError.from(thrown));
    } finally {
      this.#calls--;
    }
  }

  /** Stops waiting for all calls. Tasks continue; pending cancellations get at most `cancelBudget` milliseconds. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const tracker of this.#open.keys()) tracker.detach();
    const { clock, cancelBudget, followUps } = this.#settings;
    if (this.#open.size > 0) {
      await new Promise<void>((resolve) => {
        const stop = clock.after(cancelBudget, resolve);
        void Promise.all(this.#open.values()).then(() => {
          stop();
          resolve();
        });
      });
    }
    await followUps.close?.();
  }

  /** @throws A2AError if the call must not be made */
  #admit({ signal }: ActionCallOptions): void {
    if (this.#isClosed) throw new A2AError('UNAVAILABLE', 'The bridge is closed');
    if (signal?.aborted) throw new A2AError('CANCELED', 'The call was canceled');
    const { maxCalls } = this.#settings;
    if (this.#calls > maxCalls) {
      throw new A2AError('RESOURCE_EXHAUSTED', `Too many concurrent calls; the limit is ${maxCalls}`);
    }
  }

  async #start(
    name: string,
    parameters: ActionParameters,
    options: ActionCallOptions,
  ): Promise<ActionResponse> {
    const bridged = this.#agents.get(name.slice(0, name.indexOf('/')));
    const skill = bridged?.skills.get(name);
    if (!bridged || !skill) {
      throw new A2AError('NOT_FOUND', `Action not found: ${name}`, {
        hint: 'List the actions again; the skills of an agent may have changed.',
      });
    }
    skill.check(parameters);
    const invocation = this.#createInvocation(bridged, name, options);
    const files = parameters.files === undefined ? [] : await this.#resolveFiles(parameters, invocation);
    const message = buildActionMessage(skill, parameters, files, {
      messageId: this.#settings.newId(),
      contextId: this.#contexts.get(invocation.session),
    });
    const { acceptedOutputModes } = skill;
    const request =
      acceptedOutputModes.length > 0 ? { message, configuration: { acceptedOutputModes } } : { message };
    return this.#respond(invocation, await this.#track(invocation, request));
  }

  /** Handles `provide_required_input`: sends input to a task, or keeps waiting for it. */
  async #provideInput(parameters: ActionParameters, options: ActionCallOptions): Promise<ActionResponse> {
    // Optional in practice: a call that only waits has no input.
    const { user_response: userResponse = '' } = parameters;
    checkFollowUp({ ...parameters, user_response: userResponse });
    const id = String(parameters.follow_up_id);
    const { followUps } = this.#settings;
    const followUp = await followUps.take(`${followUpPrefix}${id}`, {
      userId: options.userId ?? defaultUser,
      sessionId: options.sessionId,
    });
    const bridged = followUp && this.#agents.get(followUp.agentName);
    if (!bridged) return invalidFollowUp;
    let response: ActionResponse;
    try {
      response = await this.#continue(bridged, followUp, String(userResponse), parameters, options);
    } catch (thrown) {
      response = failureResponse(A2AError.from(thrown));
    }
    if (response.status !== 'ERROR' && response.status !== 'TIMEOUT') return response;
    if (response.followUpId !== undefined) return response;
    // The agent may not have received the input, so the follow-up ID stays valid.
    await this.#storeFollowUp(id, followUp);
    return { ...response, followUpId: id, data: { ...response.data, follow_up_id: id } };
  }

  async #continue(
    bridged: BridgedAgent,
    followUp: Continuation,
    userResponse: string,
    parameters: ActionParameters,
    options: ActionCallOptions,
  ): Promise<ActionResponse> {
    const { taskId, contextId, kind } = followUp;
    const invocation = this.#createInvocation(bridged, followUp.action, options);
    const files = await this.#resolveFiles(parameters, invocation);
    const hasInput = userResponse !== '' || files.length > 0;
    if (kind === 'input' && !hasInput) {
      throw invalidField('user_response', 'must not be empty, because the agent requires input');
    }
    const messageId = this.#settings.newId();
    const request =
      taskId === undefined || (hasInput && kind !== 'running')
        ? { message: buildFollowUpMessage(userResponse, files, { messageId, contextId, taskId }) }
        : { taskId };
    return this.#respond(invocation, await this.#track(invocation, request));
  }

  #createInvocation(bridged: BridgedAgent, action: string, options: ActionCallOptions): Invocation {
    const { userId, sessionId } = options;
    return { bridged, action, options, session: { agentName: bridged.name, userId, sessionId } };
  }

  #resolveFiles({ files }: ActionParameters, { bridged, options }: Invocation): Promise<RawPart[]> {
    const { store, policy, maxFiles, maxFileBytes } = this.#settings;
    return resolveFiles(
      files,
      { store, policy, maxFiles, maxBytes: maxFileBytes },
      { user: options.userId ?? defaultUser, agentName: bridged.name, signal: options.signal },
    );
  }

  #track(
    { bridged, options }: Invocation,
    request: SendRequest | { readonly taskId: string },
  ): Promise<CallOutcome> {
    const { clock, waitBudget, cancelBudget, pollInterval, progressInterval } = this.#settings;
    const reporter =
      options.onProgress &&
      new ProgressReporter(options.onProgress, options.progressInterval ?? progressInterval, clock);
    const tracker = new CallTracker({
      bridged,
      request,
      owner: options.userId,
      waitBudget: options.waitBudget ?? waitBudget,
      cancelBudget,
      pollInterval,
      signal: options.signal,
      onEvent: reporter && ((event) => reporter.report(event)),
      onEnd: () => {
        this.#open.delete(tracker);
        reporter?.end();
      },
      clock,
    });
    const run = tracker.run();
    this.#open.set(tracker, run);
    return run;
  }

  #respond(invocation: Invocation, outcome: CallOutcome): ActionResponse | Promise<ActionResponse> {
    const task = outcome.kind === 'message' ? undefined : outcome.task;
    const contextId = outcome.kind === 'message' ? outcome.message.contextId : task?.contextId;
    if (contextId) this.#contexts.set(invocation.session, contextId);
    switch (outcome.kind) {
      case 'message':
        return this.#directMessage(invocation, outcome.message);
      case 'task':
        return this.#finished(invocation, outcome.task);
      case 'running':
        return this.#withFollowUp(
          buildResponse({ status: 'RUNNING', message: 'The agent is still working.' }, outcome.task),
          invocation,
          { task: outcome.task, kind: 'running' },
        );
      case 'canceled': {
        const { error } = outcome;
        const errorInfo = error && {
          errorMessage: `Failed to cancel the task: ${error.message}`,
          hint: 'The task may still be running.',
        };
        return buildResponse({ status: 'CANCELED', message: 'The call was canceled', errorInfo }, task);
      }
      case 'closed':
        return this.#failed(invocation, new A2AError('UNAVAILABLE', 'The bridge was closed'), task);
      case 'error':
        return this.#failed(invocation, communicationError(outcome.error), task);
    }
  }

  /** Adds a follow-up ID if the task is known, so that the client can wait for it. */
  async #failed(invocation: Invocation, error: A2AError, task: Task | undefined): Promise<ActionResponse> {
    const response = failureResponse(error, task);
    if (!task) return response;
    return this.#withFollowUp(response, invocation, { task, kind: 'running' });
  }

  async #directMessage(invocation: Invocation, message: Message): Promise<ActionResponse> {
    const scope = (): FileScope => this.#fileScope(invocation, message.contextId);
    const content = await contentFromMessage(message, scope, this.#contentOptions);
    return completedResponse(content, message.taskId, message.contextId);
  }

  async #finished(invocation: Invocation, task: Task): Promise<ActionResponse> {
    const status = actionStatus(task.status.state);
    const scope = (): FileScope => this.#fileScope(invocation, task.contextId);
    const isWaiting = status === 'INPUT_REQUIRED' || status === 'AUTH_REQUIRED';
    try {
      const content = isWaiting
        ? await contentFromMessage(task.status.message, scope, this.#contentOptions)
        : await contentFromTask(task, scope, this.#contentOptions);
      if (status === 'COMPLETED') return completedResponse(content, task.id, task.contextId);
      if (isWaiting) {
        const kind = status === 'INPUT_REQUIRED' ? 'input' : 'auth';
        return await this.#withFollowUp(buildResponse({ ...content, status }, task), invocation, {
          task,
          kind,
        });
      }
      const message = content.message || `The task was ${task.status.state}`;
      return buildResponse({ ...content, status, message, errorInfo: { errorMessage: message } }, task);
    } catch (thrown) {
      // The files of the task could not be stored; the follow-up fetches the task again.
      return this.#failed(invocation, A2AError.from(thrown), task);
    }
  }

  #fileScope({ bridged, options }: Invocation, contextId: string | undefined): FileScope {
    return {
      app: bridged.name,
      user: safeSegment(options.userId ?? defaultUser),
      session: safeSegment(options.sessionId ?? contextId ?? 'default'),
    };
  }

  async #withFollowUp(
    response: ActionResponse,
    { bridged, action, options }: Invocation,
    { task, kind }: { readonly task: Task; readonly kind: FollowUp['kind'] },
  ): Promise<ActionResponse> {
    const followUpId = this.#settings.newId();
    await this.#storeFollowUp(followUpId, {
      agentName: bridged.name,
      taskId: task.id,
      contextId: task.contextId,
      action,
      kind,
      userId: options.userId ?? defaultUser,
      sessionId: options.sessionId,
    });
    return { ...response, followUpId, data: { ...response.data, follow_up_id: followUpId } };
  }

  async #storeFollowUp(id: string, followUp: FollowUp): Promise<void> {
    const { followUps, inputRequiredTtl } = this.#settings;
    const ttl = this.#agents.get(followUp.agentName)?.inputRequiredTtl ?? inputRequiredTtl;
    await followUps.put(`${followUpPrefix}${id}`, followUp, ttl * 1_000);
  }
}

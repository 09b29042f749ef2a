import { safeSegment } from '../../artifacts/stores/storage-path.ts';
import type { FileScope } from '../../artifacts/middleware/file-publisher.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import type { RawPart } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import type { Task } from '../../protocol/task.ts';
import type { ActionCallOptions, ActionResponse } from '../action-types.ts';
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
import {
  completedResponse,
  failureResponse,
  invalidFollowUp,
  buildResponse,
  actionStatus,
} from './action-response.ts';
import { provideRequiredInput } from './skill-actions.ts';

/** The user where the host application knows only one. */
const defaultUser = 'default_user';

const checkAnswer = createParameterCheck(provideRequiredInput.parameters);

/** One call: who speaks with whom, about what. */
interface Exchange {
  readonly bridged: BridgedAgent;
  /** The name of the action that began it. */
  readonly action: string;
  readonly meta: ActionCallOptions;
  readonly conversation: SessionKey;
}

/** Calls agents for actions, and makes responses of what they answer. */
export class ActionInvoker {
  readonly #agents: ReadonlyMap<string, BridgedAgent>;
  readonly #settings: BridgeSettings;
  readonly #keeping: ActionContentOptions;
  readonly #contexts = new SessionContexts();
  readonly #open = new Map<CallTracker, Promise<CallOutcome>>();
  #calls = 0;
  #isClosed = false;

  constructor(agents: ReadonlyMap<string, BridgedAgent>, settings: BridgeSettings) {
    this.#agents = agents;
    this.#settings = settings;
    const { store, maxInlineBytes, maxFilesPerTask, clock, log } = settings;
    this.#keeping = { store, maxInlineBytes, maxFilesPerTask, log, now: () => clock.now() };
  }

  /** Calls an action. Nothing is thrown. */
  async call(name: string, parameters: ActionParameters, meta: ActionCallOptions): Promise<ActionResponse> {
    this.#calls++;
    try {
      this.#admit(meta);
      if (name === provideRequiredInput.name) return await this.#goOn(parameters, meta);
      return await this.#begin(name, parameters, meta);
    } catch (thrown) {
      return failureResponse(A2AError.from(thrown));
    } finally {
      this.#calls--;
    }
  }

  /** Ends all waiting; tasks go on, but those that are being canceled are waited for. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const following of this.#open.keys()) following.detach();
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

  /** @throws A2AError for a call that is not made */
  #admit({ signal }: ActionCallOptions): void {
    if (this.#isClosed) throw new A2AError('UNAVAILABLE', 'The bridge is closed');
    if (signal?.aborted) throw new A2AError('CANCELED', 'The call was canceled');
    const { maxCalls } = this.#settings;
    if (this.#calls > maxCalls) {
      throw new A2AError('RESOURCE_EXHAUSTED', `No more than ${maxCalls} calls are made at the same time`);
    }
  }

  async #begin(name: string, parameters: ActionParameters, meta: ActionCallOptions): Promise<ActionResponse> {
    const bridged = this.#agents.get(name.slice(0, name.indexOf('/')));
    const skill = bridged?.skills.get(name);
    if (!bridged || !skill) {
      throw new A2AError('NOT_FOUND', `There is no action ${name}`, {
        hint: 'The skills of an agent may have changed; list the actions.',
      });
    }
    skill.check(parameters);
    const exchange = this.#exchange(bridged, name, meta);
    const files = parameters.files === undefined ? [] : await this.#filesOf(parameters, exchange);
    const message = buildActionMessage(skill, parameters, files, {
      messageId: this.#settings.newId(),
      contextId: this.#contexts.of(exchange.conversation),
    });
    const { acceptedOutputModes } = skill;
    const ask =
      acceptedOutputModes.length > 0 ? { message, configuration: { acceptedOutputModes } } : { message };
    return this.#respond(exchange, await this.#follow(exchange, ask));
  }

  /** `provide_required_input`: an answer to a question, or more time for a task. */
  async #goOn(parameters: ActionParameters, meta: ActionCallOptions): Promise<ActionResponse> {
    // Whoever only waits has nothing to say.
    const { user_response: said = '' } = parameters;
    checkAnswer({ ...parameters, user_response: said });
    const id = String(parameters.follow_up_id);
    const { followUps } = this.#settings;
    const followUp = await followUps.take(`${followUpPrefix}${id}`, {
      userId: meta.userId ?? defaultUser,
      sessionId: meta.sessionId,
    });
    const bridged = followUp && this.#agents.get(followUp.agentName);
    if (!bridged) return invalidFollowUp;
    let response: ActionResponse;
    try {
      response = await this.#continue(bridged, followUp, String(said), parameters, meta);
    } catch (thrown) {
      response = failureResponse(A2AError.from(thrown));
    }
    if (response.status !== 'ERROR' && response.status !== 'TIMEOUT') return response;
    if (response.followUpId !== undefined) return response;
    // The agent may never have heard it: the question is still open.
    await this.#keep(id, followUp);
    return { ...response, followUpId: id, data: { ...response.data, follow_up_id: id } };
  }

  async #continue(
    bridged: BridgedAgent,
    followUp: FollowUp,
    said: string,
    parameters: ActionParameters,
    meta: ActionCallOptions,
  ): Promise<ActionResponse> {
    const { taskId, contextId, kind } = followUp;
    const exchange = this.#exchange(bridged, followUp.action, meta);
    const files = await this.#filesOf(parameters, exchange);
    const isSpoken = kind === 'input' || (kind === 'auth' && (said !== '' || files.length > 0));
    if (kind === 'input' && said === '' && files.length === 0) {
      throw invalidField('user_response', 'is empty, and the agent asked something');
    }
    const messageId = this.#settings.newId();
    const ask = isSpoken
      ? { message: buildFollowUpMessage(said, files, { messageId, contextId, taskId }) }
      : { taskId };
    return this.#respond(exchange, await this.#follow(exchange, ask));
  }

  #exchange(bridged: BridgedAgent, action: string, meta: ActionCallOptions): Exchange {
    const { userId, sessionId } = meta;
    return { bridged, action, meta, conversation: { agentName: bridged.name, userId, sessionId } };
  }

  #filesOf({ files }: ActionParameters, { bridged, meta }: Exchange): Promise<RawPart[]> {
    const { store, policy, maxFiles, maxFileBytes } = this.#settings;
    return resolveFiles(
      files,
      { store, policy, maxFiles, maxBytes: maxFileBytes },
      { user: meta.userId ?? defaultUser, agentName: bridged.name, signal: meta.signal },
    );
  }

  #follow({ bridged, meta }: Exchange, ask: SendRequest | { readonly taskId: string }): Promise<CallOutcome> {
    const { clock, waitBudget, cancelBudget, pollInterval, progressInterval } = this.#settings;
    const teller =
      meta.onProgress &&
      new ProgressReporter(meta.onProgress, meta.progressInterval ?? progressInterval, clock);
    const following = new CallTracker({
      bridged,
      ask,
      owner: meta.userId,
      waitBudget: meta.waitBudget ?? waitBudget,
      cancelBudget,
      pollInterval,
      signal: meta.signal,
      hear: teller && ((event) => teller.report(event)),
      ended: () => {
        this.#open.delete(following);
        teller?.end();
      },
      clock,
    });
    const run = following.run();
    this.#open.set(following, run);
    return run;
  }

  #respond(exchange: Exchange, outcome: CallOutcome): ActionResponse | Promise<ActionResponse> {
    const task = outcome.kind === 'message' ? undefined : outcome.task;
    const contextId = outcome.kind === 'message' ? outcome.message.contextId : task?.contextId;
    if (contextId) this.#contexts.heard(exchange.conversation, contextId);
    switch (outcome.kind) {
      case 'message':
        return this.#direct(exchange, outcome.message);
      case 'task':
        return this.#rested(exchange, outcome.task);
      case 'running':
        return this.#withFollowUp(
          buildResponse({ status: 'RUNNING', message: 'The agent is still at work.' }, outcome.task),
          exchange,
          { task: outcome.task, kind: 'running' },
        );
      case 'canceled': {
        const { fault } = outcome;
        const errorInfo = fault && {
          errorMessage: `The task could not be canceled: ${fault.message}`,
          hint: 'It may go on.',
        };
        return buildResponse({ status: 'CANCELED', message: 'The call was canceled', errorInfo }, task);
      }
      case 'fault':
        return this.#fault(exchange, outcome.error, task);
    }
  }

  /** A call that failed on the way. Where the task is known, it can be waited for. */
  async #fault(exchange: Exchange, error: A2AError, task: Task | undefined): Promise<ActionResponse> {
    const response = failureResponse(error, task);
    if (!task) return response;
    return this.#withFollowUp(response, exchange, { task, kind: 'running' });
  }

  async #direct(exchange: Exchange, message: Message): Promise<ActionResponse> {
    const shelf = (): FileScope => this.#shelf(exchange, message.contextId);
    const answer = await contentFromMessage(message, shelf, this.#keeping);
    return completedResponse(answer, message.taskId, message.contextId);
  }

  async #rested(exchange: Exchange, task: Task): Promise<ActionResponse> {
    const status = actionStatus(task.status.state);
    const shelf = (): FileScope => this.#shelf(exchange, task.contextId);
    const isWaiting = status === 'INPUT_REQUIRED' || status === 'AUTH_REQUIRED';
    try {
      const answer = isWaiting
        ? await contentFromMessage(task.status.message, shelf, this.#keeping)
        : await contentFromTask(task, shelf, this.#keeping);
      if (status === 'COMPLETED') return completedResponse(answer, task.id, task.contextId);
      if (isWaiting) {
        const kind = status === 'INPUT_REQUIRED' ? 'input' : 'auth';
        return await this.#withFollowUp(buildResponse({ ...answer, status }, task), exchange, { task, kind });
      }
      const message = answer.message || `The task was ${task.status.state}`;
      return buildResponse({ ...answer, status, message, errorInfo: { errorMessage: message } }, task);
    } catch (thrown) {
      // What the agent made could not be kept here; it can be asked for again.
      return this.#fault(exchange, A2AError.from(thrown), task);
    }
  }

  #shelf({ bridged, meta }: Exchange, contextId: string | undefined): FileScope {
    return {
      app: bridged.name,
      user: safeSegment(meta.userId ?? defaultUser),
      session: safeSegment(meta.sessionId ?? contextId ?? 'default'),
    };
  }

  async #withFollowUp(
    response: ActionResponse,
    { bridged, action, meta }: Exchange,
    { task, kind }: { readonly task: Task; readonly kind: FollowUp['kind'] },
  ): Promise<ActionResponse> {
    const followUpId = this.#settings.newId();
    await this.#keep(followUpId, {
      agentName: bridged.name,
      taskId: task.id,
      contextId: task.contextId,
      action,
      kind,
      userId: meta.userId ?? defaultUser,
      sessionId: meta.sessionId,
    });
    return { ...response, followUpId, data: { ...response.data, follow_up_id: followUpId } };
  }

  async #keep(id: string, followUp: FollowUp): Promise<void> {
    const { followUps, inputRequiredTtl } = this.#settings;
    const ttl = this.#agents.get(followUp.agentName)?.inputRequiredTtl ?? inputRequiredTtl;
    await followUps.put(`${followUpPrefix}${id}`, followUp, ttl * 1_000);
  }
}

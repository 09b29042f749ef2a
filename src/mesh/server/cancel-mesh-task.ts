import type { Clock } from '../../primitives/clock.ts';
import type { Agent, CallContext } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import { isTerminal, type TaskState } from '../../protocol/task.ts';
import type { MeshTask, MeshTasks } from './mesh-tasks.ts';
import type { CancelResult } from './request-run.ts';

/** Collaborators of {@link cancelMeshTask}. */
interface CancelContext {
  readonly agent: Agent;
  readonly tasks: MeshTasks;
  readonly clock: Clock;
  /** The user of the cancel request; undefined if the request names none. */
  readonly user: string | undefined;
  readonly call: CallContext;
}

/** Cancels a task: through its run, at the agent, or through the server that processes its request. */
export async function cancelMeshTask(task: MeshTask, context: CancelContext): Promise<CancelResult> {
  const [run, ...others] = task.runs;
  if (!run) return cancelWithoutRun(task, context);
  const result = await run.cancel();
  for (const other of others) await other.cancel();
  if (!result.isReported) await setState(task, result.task.status.state, context);
  return result;
}

async function cancelWithoutRun(known: MeshTask, context: CancelContext): Promise<CancelResult> {
  const { agent, tasks, clock, user, call } = context;
  const { id, contextId } = known;
  const isElsewhere = await tasks.isRunningElsewhere(known);
  let task = known;
  if (isElsewhere && known.upstreamId === undefined) {
    await tasks.cancelEarly(user, id);
    await tasks.load([id]);
    task = tasks.find(id) ?? known;
    const timestamp = new Date(clock.now()).toISOString();
    // The other server cancels the task as soon as it knows the id at the agent.
    if (task.upstreamId === undefined)
      return { task: { id, contextId, status: { state: 'canceled', timestamp } }, isReported: true };
  }
  const { upstreamId, state } = task;
  if (upstreamId === undefined || (state && isTerminal(state))) throw new A2AError('TASK_NOT_CANCELABLE');
  const canceled = await agent.cancelTask({ id: upstreamId }, call);
  if (!isElsewhere) await setState(task, canceled.status.state, context);
  return { task: canceled, isReported: isElsewhere };
}

async function setState(task: MeshTask, state: TaskState, { tasks }: CancelContext): Promise<void> {
  tasks.setState(task, state);
  await tasks.save(task);
}

import { groupBy } from '../../../src/conformance/report/report-text.ts';
import type { AgentRun, ChaosHistory, FinalState, ShownEvent, StoredLog } from './history.ts';
import { isTerminalState, LogView } from './log-view.ts';

/** Something that replicas must never do. */
export interface Violation {
  readonly rule:
    | 'shown events are stored'
    | 'subscribers miss nothing'
    | 'tasks end once'
    | 'reads are current'
    | 'the holder writes'
    | 'messages run once'
    | 'webhooks miss nothing';
  readonly taskId: string;
  readonly text: string;
}

type Report = (rule: Violation['rule'], taskId: string, text: string) => void;

/** Compares what all clients were shown with the store. @returns all violations */
export function checkHistory(history: ChaosHistory, { logs, runs }: FinalState): Violation[] {
  const violations: Violation[] = [];
  const report: Report = (rule, taskId, text) => violations.push({ rule, taskId, text });
  const views = new Map([...logs].map(([id, { changes }]) => [id, new LogView(changes)]));
  for (const log of logs.values()) {
    checkEnd(log, report);
    checkWriters(log, report);
  }
  checkAccepted(history, views, report);
  checkEvents(history.events, views, report);
  checkStreams(history, views, report);
  checkReads(history, views, report);
  checkRuns(runs, logs, report);
  checkWebhooks(history, views, report);
  return violations;
}

/** The log is numbered without gaps and ends with its only terminal state. */
function checkEnd({ id, state, sequence, changes, audit }: StoredLog, report: Report): void {
  const rule = 'tasks end once';
  changes.forEach((change, n) => {
    if (change.sequence !== n + 1)
      report(rule, id, `event ${n + 1} of the log has number ${change.sequence}`);
  });
  if (changes.length !== sequence)
    report(rule, id, `the log has ${changes.length} events, the task ${sequence}`);
  const ends = changes.filter(({ status }) => status && isTerminalState(status.state));
  if (!isTerminalState(state)) report(rule, id, `the task stays ${state}: ${JSON.stringify(audit)}`);
  if (ends.length !== 1 || changes.at(-1) !== ends[0])
    report(rule, id, `terminal events: ${ends.map((each) => each.sequence).join(', ')} of ${sequence}`);
}

/** A process writes only while it holds the task. */
function checkWriters({ id, audit }: StoredLog, report: Report): void {
  let holder: string | undefined;
  for (const entry of audit) {
    if (entry.kind === 'holder') holder = entry.process ?? holder;
    else if (entry.process !== holder) {
      report('the holder writes', id, `${entry.process} wrote ${entry.sequence}, held by ${holder}`);
    }
  }
}

/** What a client was told to be accepted is stored, once, and has become what it should. */
function checkAccepted(history: ChaosHistory, views: ReadonlyMap<string, LogView>, report: Report): void {
  const rule = 'tasks end once';
  for (const { taskId, messageId } of history.messages) {
    const view = views.get(taskId);
    if (!view) report(rule, taskId, 'an accepted task is not stored');
    else if (messageId !== undefined) {
      const count = view.messageIds.filter((each) => each === messageId).length;
      if (count !== 1) report('messages run once', taskId, `message ${messageId} is stored ${count} times`);
    }
  }
  for (const { taskId, state, text, orText = text } of history.outcomes) {
    const actual = views.get(taskId)?.last?.snapshot;
    if (actual !== `${state} ${text}` && actual !== `${state} ${orText}`)
      report(rule, taskId, `ended as "${actual}" instead of "${state} ${text}"`);
  }
}

function checkEvents(
  events: readonly ShownEvent[],
  views: ReadonlyMap<string, LogView>,
  report: Report,
): void {
  for (const { taskId, sequence, digest, stream } of events) {
    const position = views.get(taskId)?.at(sequence);
    if (!position) report('shown events are stored', taskId, `${stream} was shown ${sequence}, not stored`);
    else if (!position.digests.includes(digest)) {
      const text = `${stream} was shown ${sequence} "${digest}" instead of "${position.digests.join('" or "')}"`;
      report('shown events are stored', taskId, text);
    }
  }
}

function checkStreams(history: ChaosHistory, views: ReadonlyMap<string, LogView>, report: Report): void {
  const rule = 'subscribers miss nothing';
  const byStream = groupBy(history.events, ({ stream }) => stream);
  for (const { name, taskId, after, isComplete } of history.streams) {
    const view = views.get(taskId);
    if (!view) continue;
    if (!isComplete) report(rule, taskId, `${name} was not shown the end`);
    let cursor = after;
    for (const { sequence } of byStream.get(name) ?? []) {
      const expected = view.next(cursor);
      if (sequence !== expected) report(rule, taskId, `${name} was shown ${sequence} instead of ${expected}`);
      cursor = sequence;
    }
  }
}

/** A request is answered with everything that any client was shown before it was sent. */
function checkReads(
  { tasks, events }: ChaosHistory,
  views: ReadonlyMap<string, LogView>,
  report: Report,
): void {
  const byTask = groupBy(events, ({ taskId }) => taskId);
  for (const { taskId, snapshot, since } of tasks) {
    const rule = 'reads are current';
    const view = views.get(taskId);
    if (!view) report('shown events are stored', taskId, 'a client was shown a task that is not stored');
    else if (snapshot === undefined) report(rule, taskId, 'a client was told that the task does not exist');
    else {
      const newest = view.positions.findLast((each) => each.snapshot === snapshot)?.sequence;
      const known = Math.max(
        0,
        ...(byTask.get(taskId) ?? []).filter(({ at }) => at < since).map(({ sequence }) => sequence),
      );
      if (newest === undefined) report(rule, taskId, `a client was shown "${snapshot}", which never was`);
      else if (newest < known)
        report(rule, taskId, `a client was shown ${newest} "${snapshot}" after another had seen ${known}`);
    }
  }
}

function checkRuns(runs: readonly AgentRun[], logs: ReadonlyMap<string, StoredLog>, report: Report): void {
  const rule = 'messages run once';
  const processed = groupBy(
    runs.filter(({ kind }) => kind === 'process'),
    ({ messageId }) => messageId,
  );
  for (const [messageId, all] of processed) {
    if (all.length > 1)
      report(rule, all[0]?.taskId ?? '', `message ${messageId} was processed ${all.length} times`);
  }
  const resumed = groupBy(
    runs.filter(({ kind }) => kind === 'resume'),
    ({ taskId }) => taskId,
  );
  for (const [taskId, { length }] of resumed) {
    const log = logs.get(taskId);
    const claims =
      log?.audit.filter((entry) => entry.kind === 'holder' && entry.process !== undefined).length ?? 0;
    // The first claim is the creation. A process that does not learn of it resumes the task.
    const first = log?.changes[0]?.task?.history?.[0]?.messageId ?? '';
    const allowed = claims - (processed.has(first) ? 1 : 0);
    if (length > allowed) report(rule, taskId, `resumed ${length} times with ${allowed} takeovers`);
  }
}

function checkWebhooks(history: ChaosHistory, views: ReadonlyMap<string, LogView>, report: Report): void {
  const rule = 'webhooks miss nothing';
  const byPath = groupBy(history.deliveries, ({ path }) => path);
  for (const { path, taskId, after, hasArtifacts } of history.webhooks) {
    const view = views.get(taskId);
    if (!view) continue;
    const first = [...new Set((byPath.get(path) ?? []).map(({ sequence }) => sequence))];
    first.forEach((sequence, n) => {
      if (sequence < (first[n - 1] ?? 0)) report(rule, taskId, `${path} received ${first.join(', ')}`);
    });
    const expected = view.positions.filter(
      ({ sequence, isInput, isArtifact }) => sequence > after && !isInput && (hasArtifacts || !isArtifact),
    );
    const missing = expected.map(({ sequence }) => sequence).filter((sequence) => !first.includes(sequence));
    if (missing.length > 0) report(rule, taskId, `${path} did not receive ${missing.join(', ')}`);
  }
}

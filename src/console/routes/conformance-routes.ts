import type { HttpClient } from '../../client/http/http-client.ts';
import { fixturePrompts, tckPrompts } from '../../conformance/prompts/prompt-catalog.ts';
import { buildReport } from '../../conformance/report/build-report.ts';
import { Redactor } from '../../primitives/redaction.ts';
import { writeReport } from '../../conformance/report/report-formats.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { AgentRegistry } from '../agents/agent-registry.ts';
import type { ConformanceEvent, ConformanceInput } from '../console-api.ts';
import { conformanceInputSchema, parseRequestBody } from './request-schemas.ts';
import { credentialHeaders } from '../agents/credentials.ts';
import type { JsonEventStream } from '../json-event-stream.ts';
import type { ConsoleAgent } from '../agents/console-agent.ts';
import type { ApiRoutes } from '../api-routes.ts';

/** Collaborators of {@link conformanceRoutes}. */
export interface ConformanceContext {
  readonly agents: AgentRegistry;
  readonly http: HttpClient;
  /** Version of the suite. */
  readonly version: string;
}

/** Routes of the conformance view. Runs one suite at a time, because two runs would affect each other. */
export function conformanceRoutes(context: ConformanceContext): ApiRoutes {
  let isRunning = false;
  return {
    'POST conformance': ({ body }) => {
      const input = parseRequestBody(conformanceInputSchema, body);
      const agent = context.agents.get(input.agentId);
      if (isRunning) throw busyError();
      return {
        stream: async (stream) => {
          // Another request may have started a run in the meantime.
          if (isRunning) throw busyError();
          isRunning = true;
          try {
            await runSuite(agent, input, context, stream);
          } finally {
            isRunning = false;
          }
        },
      };
    },
  };
}

function busyError(): A2AError {
  return new A2AError('CONFLICT', 'A conformance run is already in progress', {
    hint: 'Wait until it ends, or close the page that started it.',
  });
}

async function runSuite(
  agent: ConsoleAgent,
  { level, fixtures, timeout }: ConformanceInput,
  { http, version }: ConformanceContext,
  stream: JsonEventStream,
): Promise<void> {
  const { url, credentials } = agent.info;
  // Loads the rules on demand.
  const { testConformance } = await import('../../conformance/test-conformance.ts');
  const headers = await credentialHeaders(credentials, url, http);
  /** Events that are not sent yet; at most one per rule. */
  const queue: ConformanceEvent[] = [];
  let sending = Promise.resolve(true);
  const sendEvent = (event: ConformanceEvent): void => {
    if (queue.push(event) === 1) sending = sending.then(() => stream.send(...queue.splice(0)));
  };
  const outcome = await testConformance(url, {
    headers,
    prompts: fixtures === 'fx' ? fixturePrompts : fixtures === 'tck' ? tckPrompts : {},
    ...(level && { level }),
    ...(timeout !== undefined && { timeout }),
    signal: stream.signal,
    onProgress: (done, total, last) =>
      sendEvent({ kind: 'progress', done, total, rule: last?.rule.id, verdict: last?.verdict }),
  });
  if (stream.signal.aborted) return;
  const report = buildReport(outcome, {
    suite: `dragoman ${version}`,
    command: `dragoman conformance ${url}${fixtures ? ` --fixtures ${fixtures}` : ''}`,
    redactor: new Redactor(headers),
  });
  sendEvent({ kind: 'report', report, html: writeReport(report, 'html') });
  await sending;
}

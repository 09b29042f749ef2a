import type { HttpClient } from '../../client/http/http-client.ts';
import type { RuleResult } from '../../conformance/rule-model.ts';
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

/** What examinations need. */
export interface ConformanceContext {
  readonly book: AgentRegistry;
  readonly http: HttpClient;
  /** The version of the suite. */
  readonly version: string;
}

/** Examines agents, one at a time, because two examinations would disturb each other. */
export function conformanceRoutes(laboratory: ConformanceContext): ApiRoutes {
  let isBusy = false;
  return {
    'POST conformance': ({ body }) => {
      const wish = parseRequestBody(conformanceInputSchema, body);
      const agent = laboratory.book.get(wish.agentId);
      if (isBusy) throw busy();
      return {
        stream: async (stream) => {
          // Two may have come at once.
          if (isBusy) throw busy();
          isBusy = true;
          try {
            await run(agent, wish, laboratory, stream);
          } finally {
            isBusy = false;
          }
        },
      };
    },
  };
}

function busy(): A2AError {
  return new A2AError('CONFLICT', 'An agent is being examined already', {
    hint: 'Wait until that is done, or leave the page that began it.',
  });
}

async function run(
  agent: ConsoleAgent,
  { level, fixtures, timeout }: ConformanceInput,
  { http, version }: ConformanceContext,
  stream: JsonEventStream,
): Promise<void> {
  const { url, credentials } = agent.facts;
  // The rules are many, and not needed before somebody asks for them.
  const { testConformance: examine } = await import('../../conformance/test-conformance.ts');
  const headers = await credentialHeaders(credentials, url, http);
  /** What has not gone out yet: no more than there are rules. */
  const news: ConformanceEvent[] = [];
  let sending = Promise.resolve(true);
  const tell = (event: ConformanceEvent): void => {
    if (news.push(event) === 1) sending = sending.then(() => stream.send(...news.splice(0)));
  };
  const outcome = await examine(url, {
    headers,
    prompts: fixtures === 'fx' ? fixturePrompts : fixtures === 'tck' ? tckPrompts : {},
    ...(level && { level }),
    ...(timeout !== undefined && { timeout }),
    signal: stream.signal,
    onProgress: (done, total, last) => tell({ kind: 'progress', done, total, ...whatOf(last) }),
  });
  if (stream.signal.aborted) return;
  const report = buildReport(outcome, {
    suite: `dragoman ${version}`,
    command: `dragoman conformance ${url}${fixtures ? ` --fixtures ${fixtures}` : ''}`,
    redactor: new Redactor(headers),
  });
  tell({ kind: 'report', report, html: writeReport(report, 'html') });
  await sending;
}

function whatOf(last: RuleResult | undefined): { rule?: string; verdict?: string } {
  return last ? { rule: last.rule.id, verdict: last.verdict } : {};
}

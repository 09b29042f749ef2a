import type { HttpClient } from '../../client/http/http-client.ts';
import type { RuleResult } from '../../conformance/rule-model.ts';
import { fxWays, tckWays } from '../../conformance/prompts/prompt-catalog.ts';
import { reportOf } from '../../conformance/report/build-report.ts';
import { Secrets } from '../../primitives/redaction.ts';
import { writeReport } from '../../conformance/report/report-formats.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { AgentBook } from '../agents/agent-registry.ts';
import type { ConformanceEvent, ConformanceWish } from '../console-api.ts';
import { conformanceWish, readBody } from './request-schemas.ts';
import { headersFor } from '../agents/credentials.ts';
import type { EventStream } from '../json-event-stream.ts';
import type { KnownAgent } from '../agents/console-agent.ts';
import type { Routes } from '../api-routes.ts';

/** What examinations need. */
export interface Laboratory {
  readonly book: AgentBook;
  readonly http: HttpClient;
  /** The version of the suite. */
  readonly version: string;
}

/** Examines agents, one at a time, because two examinations would disturb each other. */
export function examinationRoutes(laboratory: Laboratory): Routes {
  let isBusy = false;
  return {
    'POST conformance': ({ body }) => {
      const wish = readBody(conformanceWish, body);
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
  agent: KnownAgent,
  { level, fixtures, timeout }: ConformanceWish,
  { http, version }: Laboratory,
  stream: EventStream,
): Promise<void> {
  const { url, credentials } = agent.facts;
  // The rules are many, and not needed before somebody asks for them.
  const { examine } = await import('../../conformance/test-conformance.ts');
  const headers = await headersFor(credentials, url, http);
  /** What has not gone out yet: no more than there are rules. */
  const news: ConformanceEvent[] = [];
  let sending = Promise.resolve(true);
  const tell = (event: ConformanceEvent): void => {
    if (news.push(event) === 1) sending = sending.then(() => stream.send(...news.splice(0)));
  };
  const outcome = await examine(url, {
    headers,
    ways: fixtures === 'fx' ? fxWays : fixtures === 'tck' ? tckWays : {},
    ...(level && { level }),
    ...(timeout !== undefined && { timeout }),
    signal: stream.signal,
    onProgress: (done, total, last) => tell({ kind: 'progress', done, total, ...whatOf(last) }),
  });
  if (stream.signal.aborted) return;
  const report = reportOf(outcome, {
    suite: `dragoman ${version}`,
    command: `dragoman conformance ${url}${fixtures ? ` --fixtures ${fixtures}` : ''}`,
    secrets: new Secrets(headers),
  });
  tell({ kind: 'report', report, html: writeReport(report, 'html') });
  await sending;
}

function whatOf(last: RuleResult | undefined): { rule?: string; verdict?: string } {
  return last ? { rule: last.rule.id, verdict: last.verdict } : {};
}

import type { OutcomePrompts } from '../../conformance/prompts/prompt-catalog.ts';
import { promptsSchema, readPrompts, toPrompts } from '../../conformance/prompts/read-prompts.ts';
import { reportFileNames, reportFormats, writeReport } from '../../conformance/report/report-formats.ts';
import { DocumentError } from '../../documents/diagnostic.ts';
import { writeYaml } from '../../documents/write-yaml.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import type { AgentRegistry } from '../agents/agent-registry.ts';
import { type ApiRoutes, emptyResponse } from '../api-routes.ts';
import type { ConformanceRuns } from '../conformance/conformance-runs.ts';
import type { KeptReports } from '../conformance/kept-reports.ts';
import type { UploadedReport } from '../conformance/report-file.ts';
import type { SavedPrompts } from '../conformance/saved-prompts.ts';
import {
  conformanceInputSchema,
  parseRequestBody,
  rerunInputSchema,
  uploadedReportSchema,
} from './request-schemas.ts';

/** Collaborators of {@link conformanceRoutes}. */
export interface ConformanceContext {
  readonly agents: AgentRegistry;
  readonly runs: ConformanceRuns;
  readonly reports: KeptReports;
  readonly prompts: SavedPrompts;
}

const promptsFile = 'prompts.yaml';

/** Routes of the conformance view. */
export function conformanceRoutes({ agents, runs, reports, prompts }: ConformanceContext): ApiRoutes {
  return {
    'GET conformance/run': () => ({ stream: (stream) => runs.events.sendTo(stream) }),
    'POST conformance/run': ({ body }) => {
      const input = parseRequestBody(conformanceInputSchema, body);
      runs.start(agents.get(input.agentId), input);
      return emptyResponse;
    },
    'DELETE conformance/run': async () => {
      await runs.cancel();
      return emptyResponse;
    },
    'GET conformance/reports': () => ({ json: reports.entries }),
    'POST conformance/reports': ({ body }) => ({ json: reports.addUploaded(parseUploadedReport(body)) }),
    'GET conformance/reports/{}': (_request, id = '') => ({ json: reports.getRun(id).report }),
    'GET conformance/reports/{}/file': ({ query }, id = '') => {
      const format = reportFormats.find((each) => each === query.get('format'));
      if (!format) throw invalidField('format', `must be one of ${reportFormats.join(', ')}`);
      const file = writeReport(reports.getRun(id).report, format);
      return { file, name: reportFileNames[format], type: 'application/octet-stream' };
    },
    'GET conformance/reports/{}/changes': ({ query }, id = '') => ({
      json: reports.changesSince(query.get('since') ?? '', id),
    }),
    'POST conformance/reports/{}/repeat': ({ body }, id = '') => {
      const rule = parseRequestBody(rerunInputSchema, body);
      runs.repeat(agents.get(reports.getRun(id).agentId), id, rule);
      return emptyResponse;
    },
    'GET agents/{}/prompts': (_request, id = '') => ({ json: prompts.get(agents.get(id).info.id) }),
    'POST agents/{}/prompts': async ({ body }, id = '') => {
      await prompts.set(agents.get(id).info.id, toPrompts(parseRequestBody(promptsSchema, body)));
      return emptyResponse;
    },
    'POST conformance/prompts/file': ({ body }) => ({
      file: writeYaml(simplify(toPrompts(parseRequestBody(promptsSchema, body)))),
      name: promptsFile,
      type: 'application/yaml',
    }),
    'POST conformance/prompts': ({ body }) => ({ json: parsePromptsFile(body) }),
  };
}

/** @throws {@link A2AError} `INVALID_PARAMS` */
function parseUploadedReport(body: string): UploadedReport {
  try {
    return parseRequestBody(uploadedReportSchema, body);
  } catch (thrown) {
    const { message } = A2AError.from(thrown);
    throw new A2AError('INVALID_PARAMS', `The file is not a JSON report: ${message}`, {
      cause: thrown,
      hint: 'Select a file of Save JSON, or of dragoman conformance --report json.',
    });
  }
}

/** @throws {@link A2AError} `INVALID_PARAMS` with the positions of the errors */
function parsePromptsFile(text: string): OutcomePrompts {
  try {
    return readPrompts(text, promptsFile);
  } catch (thrown) {
    if (!(thrown instanceof DocumentError)) throw thrown;
    throw new A2AError('INVALID_PARAMS', thrown.message, {
      cause: thrown,
      hint: 'The file has one message for each state, such as slow: Write a long report.',
    });
  }
}

/** Writes a prompt that has only a text as this text. */
function simplify(prompts: OutcomePrompts): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(prompts).map(([outcome, { text, ...others }]) => [
      outcome,
      text !== undefined && Object.keys(others).length === 0
        ? text
        : { ...(text !== undefined && { text }), ...others },
    ]),
  );
}

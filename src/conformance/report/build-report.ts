import { createHash } from 'node:crypto';
import { type ConformanceLevel, computeLevel } from '../conformance-level.ts';
import type {
  ClientRunSummary,
  ReportCategory,
  RequirementLevel,
  RuleResult,
  CheckedTransport,
  RuleVerdict,
  CheckedVersion,
} from '../rule-model.ts';
import type { MissingInput } from '../prompts/missing-input.ts';
import type { RunChecksOutcome } from '../run-checks.ts';
import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';
import { asText } from '../drivers/normalized-views.ts';
import type { Redactor } from '../../primitives/redaction/redaction.ts';
import { type TranscriptEntry, toTranscriptEntry } from './transcript.ts';

/**
 * Result of one rule in one protocol variant. The members up to `duration_ms` follow the format of other A2A test tools;
 * the others are additions.
 */
export interface ConformanceResult {
  readonly test: string;
  readonly category: ReportCategory;
  /** Other tools have no `warn`, which is a violated SHOULD. */
  readonly status: 'pass' | 'warn' | 'fail' | 'skip';
  readonly message?: string;
  readonly duration_ms?: number;
  /** Finer than the status: why a rule was skipped. */
  readonly verdict: RuleVerdict;
  readonly level: RequirementLevel;
  /** True if the rule is violated and such an agent must not be used at all. */
  readonly critical?: true;
  readonly section: string;
  /** The requirement. */
  readonly rule: string;
  readonly requirements: readonly string[];
  readonly version: CheckedVersion;
  /** Missing for rules of the card. */
  readonly transport?: CheckedTransport;
  /** How often the rule was evaluated. */
  readonly observations: number;
  readonly remediation: string;
  /** What the user must provide so that a skipped rule can be decided. */
  readonly missing?: MissingInput;
  readonly expected?: string;
  readonly actual?: string;
  readonly transcript?: readonly TranscriptEntry[];
  readonly curl?: string;
  /** Messages of the violations after the first one. */
  readonly otherViolations?: readonly string[];
  /** The execution of a tested client that shows the first violation. */
  readonly client?: ClientRunSummary;
}

/**
 * Report of a run. The members up to `conformanceLevel` follow the format of other A2A test tools; the others are
 * additions.
 */
export interface ConformanceReport {
  /** `client` if a client was tested; then name and URL are those of its command. */
  readonly subject: 'agent' | 'client';
  readonly agentUrl: string;
  readonly agentName: string;
  readonly agentVersion: string;
  readonly testDate: string;
  readonly summary: {
    readonly total: number;
    readonly passed: number;
    readonly failed: number;
    readonly skipped: number;
    /** Violations of a SHOULD. */
    readonly warned: number;
    /** Included in `skipped`. */
    readonly inconclusive: number;
    /** Included in `skipped`. */
    readonly notApplicable: number;
    /** Errors of the suite; included in `skipped`. */
    readonly errors: number;
  };
  readonly categories: {
    readonly agentCard: readonly ConformanceResult[];
    readonly lifecycle: readonly ConformanceResult[];
    readonly streaming: readonly ConformanceResult[];
    readonly errorHandling: readonly ConformanceResult[];
    readonly interop: readonly ConformanceResult[];
  };
  readonly conformanceLevel: ConformanceLevel;
  /** Conditions that limit the validity of the results. */
  readonly warnings: readonly string[];
  /** Why the agent could not be tested. */
  readonly unreachable?: string;
  readonly variants: readonly {
    readonly version: CheckedVersion;
    readonly transport: CheckedTransport;
    readonly url: string;
  }[];
  readonly cards: readonly {
    readonly url: string;
    readonly version: CheckedVersion;
    readonly card: JsonObject;
  }[];
  readonly provenance: Provenance;
}

/** Origin of a report. */
export interface Provenance {
  readonly suite: string;
  /** Digest of the rules of the run. */
  readonly rulesDigest: string;
  readonly cardDigest: string;
  readonly command: string;
  readonly messages: number;
  readonly requests: number;
  readonly duration_ms: number;
}

/** Options of {@link buildReport}. */
export interface ReportInfo {
  /** Such as `dragoman 0.1.0`. */
  readonly suite: string;
  readonly command: string;
  readonly redactor: Redactor;
}

const categoryKeys: { readonly [category in ReportCategory]: keyof ConformanceReport['categories'] } = {
  'agent-card': 'agentCard',
  lifecycle: 'lifecycle',
  streaming: 'streaming',
  'error-handling': 'errorHandling',
  interop: 'interop',
};

const statuses: { readonly [verdict in RuleVerdict]: ConformanceResult['status'] } = {
  pass: 'pass',
  warn: 'warn',
  fail: 'fail',
  'not-applicable': 'skip',
  inconclusive: 'skip',
  // An error of the suite is not a failure of the agent.
  error: 'skip',
};

/** Builds the report of a run. All secrets known to the redactor are removed. */
export function buildReport(outcome: RunChecksOutcome, info: ReportInfo): ConformanceReport {
  const { redactor } = info;
  const results = outcome.results.map((each) => toResult(each, redactor));
  const card = outcome.cards[0]?.card ?? {};
  const { client } = outcome;
  return {
    subject: client ? 'client' : 'agent',
    agentUrl: client ? redactor.redactText(client.command) : redactor.redactUrl(outcome.url),
    agentName: redactor.redactText(client?.name ?? asText(card.name) ?? 'unknown'),
    agentVersion: client ? '' : redactor.redactText(asText(card.version) ?? 'unknown'),
    testDate: outcome.startedAt,
    ...summarize(results, outcome.variants),
    warnings: outcome.warnings.map((each) => redactor.redactText(each)),
    ...(outcome.unreachable === undefined ? {} : { unreachable: redactor.redactText(outcome.unreachable) }),
    variants: outcome.variants.map((each) => ({ ...each, url: redactor.redactUrl(each.url) })),
    cards: outcome.cards.map(({ url, version, card: published }) => ({
      url: redactor.redactUrl(url),
      version,
      card: redactor.redactDeep(published),
    })),
    provenance: {
      suite: info.suite,
      rulesDigest: digest(
        [
          ...new Set(
            outcome.results.map(({ rule }) => `${rule.id} ${rule.level} ${rule.section} ${rule.sentence}`),
          ),
        ].toSorted(),
      ),
      cardDigest: digest(outcome.cards.map((each) => each.card)),
      command: redactor.redactText(info.command),
      messages: outcome.messages,
      requests: outcome.requests,
      duration_ms: Math.round(outcome.milliseconds),
    },
  };
}

/**
 * Replaces the results of rules that were tested again. The rules keep the digest of the first run.
 *
 * @param isReplaced - selects the results that are taken from the second report.
 */
export function replaceResults(
  report: ConformanceReport,
  again: ConformanceReport,
  isReplaced: (result: ConformanceResult) => boolean,
): ConformanceReport {
  const results = [
    ...listResults(report).filter((each) => !isReplaced(each)),
    ...listResults(again).filter(isReplaced),
  ];
  const { provenance } = report;
  return {
    ...report,
    ...summarize(results, report.variants),
    provenance: {
      ...provenance,
      messages: provenance.messages + again.provenance.messages,
      requests: provenance.requests + again.provenance.requests,
    },
  };
}

function summarize(
  results: readonly ConformanceResult[],
  variants: ConformanceReport['variants'],
): Pick<ConformanceReport, 'summary' | 'categories' | 'conformanceLevel'> {
  const categories: { -readonly [key in keyof ConformanceReport['categories']]: ConformanceResult[] } = {
    agentCard: [],
    lifecycle: [],
    streaming: [],
    errorHandling: [],
    interop: [],
  };
  for (const each of results) categories[categoryKeys[each.category]].push(each);
  const count = (predicate: (result: ConformanceResult) => boolean): number =>
    results.filter(predicate).length;
  const leveled = results.map(({ test, level, category, critical, version, transport, verdict }) => ({
    rule: { id: test, level, category, ...(critical && { isCritical: critical }) },
    version,
    transport,
    verdict,
  }));
  return {
    summary: {
      total: results.length,
      passed: count(({ status }) => status === 'pass'),
      failed: count(({ status }) => status === 'fail'),
      skipped: count(({ status }) => status === 'skip'),
      warned: count(({ verdict }) => verdict === 'warn'),
      inconclusive: count(({ verdict }) => verdict === 'inconclusive'),
      notApplicable: count(({ verdict }) => verdict === 'not-applicable'),
      errors: count(({ verdict }) => verdict === 'error'),
    },
    categories,
    conformanceLevel: computeLevel(leveled, variants),
  };
}

/** Lists all results of a report, by category. */
export function listResults({ categories }: Pick<ConformanceReport, 'categories'>): ConformanceResult[] {
  return Object.values(categories).flat();
}

/** Returns the protocol variant of a result, such as `1.0 JSONRPC` or `1.0 card`. */
export function variantKey({ version, transport }: Pick<ConformanceResult, 'version' | 'transport'>): string {
  return `${version} ${transport ?? 'card'}`;
}

/** Returns true if the agent was tested and violates no MUST. */
export function isConformant({ summary, unreachable }: ConformanceReport): boolean {
  return unreachable === undefined && summary.failed === 0;
}

/** Parses a JSON report. @returns undefined if the text is not a report */
export function readReport(text: string): ConformanceReport | undefined {
  const value = parseJsonOrUndefined(text);
  return isReport(value) ? value : undefined;
}

function isReport(value: unknown): value is ConformanceReport {
  return (
    isJsonObject(value) &&
    isJsonObject(value.categories) &&
    Object.values(value.categories).every((each) => Array.isArray(each) && each.every(isJsonObject))
  );
}

function toResult(result: RuleResult, redactor: Redactor): ConformanceResult {
  const { rule, verdict, violations, version, transport, milliseconds } = result;
  const [first] = violations;
  const transcript = first?.exchanges.map((each) => toTranscriptEntry(each, redactor)) ?? [];
  const last = transcript.at(-1);
  const otherViolations = violations.slice(1).map(({ message }) => redactor.redactText(message));
  return {
    test: rule.id,
    category: rule.category,
    status: statuses[verdict],
    ...(result.message === '' ? {} : { message: redactor.redactText(result.message) }),
    duration_ms: Math.round(milliseconds),
    verdict,
    level: rule.level,
    ...(rule.isCritical && verdict === 'fail' ? { critical: true as const } : {}),
    section: rule.section,
    rule: rule.sentence,
    requirements: rule.requirements,
    version,
    ...(transport === undefined ? {} : { transport }),
    observations: result.observations,
    remediation: rule.remedy,
    ...(result.missing ? { missing: result.missing } : {}),
    ...(first?.expected === undefined ? {} : { expected: redactor.redactText(first.expected) }),
    ...(first?.actual === undefined ? {} : { actual: redactor.redactText(first.actual) }),
    ...(transcript.length === 0 ? {} : { transcript }),
    // The requests of a client are repeated by the client, not by curl.
    ...(last && !first?.client ? { curl: last.curl } : {}),
    ...(otherViolations.length === 0 ? {} : { otherViolations }),
    ...(first?.client ? { client: redactor.redactDeep(first.client) } : {}),
  };
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
}

import { createHash } from 'node:crypto';
import { type ConformanceLevel, computeLevel } from '../conformance-level.ts';
import type {
  ReportCategory,
  RequirementLevel,
  RuleResult,
  CheckedTransport,
  RuleVerdict,
  CheckedVersion,
} from '../rule-model.ts';
import type { RunChecksOutcome } from '../run-checks.ts';
import { isJsonObject, type JsonObject, asText } from '../drivers/normalized-views.ts';
import type { Redactor } from '../../primitives/redaction.ts';
import { type TranscriptEntry, toTranscriptEntry } from './transcript.ts';

/** What became of one rule, as other tools read it; what follows `duration_ms` is beside that. */
export interface ConformanceResult {
  readonly test: string;
  readonly category: ReportCategory;
  readonly status: 'pass' | 'fail' | 'skip';
  readonly message?: string;
  readonly duration_ms?: number;
  /** Finer than the status: a broken SHOULD is a pass that says `warn`. */
  readonly verdict: RuleVerdict;
  readonly level: RequirementLevel;
  readonly section: string;
  /** What must hold. */
  readonly rule: string;
  readonly requirements: readonly string[];
  readonly version: CheckedVersion;
  /** Missing for what is about the card alone. */
  readonly transport?: CheckedTransport;
  /** How often it was looked at. */
  readonly observations: number;
  readonly remediation: string;
  readonly expected?: string;
  readonly actual?: string;
  readonly transcript?: readonly TranscriptEntry[];
  readonly curl?: string;
  /** Every way in which it was broken, where there is more than one. */
  readonly otherViolations?: readonly string[];
}

/** What a run found, as other tools read it; what follows `conformanceLevel` is beside that. */
export interface ConformanceReport {
  readonly agentUrl: string;
  readonly agentName: string;
  readonly agentVersion: string;
  readonly testDate: string;
  readonly summary: {
    readonly total: number;
    readonly passed: number;
    readonly failed: number;
    readonly skipped: number;
    /** Of those passed. */
    readonly warned: number;
    /** Of those skipped. */
    readonly inconclusive: number;
    readonly notApplicable: number;
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
  /** What makes the results worth less than they look. */
  readonly warnings: readonly string[];
  /** Why there is no verdict at all. */
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

/** Which suite looked at what, so that a report can be checked. */
export interface Provenance {
  readonly suite: string;
  /** Changes with the rules. */
  readonly rulesDigest: string;
  readonly cardDigest: string;
  readonly command: string;
  readonly messages: number;
  readonly requests: number;
  readonly duration_ms: number;
}

/** What a report says beside what was found. */
export interface ReportInfo {
  /** Such as `dragoman 0.1.0`. */
  readonly suite: string;
  readonly command: string;
  readonly redactor: Redactor;
}

const chapters: { readonly [category in ReportCategory]: keyof ConformanceReport['categories'] } = {
  'agent-card': 'agentCard',
  lifecycle: 'lifecycle',
  streaming: 'streaming',
  'error-handling': 'errorHandling',
  interop: 'interop',
};

const statuses: { readonly [verdict in RuleVerdict]: ConformanceResult['status'] } = {
  pass: 'pass',
  warn: 'pass',
  fail: 'fail',
  'not-applicable': 'skip',
  inconclusive: 'skip',
  // The agent is not to blame for the suite.
  error: 'skip',
};

/** The report of a run. No secret is in it. */
export function buildReport(outcome: RunChecksOutcome, about: ReportInfo): ConformanceReport {
  const { redactor: secrets } = about;
  const results = outcome.results.map((each) => resultOf(each, secrets));
  const categories: { -readonly [chapter in keyof ConformanceReport['categories']]: ConformanceResult[] } = {
    agentCard: [],
    lifecycle: [],
    streaming: [],
    errorHandling: [],
    interop: [],
  };
  for (const each of results) categories[chapters[each.category]].push(each);
  const count = (isIt: (result: ConformanceResult) => boolean): number => results.filter(isIt).length;
  const card = outcome.cards[0]?.card ?? {};
  return {
    agentUrl: secrets.redactUrl(outcome.url),
    agentName: secrets.redactText(asText(card.name) ?? 'unknown'),
    agentVersion: secrets.redactText(asText(card.version) ?? 'unknown'),
    testDate: outcome.began,
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
    conformanceLevel: computeLevel(outcome.results, outcome.variants),
    warnings: outcome.warnings.map((each) => secrets.redactText(each)),
    ...(outcome.unreachable === undefined ? {} : { unreachable: secrets.redactText(outcome.unreachable) }),
    variants: outcome.variants.map((each) => ({ ...each, url: secrets.redactUrl(each.url) })),
    cards: outcome.cards.map(({ url, version, card: shown }) => ({
      url: secrets.redactUrl(url),
      version,
      card: secrets.redactDeep(shown),
    })),
    provenance: {
      suite: about.suite,
      rulesDigest: digestOf(
        [
          ...new Set(
            outcome.results.map(({ rule }) => `${rule.id} ${rule.level} ${rule.section} ${rule.sentence}`),
          ),
        ].toSorted(),
      ),
      cardDigest: digestOf(outcome.cards.map((each) => each.card)),
      command: secrets.redactText(about.command),
      messages: outcome.messages,
      requests: outcome.requests,
      duration_ms: Math.round(outcome.milliseconds),
    },
  };
}

/** Every result of a report, chapter by chapter. */
export function listResults({ categories }: Pick<ConformanceReport, 'categories'>): ConformanceResult[] {
  return Object.values(categories).flat();
}

/** What tells results of the same rule apart. */
export function variantKey({ version, transport }: Pick<ConformanceResult, 'version' | 'transport'>): string {
  return `${version} ${transport ?? 'card'}`;
}

/** True when no MUST is broken. */
export function isConformant({ summary, unreachable }: ConformanceReport): boolean {
  return unreachable === undefined && summary.failed === 0;
}

/** A report that another run wrote. @returns undefined when it is none. */
export function readReport(text: string): ConformanceReport | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isReport(value) ? value : undefined;
}

function isReport(value: unknown): value is ConformanceReport {
  return (
    isJsonObject(value) &&
    isJsonObject(value.categories) &&
    Object.values(value.categories).every((each) => Array.isArray(each) && each.every(isJsonObject))
  );
}

function resultOf(result: RuleResult, secrets: Redactor): ConformanceResult {
  const { rule, verdict, violations, version, transport, milliseconds } = result;
  const [first] = violations;
  const turns = first?.exchanges.map((each) => toTranscriptEntry(each, secrets)) ?? [];
  const last = turns.at(-1);
  const also = violations.slice(1).map(({ message }) => secrets.redactText(message));
  return {
    test: rule.id,
    category: rule.category,
    status: statuses[verdict],
    ...(result.message === '' ? {} : { message: secrets.redactText(result.message) }),
    duration_ms: Math.round(milliseconds),
    verdict,
    level: rule.level,
    section: rule.section,
    rule: rule.sentence,
    requirements: rule.requirements,
    version,
    ...(transport === undefined ? {} : { transport }),
    observations: result.observations,
    remediation: rule.remedy,
    ...(first?.expected === undefined ? {} : { expected: secrets.redactText(first.expected) }),
    ...(first?.actual === undefined ? {} : { actual: secrets.redactText(first.actual) }),
    ...(turns.length === 0 ? {} : { transcript: turns }),
    ...(last ? { curl: last.curl } : {}),
    ...(also.length === 0 ? {} : { otherViolations: also }),
  };
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
}

import type { ReportDiagnostic } from '../../documents/read-config.ts';
import type { DocumentPath } from '../../documents/schema-issues.ts';
import { operationsByName, type PolicyOperation } from './policy-operations.ts';
import type { CallersFile, PolicyFile } from './policy-schema.ts';
import type { CallerSelector, CallLimit, CallSelector, PolicySettings } from './policy-settings.ts';
import { matchesTextPattern } from './text-pattern.ts';

/** Collaborators of {@link readPolicy}. */
export interface PolicyFileContext {
  /** Names of the agents in the file. */
  readonly agents: readonly string[];
  readonly report: ReportDiagnostic;
  /** Returns the line of a value. */
  readonly lineOf: (path: DocumentPath) => number;
}

/** Converts `policy` of a gateway file to settings. Reports unknown agents, unused rules and limits without a limit. */
export function readPolicy(file: PolicyFile, context: PolicyFileContext): PolicySettings {
  const { report, lineOf } = context;
  const rules = (file.rules ?? []).map((rule, index) => {
    const path = ['policy', 'rules', index];
    const callers = 'allow' in rule ? rule.allow : rule.deny;
    const effect: 'allow' | 'deny' = 'allow' in rule ? 'allow' : 'deny';
    return { effect, ...readSelector({ ...rule, callers }, path, context) };
  });
  for (const [index, rule] of rules.entries()) {
    const earlier = rules.slice(0, index).find((each) => covers(each, rule));
    if (earlier)
      report(
        ['policy', 'rules', index],
        `is never used, because the rule in line ${earlier.line} matches first`,
      );
  }
  const limits = Object.entries(file.limits ?? {}).map(([name, limit]): CallLimit => {
    const path = ['policy', 'limits', name];
    const { agents: _a, operations: _o, callers: _c, count_by: countBy, burst, ...given } = limit;
    const { requests_per_second: perSecond, quota } = given;
    if (Object.keys(given).length === 0 && burst === undefined)
      report(
        path,
        'limits nothing: set versions, transports, request_bytes, parts, file_bytes, requests_per_second or quota',
      );
    if (burst !== undefined && perSecond === undefined)
      report([...path, 'burst'], 'requires requests_per_second');
    if (countBy !== undefined && perSecond === undefined && !quota)
      report([...path, 'count_by'], 'requires requests_per_second or quota');
    return {
      name,
      ...readSelector(limit, path, context),
      versions: given.versions,
      transports: given.transports,
      requestBytes: given.request_bytes,
      parts: given.parts,
      fileBytes: given.file_bytes,
      rate: perSecond === undefined ? undefined : { perSecond, burst: burst ?? perSecond },
      quota,
      countBy: countBy ?? 'caller',
    };
  });
  return {
    defaultEffect: file.default ?? (rules.length > 0 ? 'deny' : 'allow'),
    rules,
    limits,
    line: lineOf(['policy']),
  };
}

function readSelector(
  file: {
    readonly callers?: CallersFile | undefined;
    readonly agents?: readonly string[] | undefined;
    readonly operations?: readonly (keyof typeof operationsByName)[] | undefined;
  },
  path: DocumentPath,
  { agents: known, report, lineOf }: PolicyFileContext,
): CallSelector {
  for (const [index, pattern] of (file.agents ?? []).entries())
    if (!known.some((name) => matchesTextPattern(pattern, name)))
      report([...path, 'agents', index], `names no agent of this file; it has ${known.join(', ')}`);
  const { callers = 'anyone' } = file;
  return {
    callers: callers === 'anyone' ? {} : callers,
    agents: file.agents,
    operations: file.operations?.flatMap((name): readonly PolicyOperation[] => operationsByName[name]),
    line: lineOf(path),
  };
}

/** Returns true if the first rule certainly matches every call that the second one matches. */
function covers(first: CallSelector, second: CallSelector): boolean {
  return (
    isSubset(second.agents, first.agents, matchesTextPattern) &&
    isSubset(second.operations, first.operations) &&
    coversCallers(first.callers, second.callers)
  );
}

function coversCallers(first: CallerSelector, second: CallerSelector): boolean {
  return (
    isSubset(second.principals, first.principals) &&
    isSubset(second.issuers, first.issuers) &&
    isSubset(second.tenants, first.tenants) &&
    (first.scopes ?? []).every((scope) => second.scopes?.includes(scope))
  );
}

/** Returns true if every value of the subset is in the superset; undefined means all values. */
function isSubset<T>(
  subset: readonly T[] | undefined,
  superset: readonly T[] | undefined,
  matches: (value: T, other: T) => boolean = (value, other) => value === other,
): boolean {
  if (!superset) return true;
  return subset?.every((value) => superset.some((other) => matches(other, value))) ?? false;
}

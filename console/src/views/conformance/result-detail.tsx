import type { TranscriptEntry } from '../../../../src/conformance/report/transcript.ts';
import type { ConformanceResult } from '../../../../src/conformance/report/build-report.ts';
import { Badge, VersionBadge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { resultKey, verdicts } from './results.ts';
import { ChangeBadge } from './compare/change-badge.tsx';
import { changesByResult } from './compare/state.ts';
import { isEditorOpen } from './prompts/state.ts';
import { currentRun, repeatRule, selectResult } from './state.ts';
import { formatRequest, formatResponse } from './format-transcript.ts';

/** One result in full: requirement, observation and fix. */
export function ResultDetail({ result }: { result: ConformanceResult }) {
  const { test, verdict, level, version, transport, section, requirements, rule, message } = result;
  const { tone, name } = verdicts[verdict];
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Observed', message],
    ['Expected', result.expected],
    ['Actual', result.actual],
    // Only a violation can be fixed.
    ['Fix', verdict === 'fail' || verdict === 'warn' ? result.remediation : undefined],
    ['Section', `A2A ${version}, ${section}`],
    ['Requirements', requirements.join(', ')],
    ['Observations', result.observations === 1 ? 'once' : `${result.observations} times`],
  ];
  return (
    <section class="conformance-detail" aria-label={`Result ${test}`} key={`${test} ${version} ${transport}`}>
      <header class="conformance-title">
        <h2>
          <code>{test}</code>
        </h2>
        <Button small kind="quiet" aria-label="Close" onClick={() => selectResult(undefined)}>
          ✕
        </Button>
        <span class="conformance-badges">
          <Badge tone={tone}>{name}</Badge>
          <Badge>{level}</Badge>
          <VersionBadge version={version} />
          <Badge>{transport ?? 'card'}</Badge>
          <ChangeBadge change={changesByResult.value.get(resultKey(result))} />
        </span>
      </header>
      <p class="conformance-sentence">{rule}</p>
      <dl class="conformance-facts">
        {rows
          .filter(([, text]) => text !== undefined && text !== '')
          .map(([label, text]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{text}</dd>
            </div>
          ))}
      </dl>
      <div class="conformance-actions">
        <Button small disabled={currentRun.value !== undefined} onClick={() => void repeatRule(result)}>
          Run this rule again
        </Button>
        {result.missing?.kind === 'prompt' ? (
          <Button small onClick={() => (isEditorOpen.value = true)}>
            Enter message for {result.missing.outcome}
          </Button>
        ) : null}
      </div>
      {result.otherViolations ? (
        <details>
          <summary>{result.otherViolations.length} more like this</summary>
          <ul class="conformance-also">
            {result.otherViolations.map((each, at) => (
              <li key={at}>{each}</li>
            ))}
          </ul>
        </details>
      ) : null}
      <Evidence turns={result.transcript ?? []} curl={result.curl} />
    </section>
  );
}

function Evidence({ turns, curl }: { turns: readonly TranscriptEntry[]; curl?: string | undefined }) {
  if (turns.length === 0) return null;
  return (
    <>
      <div class="conformance-evidence">
        <h3>Transcript</h3>
        {curl === undefined ? null : <CopyButton label="Copy as curl" text={curl} />}
      </div>
      {turns.map((turn, at) => (
        <div key={at} class="conformance-turn">
          <CodeBlock
            label={`Request ${turns.length > 1 ? at + 1 : ''}`}
            text={formatRequest(turn)}
            isWrapped
          />
          <CodeBlock label={`Response, ${turn.duration_ms} ms`} text={formatResponse(turn)} isWrapped />
        </div>
      ))}
    </>
  );
}

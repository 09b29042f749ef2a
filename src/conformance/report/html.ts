import { escapeXml as e } from '../../primitives/formats/escape-xml.ts';
import { renderHtmlPage } from './html-page.ts';
import { type ConformanceReport, type ConformanceResult, variantKey, listResults } from './build-report.ts';
import type { TranscriptEntry } from './transcript.ts';
import type { ClientRunSummary } from '../rule-model.ts';
import {
  describeClientRun,
  type GroupedFinding,
  formatLevel,
  groupBy,
  groupFindings,
  specificationReference,
  summaryCounts,
} from './report-text.ts';

/** Renders the report as a self-contained HTML page: verdict, violations with evidence, and all rules. */
export function formatHtmlReport(report: ConformanceReport): string {
  const results = listResults(report);
  const body = [
    head(report),
    '<main>',
    verdict(report),
    ...report.warnings.map((each) => `<p class="alert" role="alert"><b>Warning:</b> ${e(each)}</p>`),
    violations(groupFindings(report), report.subject),
    ruleTable(results),
    inconclusive(results),
    cards(report),
    timings(results),
    provenance(report),
    '</main>',
  ];
  return renderHtmlPage(`${report.agentName}: A2A conformance`, body.join('\n'));
}

function head({ agentName, agentVersion, agentUrl, testDate }: ConformanceReport): string {
  const links = ['violations', 'rules', 'inconclusive', 'card', 'timings', 'provenance'].map(
    (each) => `<a href="#${each}">${each}</a>`,
  );
  return `<header><h1>${e(agentName)} <span class="dim">${e(agentVersion)}</span></h1><div class="dim"><code>${e(agentUrl)}</code> · ${e(testDate)}</div><nav>${links.join(' · ')}</nav></header>`;
}

function verdict({ conformanceLevel, summary, variants, unreachable }: ConformanceReport): string {
  if (unreachable !== undefined)
    return `<div class="verdict none"><strong>No verdict</strong><span>${e(unreachable)}</span></div>`;
  const tags = variants.map((each) => `<span class="tag">${variantKey(each)}</span>`).join(' ');
  const counts = summaryCounts(summary).map(
    ({ label, count, verdict: name = '' }) =>
      `<span class="count"><b class="${count > 0 ? name : ''}">${count}</b> ${label}</span>`,
  );
  return `<div class="verdict ${conformanceLevel}"><strong>${conformanceLevel}</strong>${tags} ${counts.join(' ')}</div>`;
}

function violations(findings: readonly GroupedFinding[], subject: string): string {
  const none =
    findings.length === 0 ? `<p>None. The ${subject} passes every rule that could be checked.</p>` : '';
  return `<section id="violations"><h2>Violations</h2>${none}${findings.map(finding).join('\n')}</section>`;
}

function finding({ first, all }: GroupedFinding): string {
  const isFail = all.some(({ status }) => status === 'fail');
  const tags = [...new Set(all.map(variantKey))].map((each) => `<span class="tag">${each}</span>`).join(' ');
  const rows: [string, string | undefined][] = [
    ['message', first.message],
    ['expected', first.expected],
    ['actual', first.actual],
    ['fix', first.remediation],
    ['specification', `${specificationReference(first)} · ${first.requirements.join(', ')}`],
  ];
  const details = rows
    .filter(([, value]) => value !== undefined)
    .map(([name, value = '']) => `<dt>${name}</dt><dd>${e(value)}</dd>`);
  const others = (first.otherViolations ?? []).map((each) => `<li>${e(each)}</li>`).join('');
  return [
    `<article class="finding ${isFail ? '' : 'is-warn'}" id="rule-${e(first.test)}">`,
    `<header><h3><code>${e(first.test)}</code></h3><span class="tag ${isFail ? 'fail' : 'warn'}">${formatLevel(first)}</span>${tags}</header>`,
    `<div>${e(first.rule)}</div><dl>${details.join('')}</dl>`,
    others === ''
      ? ''
      : `<details><summary>${first.otherViolations?.length} more violations</summary><ul>${others}</ul></details>`,
    first.curl === undefined
      ? ''
      : `<details><summary>Reproduce with curl</summary><pre tabindex="0">${e(first.curl)}</pre></details>`,
    ...all.flatMap(({ client }) => (client ? [clientOutput(client)] : [])).slice(0, 1),
    ...all.filter(({ transcript }) => transcript).map(transcript),
    '</article>',
  ].join('\n');
}

function clientOutput(client: ClientRunSummary): string {
  return `<details><summary>Output of the client</summary><pre tabindex="0">${e(describeClientRun(client))}</pre></details>`;
}

function transcript(result: ConformanceResult): string {
  return `<details><summary>Transcript of ${variantKey(result)}</summary>${(result.transcript ?? []).map(exchange).join('')}</details>`;
}

function exchange({ request, response, end, duration_ms }: TranscriptEntry): string {
  const headers = (all: Readonly<Record<string, string>>): string =>
    Object.entries(all)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n');
  const requestLines = [
    `${request.method} ${request.url}`,
    headers(request.headers),
    '',
    indentJson(request.body ?? ''),
  ];
  const events = (response.events ?? []).map(({ at, text }) => `+${at} ms\n${text}\n`);
  const responseLines = [
    response.status === 0 ? 'no response' : `HTTP ${response.status}`,
    headers(response.headers),
    '',
    ...(events.length > 0 ? events : [indentJson(response.body)]),
    ...(response.trailers ? ['', 'trailers', headers(response.trailers)] : []),
    ...(end === undefined ? [] : [`(${end})`]),
  ];
  return `<pre tabindex="0">${e(requestLines.join('\n').trimEnd())}</pre><div class="dim">response after ${duration_ms} ms</div><pre tabindex="0">${e(responseLines.join('\n').trimEnd())}</pre>`;
}

const symbols: { readonly [verdict: string]: string } = {
  pass: '✓ pass',
  fail: '✗ fail',
  warn: '! warn',
  'not-applicable': '– n/a',
  inconclusive: '? inconclusive',
  error: '⚠ error',
};

function ruleTable(results: readonly ConformanceResult[]): string {
  const variants = [...new Set(results.map(variantKey))];
  const rows = [...groupBy(results, ({ test }) => test)].map(([id, all]) => {
    const [first] = all;
    const isViolated = all.some(({ verdict: each }) => each === 'fail' || each === 'warn');
    const name = isViolated ? `<a href="#rule-${e(id)}"><code>${e(id)}</code></a>` : `<code>${e(id)}</code>`;
    const cells = variants.map((variant) => {
      const result = all.find((each) => variantKey(each) === variant);
      if (!result) return '<td class="cell dim"></td>';
      return `<td class="cell ${result.verdict}" title="${e(result.message ?? '')}">${symbols[result.verdict] ?? result.verdict}</td>`;
    });
    const verdicts = [...new Set(all.map((each) => each.verdict))].join(' ');
    return `<tr data-verdicts="${verdicts}"><th scope="row">${name}<div class="dim">${e(first?.rule ?? '')}</div></th><td>${first?.level ?? ''}</td><td>${e(first?.section ?? '')}</td>${cells.join('')}</tr>`;
  });
  const heads = variants.map((variant) => `<th scope="col">${variant}</th>`).join('');
  const choices = Object.keys(symbols)
    .map((each) => `<option>${each}</option>`)
    .join('');
  return `<section id="rules"><h2>All rules</h2><div class="filter"><input id="find" type="search" placeholder="Filter by id, text or section" aria-label="Filter rules"><select id="only" aria-label="Verdict"><option value="">all verdicts</option>${choices}</select><span id="shown" class="dim" role="status"></span></div><div class="scroll" role="region" tabindex="0" aria-label="All rules"><table><thead><tr><th scope="col">Rule</th><th scope="col">Level</th><th scope="col">Section</th>${heads}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div></section>`;
}

function inconclusive(results: readonly ConformanceResult[]): string {
  const groups = groupBy(
    results.filter(({ verdict: each }) => each === 'inconclusive' || each === 'error'),
    ({ message = '' }) => message,
  );
  const rows = [...groups].map(
    ([reason, all]) =>
      `<tr><td>${e(reason)}</td><td>${all.map((each) => `<code>${e(each.test)}</code> <span class="dim">${variantKey(each)}</span>`).join('<br>')}</td></tr>`,
  );
  const table = `<div class="scroll" role="region" tabindex="0" aria-label="Inconclusive rules"><table><thead><tr><th scope="col">Reason</th><th scope="col">Rules</th></tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`;
  return `<section id="inconclusive"><h2>Inconclusive rules</h2>${rows.length === 0 ? '<p>None.</p>' : table}</section>`;
}

function cards({ cards: published }: ConformanceReport): string {
  const all = published.map(
    ({ url, version, card }) =>
      `<details><summary>${version} card at <code>${e(url)}</code></summary><pre tabindex="0">${e(JSON.stringify(card, undefined, 2))}</pre></details>`,
  );
  return `<section id="card"><h2>Card</h2>${all.length === 0 ? '<p>No card.</p>' : all.join('\n')}</section>`;
}

function timings(results: readonly ConformanceResult[]): string {
  const slowest = results
    .filter(({ duration_ms = 0 }) => duration_ms > 0)
    .toSorted((a, b) => (b.duration_ms ?? 0) - (a.duration_ms ?? 0))
    .slice(0, 15);
  const rows = slowest.map(
    (each) =>
      `<tr><td><code>${e(each.test)}</code></td><td>${variantKey(each)}</td><td>${each.duration_ms} ms</td></tr>`,
  );
  return `<section id="timings"><h2>Slowest rules</h2><div class="scroll" role="region" tabindex="0" aria-label="Slowest rules"><table><thead><tr><th scope="col">Rule</th><th scope="col">Variant</th><th scope="col">Time</th></tr></thead><tbody>${rows.join('\n')}</tbody></table></div></section>`;
}

function provenance({ provenance: values }: ConformanceReport): string {
  const rows = Object.entries(values).map(
    ([name, value]) => `<dt>${name}</dt><dd><code>${e(String(value))}</code></dd>`,
  );
  return `<section id="provenance"><h2>Provenance</h2><dl>${rows.join('')}</dl><p class="dim">Credentials are redacted in this report.</p></section>`;
}

/** Indents JSON of at most 20,000 characters; returns other text unchanged. */
function indentJson(text: string): string {
  try {
    return text.length > 20_000 ? text : JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

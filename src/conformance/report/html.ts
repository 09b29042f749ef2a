import { escapeXml as e } from '../../primitives/formats/escape-xml.ts';
import { renderHtmlPage } from './html-page.ts';
import { type ConformanceReport, type ConformanceResult, variantKey, listResults } from './build-report.ts';
import type { TranscriptEntry } from './transcript.ts';
import { type GroupedFinding, groupFindings, specificationUrl } from './report-text.ts';

/** The report as one page for people: what it is worth, what to mend first, and the evidence. */
export function htmlReport(report: ConformanceReport): string {
  const results = listResults(report);
  const body = [
    head(report),
    '<main>',
    verdict(report),
    ...report.warnings.map((each) => `<p class="loud" role="alert"><b>Read this first:</b> ${e(each)}</p>`),
    fixes(groupFindings(report)),
    matrix(results),
    open(results),
    cards(report),
    timings(results),
    provenance(report),
    '</main>',
  ];
  return renderHtmlPage(`${report.agentName}: A2A conformance`, body.join('\n'));
}

function head({ agentName, agentVersion, agentUrl, testDate }: ConformanceReport): string {
  const links = ['fix', 'matrix', 'open', 'card', 'timings', 'provenance'].map(
    (each) => `<a href="#${each}">${each}</a>`,
  );
  return `<header><h1>${e(agentName)} <span class="dim">${e(agentVersion)}</span></h1><div class="dim"><code>${e(agentUrl)}</code> · ${e(testDate)}</div><nav>${links.join(' · ')}</nav></header>`;
}

function verdict({ conformanceLevel, summary, variants: lanes, unreachable }: ConformanceReport): string {
  if (unreachable !== undefined)
    return `<div class="verdict none"><strong>No verdict</strong><span>${e(unreachable)}</span></div>`;
  const counts: [string, number, string][] = [
    ['looked at', summary.total, ''],
    ['broken', summary.failed, 'fail'],
    ['to be improved', summary.warned, 'warn'],
    ['not applicable', summary.notApplicable, ''],
    ['inconclusive', summary.inconclusive, ''],
    ...(summary.errors > 0
      ? [['errors of the suite', summary.errors, 'fail'] as [string, number, string]]
      : []),
  ];
  const where = lanes.map((each) => `<span class="tag">${variantKey(each)}</span>`).join(' ');
  const told = counts.map(
    ([what, count, name]) =>
      `<span class="count"><b class="${count > 0 ? name : ''}">${count}</b> ${what}</span>`,
  );
  return `<div class="verdict ${conformanceLevel}"><strong>${conformanceLevel}</strong>${where} ${told.join(' ')}</div>`;
}

function fixes(findings: readonly GroupedFinding[]): string {
  const list = findings.length === 0 ? '<p>Nothing. Every rule that could be tried holds.</p>' : '';
  return `<section id="fix"><h2>What to fix first</h2>${list}${findings.map(finding).join('\n')}</section>`;
}

function finding({ first, all }: GroupedFinding): string {
  const isFail = all.some(({ status }) => status === 'fail');
  const where = [...new Set(all.map(variantKey))].map((each) => `<span class="tag">${each}</span>`).join(' ');
  const rows: [string, string | undefined][] = [
    ['seen', first.message],
    ['expected', first.expected],
    ['got', first.actual],
    ['to do', first.remediation],
    ['text', `${specificationUrl(first)} · ${first.requirements.join(', ')}`],
  ];
  const told = rows
    .filter(([, value]) => value !== undefined)
    .map(([name, value = '']) => `<dt>${name}</dt><dd>${e(value)}</dd>`);
  const also = (first.otherViolations ?? []).map((each) => `<li>${e(each)}</li>`).join('');
  return [
    `<article class="finding ${isFail ? '' : 'is-warn'}" id="rule-${e(first.test)}">`,
    `<header><h3><code>${e(first.test)}</code></h3><span class="tag ${isFail ? 'fail' : 'warn'}">${first.level}</span>${where}</header>`,
    `<div>${e(first.rule)}</div><dl>${told.join('')}</dl>`,
    also === ''
      ? ''
      : `<details><summary>${first.otherViolations?.length} more of the kind</summary><ul>${also}</ul></details>`,
    first.curl === undefined
      ? ''
      : `<details><summary>Try it: curl</summary><pre tabindex="0">${e(first.curl)}</pre></details>`,
    ...all.filter(({ transcript }) => transcript).map(transcript),
    '</article>',
  ].join('\n');
}

function transcript(result: ConformanceResult): string {
  return `<details><summary>Transcript on ${variantKey(result)}</summary>${(result.transcript ?? []).map(turn).join('')}</details>`;
}

function turn({ request, response, end, duration_ms }: TranscriptEntry): string {
  const headers = (all: Readonly<Record<string, string>>): string =>
    Object.entries(all)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n');
  const asked = [
    `${request.method} ${request.url}`,
    headers(request.headers),
    '',
    pretty(request.body ?? ''),
  ];
  const events = (response.events ?? []).map(({ at, text }) => `+${at} ms\n${text}\n`);
  const answered = [
    response.status === 0 ? 'no answer' : `HTTP ${response.status}`,
    headers(response.headers),
    '',
    ...(events.length > 0 ? events : [pretty(response.body)]),
    ...(end === undefined ? [] : [`(${end})`]),
  ];
  return `<pre tabindex="0">${e(asked.join('\n').trimEnd())}</pre><div class="dim">answered in ${duration_ms} ms</div><pre tabindex="0">${e(answered.join('\n').trimEnd())}</pre>`;
}

const signs: { readonly [verdict: string]: string } = {
  pass: '✓ pass',
  fail: '✗ fail',
  warn: '! warn',
  'not-applicable': '– n/a',
  inconclusive: '? open',
  error: '⚠ error',
};

function matrix(results: readonly ConformanceResult[]): string {
  const lanes = [...new Set(results.map(variantKey))];
  const rules = new Map<string, ConformanceResult[]>();
  for (const each of results) rules.set(each.test, [...(rules.get(each.test) ?? []), each]);
  const rows = [...rules].map(([id, all]) => {
    const [first] = all;
    const isBroken = all.some(({ verdict: each }) => each === 'fail' || each === 'warn');
    const name = isBroken ? `<a href="#rule-${e(id)}"><code>${e(id)}</code></a>` : `<code>${e(id)}</code>`;
    const cells = lanes.map((lane) => {
      const own = all.find((each) => variantKey(each) === lane);
      if (!own) return '<td class="cell dim"></td>';
      return `<td class="cell ${own.verdict}" title="${e(own.message ?? '')}">${signs[own.verdict] ?? own.verdict}</td>`;
    });
    const verdicts = [...new Set(all.map((each) => each.verdict))].join(' ');
    return `<tr data-verdicts="${verdicts}"><th scope="row">${name}<div class="dim">${e(first?.rule ?? '')}</div></th><td>${first?.level ?? ''}</td><td>${e(first?.section ?? '')}</td>${cells.join('')}</tr>`;
  });
  const heads = lanes.map((lane) => `<th scope="col">${lane}</th>`).join('');
  const choices = Object.keys(signs)
    .map((each) => `<option>${each}</option>`)
    .join('');
  return `<section id="matrix"><h2>Every rule</h2><div class="filter"><input id="find" type="search" placeholder="Filter by id, words or section" aria-label="Filter rules"><select id="only" aria-label="Verdict"><option value="">every verdict</option>${choices}</select><span id="shown" class="dim" role="status"></span></div><div class="scroll" role="region" tabindex="0" aria-label="Every rule"><table><thead><tr><th scope="col">Rule</th><th scope="col">Level</th><th scope="col">Section</th>${heads}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div></section>`;
}

function open(results: readonly ConformanceResult[]): string {
  const groups = new Map<string, ConformanceResult[]>();
  for (const each of results) {
    if (each.verdict !== 'inconclusive' && each.verdict !== 'error') continue;
    const why = each.message ?? '';
    groups.set(why, [...(groups.get(why) ?? []), each]);
  }
  const rows = [...groups].map(
    ([why, all]) =>
      `<tr><td>${e(why)}</td><td>${all.map((each) => `<code>${e(each.test)}</code> <span class="dim">${variantKey(each)}</span>`).join('<br>')}</td></tr>`,
  );
  const table = `<div class="scroll" role="region" tabindex="0" aria-label="What could not be learned"><table><thead><tr><th scope="col">Why, and what to do</th><th scope="col">Rules</th></tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`;
  return `<section id="open"><h2>What could not be learned</h2>${rows.length === 0 ? '<p>Nothing was left open.</p>' : table}</section>`;
}

function cards({ cards: shown }: ConformanceReport): string {
  const all = shown.map(
    ({ url, version, card }) =>
      `<details><summary>${version} card at <code>${e(url)}</code></summary><pre tabindex="0">${e(JSON.stringify(card, undefined, 2))}</pre></details>`,
  );
  return `<section id="card"><h2>Card</h2>${all.length === 0 ? '<p>There is none.</p>' : all.join('\n')}</section>`;
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
  return `<section id="timings"><h2>What took longest</h2><div class="scroll" role="region" tabindex="0" aria-label="What took longest"><table><thead><tr><th scope="col">Rule</th><th scope="col">Where</th><th scope="col">Time</th></tr></thead><tbody>${rows.join('\n')}</tbody></table></div></section>`;
}

function provenance({ provenance: facts }: ConformanceReport): string {
  const rows = Object.entries(facts).map(
    ([name, value]) => `<dt>${name}</dt><dd><code>${e(String(value))}</code></dd>`,
  );
  return `<section id="provenance"><h2>Provenance</h2><dl>${rows.join('')}</dl><p class="dim">Credentials were removed from everything above.</p></section>`;
}

/** JSON on lines of its own; anything else as it is. */
function pretty(text: string): string {
  try {
    return text.length > 20_000 ? text : JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

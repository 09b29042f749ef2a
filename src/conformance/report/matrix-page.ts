import type { InteropResult } from '../interop/interop-matrix.ts';
import { escapeXml as e } from '../../primitives/formats/escape-xml.ts';
import { renderHtmlPage } from './html-page.ts';

const symbols = { pass: '✓', fail: '✗', inconclusive: '?' } as const;

/** Renders the results of an interoperability matrix as an HTML page. */
export function formatMatrixPage(
  agents: readonly { name: string; url: string; variants: string }[],
  results: readonly InteropResult[],
): string {
  const heads = agents.map(({ name }) => `<th scope="col">${e(name)}</th>`).join('');
  const rows = agents.map((from, row) => {
    const cells = agents.map((_to, column) => {
      const result = results.find((each) => each.from === row && each.to === column);
      if (!result) return '<td class="cell dim">–</td>';
      const variants = result.common.length > 0 ? result.common.join(', ') : 'no common variant';
      const directly = result.delegation
        ? `<div class="${result.delegation.verdict}" title="${e(result.delegation.message)}">${symbols[result.delegation.verdict]} directly</div>`
        : '';
      return `<td class="cell ${result.verdict}" title="${e(result.message)}">${symbols[result.verdict]} ${result.verdict}${directly}<div class="dim">${e(variants)}</div></td>`;
    });
    return `<tr><th scope="row">${e(from.name)}<div class="dim"><code>${e(from.url)}</code><br>${e(from.variants)}</div></th>${cells.join('')}</tr>`;
  });
  const hasPassed = ({ verdict, delegation }: InteropResult): boolean =>
    verdict === 'pass' && delegation?.verdict !== 'fail';
  const list = results.flatMap(({ from, to, verdict, message, delegation }) => {
    const pair = `<b>${e(agents[from]?.name ?? '')} → ${e(agents[to]?.name ?? '')}</b>`;
    if (verdict !== 'pass') return [`<li>${pair}: ${e(message)}</li>`];
    return delegation && delegation.verdict !== 'pass'
      ? [`<li>${pair}, directly: ${e(delegation.message)}</li>`]
      : [];
  });
  const passed = results.filter(hasPassed).length;
  return renderHtmlPage(
    'A2A interoperability',
    `<header><h1>A2A interoperability</h1></header><main><div class="verdict ${passed === results.length ? 'full' : 'partial'}"><strong>${passed} of ${results.length}</strong><span>The response of the agent in the row is sent to the agent in the column, which must respond to it. An agent that can call other agents must also call the other one itself (directly).</span></div><div class="scroll" role="region" tabindex="0" aria-label="Interoperability matrix"><table><thead><tr><th scope="col">from</th>${heads}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>${list.length === 0 ? '' : `<h2>Problems</h2><ul>${list.join('')}</ul>`}</main>`,
  );
}

import type { InteropResult } from '../interop/interop-matrix.ts';
import { escapeXml as e } from '../../primitives/formats/escape-xml.ts';
import { renderHtmlPage } from './html-page.ts';

const signs = { pass: '✓', fail: '✗', open: '?' } as const;

/** Who gets on with whom, as one page. */
export function formatMatrixPage(
  agents: readonly { name: string; url: string; variants: string }[],
  meetings: readonly InteropResult[],
): string {
  const heads = agents.map(({ name }) => `<th scope="col">${e(name)}</th>`).join('');
  const rows = agents.map((from, row) => {
    const cells = agents.map((_to, column) => {
      const met = meetings.find((each) => each.from === row && each.to === column);
      if (!met) return '<td class="cell dim">–</td>';
      const words = met.common.length > 0 ? met.common.join(', ') : 'only by translation';
      const directly = met.direct
        ? `<div class="${met.direct.verdict}" title="${e(met.direct.message)}">${signs[met.direct.verdict]} directly</div>`
        : '';
      return `<td class="cell ${met.verdict}" title="${e(met.message)}">${signs[met.verdict]} ${met.verdict}${directly}<div class="dim">${e(words)}</div></td>`;
    });
    return `<tr><th scope="row">${e(from.name)}<div class="dim"><code>${e(from.url)}</code><br>${e(from.variants)}</div></th>${cells.join('')}</tr>`;
  });
  const isGood = ({ verdict, direct }: InteropResult): boolean =>
    verdict === 'pass' && direct?.verdict !== 'fail';
  const list = meetings.flatMap(({ from, to, verdict, message, direct }) => {
    const pair = `<b>${e(agents[from]?.name ?? '')} → ${e(agents[to]?.name ?? '')}</b>`;
    if (verdict !== 'pass') return [`<li>${pair}: ${e(message)}</li>`];
    return direct && direct.verdict !== 'pass' ? [`<li>${pair}, directly: ${e(direct.message)}</li>`] : [];
  });
  const good = meetings.filter(isGood).length;
  return renderHtmlPage(
    'A2A interoperability',
    `<header><h1>Who gets on with whom</h1></header><main><div class="verdict ${good === meetings.length ? 'full' : 'partial'}"><strong>${good} of ${meetings.length}</strong><span>What the agent of a row answers is sent to the agent of a column, which has to answer it. Where the first can ask others, it also has to do so by itself: directly.</span></div><div class="scroll" role="region" tabindex="0" aria-label="Who gets on with whom"><table><thead><tr><th scope="col">from</th>${heads}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>${list.length === 0 ? '' : `<h2>What went wrong</h2><ul>${list.join('')}</ul>`}</main>`,
  );
}

import { escapeXml } from '../../primitives/formats/escape-xml.ts';
import type { ConformanceReport } from './build-report.ts';

const colors = {
  full: '#1a7f37',
  partial: '#7a6a00',
  minimal: '#b35900',
  'non-conformant': '#b62324',
} as const;

/** Renders an SVG badge with the conformance level and the tested versions. */
export function formatBadge({ conformanceLevel, variants, unreachable }: ConformanceReport): string {
  const versions = [...new Set(variants.map(({ version }) => version))].join(', ');
  const left = versions === '' ? 'A2A' : `A2A ${versions}`;
  const right = unreachable === undefined ? conformanceLevel : 'unreachable';
  const color = unreachable === undefined ? colors[conformanceLevel] : '#57606a';
  const textWidth = (text: string): number => Math.round(text.length * 6.6) + 12;
  const [a, b] = [textWidth(left), textWidth(right)];
  const label = escapeXml(`${left}: ${right}`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${a + b}" height="20" role="img" aria-label="${label}"><title>${label}</title><clipPath id="r"><rect width="${a + b}" height="20" rx="3"/></clipPath><g clip-path="url(#r)"><rect width="${a}" height="20" fill="#24292f"/><rect x="${a}" width="${b}" height="20" fill="${color}"/></g><g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle"><text x="${a / 2}" y="14" textLength="${a - 12}">${escapeXml(left)}</text><text x="${a + b / 2}" y="14" textLength="${b - 12}">${escapeXml(right)}</text></g></svg>\n`;
}

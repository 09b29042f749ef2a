import { createHash } from 'node:crypto';
import { escapeXml } from '../../primitives/formats/escape-xml.ts';
import { htmlReportScript, htmlReportStyle } from './html-style.ts';

/**
 * Renders a self-contained HTML page that loads no other resources. Its content security policy allows only the style
 * and the script of the report, by digest, so that text of an agent cannot be executed.
 */
export function renderHtmlPage(title: string, body: string): string {
  const digest = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = `default-src 'none'; style-src ${digest(htmlReportStyle)}; script-src ${digest(htmlReportScript)}; base-uri 'none'; form-action 'none'`;
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${escapeXml(title)}</title>`,
    `<style>${htmlReportStyle}</style>`,
    '</head>',
    `<body>${body}`,
    `<script>${htmlReportScript}</script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

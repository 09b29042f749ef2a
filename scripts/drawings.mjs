// Generates the drawings of docs/images/ (or of FOLDER): node scripts/drawings.mjs [FOLDER]
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2] ?? 'docs/images';

const style = `
  :root { --ink: #1f2328; --soft: #59636e; --line: #818b98; --box: #f6f8fa; --edge: #d1d9e0; --mark: #0a6c74;
    --wait: #9a5b00; --good: #1a7f37; --bad: #b3261e; --paper: #ffffff; }
  @media (prefers-color-scheme: dark) {
    :root { --ink: #e6edf3; --soft: #9ba6b2; --line: #7d8590; --box: #161b22; --edge: #3d444d; --mark: #4fc3cc;
      --wait: #e3a64a; --good: #4ac26b; --bad: #ff8a80; --paper: #0d1117; }
  }
  text { font-family: system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: var(--ink); }
  .title { font-size: 15px; font-weight: 600; }
  .says { font-size: 13.5px; fill: var(--soft); }
  .file { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, monospace; font-size: 12.5px; fill: var(--mark); }
  .number { font-size: 13px; font-weight: 700; fill: var(--paper); text-anchor: middle; }
  .dot { fill: var(--mark); }
  .box { fill: var(--box); stroke: var(--edge); stroke-width: 1.2; }
  .strong { stroke: var(--mark); stroke-width: 1.6; }
  .note { fill: none; stroke: var(--line); stroke-width: 1; stroke-dasharray: 4 4; }
  .way { fill: none; stroke: var(--line); stroke-width: 1.6; marker-end: url(#tip); }
  .tip { fill: var(--line); }
  .paper { fill: var(--paper); }
  .middle { text-anchor: middle; } .end { text-anchor: end; }
  .wait { fill: var(--wait); } .good { fill: var(--good); } .bad { fill: var(--bad); }
`;

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const text = (x, y, content, kind) => `<text x="${x}" y="${y}" class="${kind}">${escape(content)}</text>`;
const arrow = (path) => `<path class="way" d="${path}"/>`;
const box = (x, y, width, height, kind = 'box') =>
  `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>`;

function drawing(width, height, title, description, parts) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description">
<title id="title">${escape(title)}</title>
<desc id="description">${escape(description)}</desc>
<style>${style}</style>
<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path class="tip" d="M0 0 10 5 0 10z"/></marker></defs>
${box(0, 0, width, height, 'paper')}
${parts.join('\n')}
</svg>
`;
}

/** A numbered step with the files that implement it and one note. */
function step(x, y, width, { number, title, file, note, kind = 'box' }) {
  return [
    box(x, y, width, 78, kind),
    `<circle class="dot" cx="${x + 22}" cy="${y + 22}" r="12"/>`,
    text(x + 22, y + 26.5, String(number), 'number'),
    text(x + 44, y + 27, title, 'title'),
    text(x + 16, y + 47, file, 'file'),
    text(x + 16, y + 67, note, 'says'),
  ].join('\n');
}

function requestLifecycle() {
  const [left, right, width] = [20, 460, 400];
  const row = (n) => 92 + n * 100;
  const down = [
    {
      number: 1,
      title: 'Receive the request',
      file: 'server/fast-path/  server/node/serve.ts  server/fetch.ts',
      note: 'Limits on size, time and rate.',
    },
    {
      number: 2,
      title: 'Route by method and path',
      file: 'server/http/agent-http-handler.ts',
      note: 'Card, health, metrics, JSON-RPC or REST.',
    },
    {
      number: 3,
      title: 'Determine version and operation',
      file: 'server/http/json-rpc.ts  server/http/rest.ts',
      note: 'dialects/negotiation.ts reads A2A-Version, method, path.',
    },
    {
      number: 4,
      title: 'Decode the request into the model',
      file: 'dialects/vX/requests.ts',
      note: 'Strict. An error names the field.',
    },
    {
      number: 5,
      title: 'Call the agent',
      file: 'server/operations/execute.ts',
      note: 'Any implementation of protocol/agent.ts.',
    },
    {
      number: 6,
      title: 'Classify the message',
      file: 'engine/messages/classify-message.ts',
      note: 'It starts a task, continues one or is a duplicate.',
    },
    {
      number: 7,
      title: 'Execute the process function',
      file: 'engine/runs/task-run.ts',
      note: 'Its output becomes events.',
    },
  ];
  const parts = [
    box(left, 16, 840, 44, 'box'),
    text(440, 43, 'Client of any A2A version, over JSON-RPC or REST', 'title middle'),
    ...down.map((each, n) => step(left, row(n), width, each)),
    ...down.map((_, n) => arrow(`M${left + 200} ${n === 0 ? 60 : row(n) - 22} V${row(n) - 2}`)),
    arrow(`M${left + 200} ${row(6) + 78} V${row(7) - 2}`),
    step(left, row(7), 840, {
      number: 8,
      title: 'Store each event with the next sequence number before publishing it',
      file: 'store/',
      note: 'In memory or in a file. Clients never see an event that a crash could undo.',
      kind: 'box strong',
    }),
    // The response, on the right.
    step(right, row(3), width, {
      number: 9,
      title: 'Encode the model',
      file: 'dialects/vX/event.ts  dialects/vX/results.ts',
      note: 'Translation losses are preserved or reported.',
    }),
    step(right, row(2), width, {
      number: 9,
      title: 'Serialize once per version',
      file: 'server/operations/serialization-cache.ts',
      note: 'All subscribers of a version share the text.',
    }),
    step(right, row(0), width, {
      number: 10,
      title: 'Send the response or the SSE frames',
      file: 'server/http/sse-stream.ts',
      note: 'id: is the sequence number. Backpressure per client.',
    }),
    arrow(`M${right + 200} ${row(7)} V${row(3) + 80}`),
    arrow(`M${right + 200} ${row(3)} V${row(2) + 80}`),
    arrow(`M${right + 200} ${row(2)} V${row(0) + 80}`),
    arrow(`M${right + 200} ${row(0)} V62`),
    // The boundary between wire and model.
    `<path class="note" d="M${left} ${row(4) - 11} H860"/>`,
    box(right + 26, row(4) + 14, 348, 118, 'paper'),
    box(right + 26, row(4) + 14, 348, 118, 'note'),
    text(right + 200, row(4) + 40, 'Above the line: wire format of the client.', 'says middle'),
    text(right + 200, row(4) + 60, 'Below it: the model, the same for all versions.', 'says middle'),
    text(right + 200, row(4) + 88, 'Steps 6 to 8 may be a remote agent,', 'says middle'),
    text(right + 200, row(4) + 108, 'an agent on a mesh or a mock agent instead.', 'says middle'),
    box(right + 108, row(6) + 26, 184, 28, 'paper'),
    text(right + 200, row(6) + 45, 'subscribers read the log', 'says middle'),
  ];
  return drawing(
    880,
    890,
    'Request lifecycle',
    'A request passes eight steps: receive, route, determine version and operation, decode into the model, call the agent, ' +
      'classify the message, execute the process function, and store numbered events in the task store. The response is ' +
      'encoded in the version of the client, serialized once for all subscribers, and sent as a response or as SSE frames.',
    parts,
  );
}

function taskStates() {
  const state = (x, y, name, note, kind = '') =>
    [
      box(x, y, 180, 56, 'box'),
      text(x + 90, y + 24, name, `title middle ${kind}`),
      text(x + 90, y + 43, note, 'says middle'),
    ].join('\n');
  const parts = [
    `<circle class="dot" cx="30" cy="178" r="9"/>`,
    arrow('M40 178 H68'),
    state(70, 150, 'submitted', 'accepted, not started'),
    arrow('M250 178 H338'),
    state(340, 150, 'working', 'the agent is running'),
    state(340, 20, 'input-required', 'waits for a message', 'wait'),
    state(340, 280, 'auth-required', 'waits for a login', 'wait'),
    arrow('M400 150 V78'),
    arrow('M460 76 V148'),
    arrow('M400 206 V278'),
    arrow('M460 280 V208'),
    text(392, 118, 'asks', 'says end'),
    text(468, 118, 'next message', 'says'),
    text(392, 248, 'asks', 'says end'),
    text(468, 248, 'next message', 'says'),
    state(680, 20, 'completed', 'result available', 'good'),
    state(680, 107, 'failed', 'error or timeout', 'bad'),
    state(680, 194, 'canceled', 'stopped by a client', 'bad'),
    state(680, 281, 'rejected', 'declined by the agent', 'bad'),
    `<path class="way" style="marker-end:none" d="M520 178 H610"/>`,
    arrow('M610 178 V48 H678'),
    arrow('M610 135 H678'),
    arrow('M610 178 V222 H678'),
    arrow('M610 222 V309 H678'),
    text(
      440,
      372,
      'Every state on the left can lead to a terminal state. A terminal state is final.',
      'says middle',
    ),
  ];
  return drawing(
    880,
    392,
    'Task states',
    'A task is submitted, then working. It may become input-required or auth-required and returns to working with the ' +
      'next message. It ends as completed, failed, canceled or rejected, from any other state; these states are final.',
    parts,
  );
}

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'request-lifecycle.svg'), requestLifecycle());
writeFileSync(join(folder, 'task-states.svg'), taskStates());

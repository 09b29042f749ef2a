// Draws docs/images/: the life of a request, and the states of a task. `node scripts/drawings.mjs FOLDER` draws elsewhere.
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
const text = (x, y, words, kind) => `<text x="${x}" y="${y}" class="${kind}">${escape(words)}</text>`;
const way = (path) => `<path class="way" d="${path}"/>`;
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

/** A numbered step: what is done, in which files, and what of it matters. */
function step(x, y, width, { number, title, file, says, kind = 'box' }) {
  return [
    box(x, y, width, 78, kind),
    `<circle class="dot" cx="${x + 22}" cy="${y + 22}" r="12"/>`,
    text(x + 22, y + 26.5, String(number), 'number'),
    text(x + 44, y + 27, title, 'title'),
    text(x + 16, y + 47, file, 'file'),
    text(x + 16, y + 67, says, 'says'),
  ].join('\n');
}

function lifeCycle() {
  const [left, right, width] = [20, 460, 400];
  const row = (n) => 92 + n * 100;
  const down = [
    {
      number: 1,
      title: 'Takes the request off the socket',
      file: 'server/node.ts  server/fetch.ts',
      says: 'Within limits of size, time and number.',
    },
    {
      number: 2,
      title: 'Looks at method and path',
      file: 'server/handler.ts',
      says: 'Card, health, JSON-RPC or REST. It never rejects.',
    },
    {
      number: 3,
      title: 'Finds the version and the operation',
      file: 'server/json-rpc.ts  server/rest.ts',
      says: 'dialects/choose.ts looks at A2A-Version, method, path.',
    },
    {
      number: 4,
      title: 'Reads the wire into the model',
      file: 'dialects/vX/requests.ts',
      says: 'Strictly: what is wrong is told with its field.',
    },
    {
      number: 5,
      title: 'Calls the agent',
      file: 'server/operate.ts  protocol/agent.ts',
      says: 'Any Agent. Here, one that was defined.',
    },
    {
      number: 6,
      title: 'Admits the message',
      file: 'engine/local-agent.ts  engine/admission.ts',
      says: 'It begins a task, goes on with one, or was heard.',
    },
    {
      number: 7,
      title: 'Runs your function',
      file: 'engine/run.ts',
      says: 'What it yields becomes events.',
    },
  ];
  const parts = [
    box(left, 16, 840, 44, 'box'),
    text(440, 43, 'A caller, in any version of A2A, over JSON-RPC or REST', 'title middle'),
    ...down.map((each, n) => step(left, row(n), width, each)),
    ...down.map((_, n) => way(`M${left + 200} ${n === 0 ? 60 : row(n) - 22} V${row(n) - 2}`)),
    way(`M${left + 200} ${row(6) + 78} V${row(7) - 2}`),
    step(left, row(7), 840, {
      number: 8,
      title: 'Stores each event with the next sequence number, before anybody sees it',
      file: 'ledger/',
      says: 'In memory or in a file. Nobody is ever shown what a crash could take back.',
      kind: 'box strong',
    }),
    // The way back, on the right.
    step(right, row(3), width, {
      number: 9,
      title: 'Writes the model as wire',
      file: 'dialects/vX/event.ts  dialects/vX/results.ts',
      says: 'What the version cannot say is kept or reported.',
    }),
    step(right, row(2), width, {
      number: 9,
      title: 'Once for all readers',
      file: 'server/texts.ts',
      says: 'A thousand readers of a version share one text.',
    }),
    step(right, row(0), width, {
      number: 10,
      title: 'Sends the answer, or frames of a stream',
      file: 'server/sse.ts',
      says: 'id: is the sequence number. Slow readers wait alone.',
    }),
    way(`M${right + 200} ${row(7)} V${row(3) + 80}`),
    way(`M${right + 200} ${row(3)} V${row(2) + 80}`),
    way(`M${right + 200} ${row(2)} V${row(0) + 80}`),
    way(`M${right + 200} ${row(0)} V62`),
    // Where the words change.
    `<path class="note" d="M${left} ${row(4) - 11} H860"/>`,
    box(right + 26, row(4) + 14, 348, 118, 'paper'),
    box(right + 26, row(4) + 14, 348, 118, 'note'),
    text(right + 200, row(4) + 40, 'Above the line: the words of the caller.', 'says middle'),
    text(right + 200, row(4) + 60, 'Below it: the model, the same for all.', 'says middle'),
    text(right + 200, row(4) + 88, 'Instead of 6 to 8 there may be an agent at a URL,', 'says middle'),
    text(right + 200, row(4) + 108, 'on a mesh, or in a test: they are Agents too.', 'says middle'),
    box(right + 118, row(6) + 26, 164, 28, 'paper'),
    text(right + 200, row(6) + 45, 'readers follow the log', 'says middle'),
  ];
  return drawing(
    880,
    890,
    'The life of one request',
    'A request comes down in eight steps: off the socket, by method and path, by version and operation, read into the ' +
      'model, to the agent, admitted, run, and stored as numbered events in the ledger. The answer goes back up: ' +
      'written in the version of the caller, once for all readers, and sent as an answer or as frames of a stream.',
    parts,
  );
}

function taskStates() {
  const state = (x, y, name, says, kind = '') =>
    [
      box(x, y, 180, 56, 'box'),
      text(x + 90, y + 24, name, `title middle ${kind}`),
      text(x + 90, y + 43, says, 'says middle'),
    ].join('\n');
  const parts = [
    `<circle class="dot" cx="30" cy="178" r="9"/>`,
    way('M40 178 H68'),
    state(70, 150, 'submitted', 'taken, not begun'),
    way('M250 178 H338'),
    state(340, 150, 'working', 'the agent is at it'),
    state(340, 20, 'input-required', 'waits for words', 'wait'),
    state(340, 280, 'auth-required', 'waits for a log-in', 'wait'),
    way('M400 150 V78'),
    way('M460 76 V148'),
    way('M400 206 V278'),
    way('M460 280 V208'),
    text(392, 118, 'asks', 'says end'),
    text(468, 118, 'next message', 'says'),
    text(392, 248, 'asks', 'says end'),
    text(468, 248, 'next message', 'says'),
    state(680, 20, 'completed', 'it is done', 'good'),
    state(680, 107, 'failed', 'it went wrong', 'bad'),
    state(680, 194, 'canceled', 'somebody said stop', 'bad'),
    state(680, 281, 'rejected', 'the agent will not', 'bad'),
    `<path class="way" style="marker-end:none" d="M520 178 H610"/>`,
    way('M610 178 V48 H678'),
    way('M610 135 H678'),
    way('M610 178 V222 H678'),
    way('M610 222 V309 H678'),
    text(
      440,
      372,
      'A task can end from every state on the left; most end from working. Nothing follows an end.',
      'says middle',
    ),
  ];
  return drawing(
    880,
    392,
    'The states of a task',
    'A task is submitted, then working. From working it may wait as input-required or auth-required and go back to ' +
      'working with the next message. It ends as completed, failed, canceled or rejected; it can do so from every other state, and nothing follows.',
    parts,
  );
}

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'request-lifecycle.svg'), lifeCycle());
writeFileSync(join(folder, 'task-states.svg'), taskStates());

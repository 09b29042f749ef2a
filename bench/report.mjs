// Turns results into the table of docs/performance.md: ratios with their spread, and nothing that depends on the machine alone.

const median = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};
const round = (number) =>
  number >= 100 ? number.toFixed(0) : number >= 10 ? number.toFixed(1) : number.toFixed(2);
const spread = (numbers) =>
  numbers.length === 0
    ? '–'
    : `${round(median(numbers))} (${round(Math.min(...numbers))} – ${round(Math.max(...numbers))})`;

/** Medians of the rounds of each client, and the ratio to the official one. */
export function clientRows(rows) {
  return { client: rows };
}

/** The ratios of one figure between two targets, round by round. */
function ratios(rows, figure, a, b) {
  const value = (target, number) => {
    const row = rows.find((each) => each.round === number && matches(each, target));
    return row && !row.result.error ? figure(row.result) : undefined;
  };
  return [...new Set(rows.map((row) => row.round))]
    .map((number) => [value(a, number), value(b, number)])
    .filter(([x, y]) => x !== undefined && y !== undefined)
    .map(([x, y]) => x / y);
}

function matches(row, { target, dialect, scenario }) {
  return row.target === target && row.dialect === dialect && row.scenario === scenario;
}

const rps = (result) => result.rps;

/** Formats the result table as Markdown. */
export function table(results) {
  const of = (name) => results.find((each) => each.name === name);
  const lines = [];
  for (const name of ['send', 'streams', 'reads']) if (of(name)) lines.push(...throughput(of(name).rows));
  const out = [];
  if (lines.length > 0)
    out.push(
      '| scenario | ours × floor | ours × official SDK | official × floor |',
      '|---|---|---|---|',
      ...lines,
      '',
    );
  const more = [];
  if (of('fanout')) more.push(...fanout(of('fanout').rows));
  if (of('versions')) more.push(...versions(of('versions').rows));
  if (of('sqlite')) more.push(...sqlite(of('sqlite').rows));
  if (of('postgres')) more.push(...postgres(of('postgres')));
  if (of('growth')) more.push(...growth(of('growth').rows));
  if (of('list')) more.push(...list(of('list').rows));
  if (of('memory')) more.push(...memory(of('memory').rows));
  if (of('grpc')) more.push(...grpc(of('grpc').rows));
  if (of('grpc-client')) more.push(...grpcClient(of('grpc-client').rows));
  if (of('client')) more.push(...client(of('client').client));
  if (of('bridge')) more.push(...bridge(of('bridge').rows));
  if (of('startup')) more.push(...startup(of('startup').rows));
  if (of('gateway')) more.push(...gateway(of('gateway').rows));
  if (more.length > 0) out.push('| what | figure |', '|---|---|', ...more);
  return out.join('\n').trim();
}

function throughput(rows) {
  const kinds = [...new Set(rows.map((row) => `${row.scenario} ${row.dialect}`))];
  return kinds.map((kind) => {
    const [scenario, dialect] = kind.split(' ');
    const at = (target) => ({ target, scenario, dialect });
    const one = (a, b) => spread(ratios(rows, rps, at(a), at(b)));
    return `| \`${scenario}\` ${dialect} | ${one('dragoman', 'floor')} | ${one('dragoman', 'official')} | ${one('official', 'floor')} |`;
  });
}

function bridge(rows) {
  return rows.map(
    ({ conc, plain, time, processor }) =>
      `| a bridge action, × the same call with \`${plain}\`, ${conc} at a time | ${round(time)}, by CPU time ${round(processor)} |`,
  );
}

function startup(rows) {
  const [bare, ...others] = rows.map(({ name, times }) => ({ name, ms: median(times) }));
  return others.map(
    ({ name, ms }) => `| \`${name}\`, × \`${bare.name}\` | ${round(ms / bare.ms)} (${ms.toFixed(0)} ms) |`,
  );
}

function fanout(rows) {
  const at = (target) => ({ target, scenario: 'fanout', dialect: 'jsonrpc-1.0' });
  const rate = (result) => result.deliveredPerSec;
  return [
    `| \`fanout\`, 300 events to 200 subscribers, ours × floor | ${spread(ratios(rows, rate, at('dragoman'), at('floor')))} |`,
  ];
}

function versions(rows) {
  const at = (scenario, dialect) => ({ target: 'dragoman', scenario, dialect });
  return ['0.3', '0.1'].flatMap((version) =>
    ['send', 'stream3'].map((scenario) => {
      const found = ratios(rows, rps, at(scenario, `jsonrpc-${version}`), at(scenario, 'jsonrpc-1.0'));
      return `| \`${scenario}\` for a ${version} client, × 1.0 | ${spread(found)} |`;
    }),
  );
}

function sqlite(rows) {
  const at = (target) => ({ target, scenario: 'send', dialect: 'jsonrpc-1.0' });
  const one = (a, b) => spread(ratios(rows, rps, at(a), at(b)));
  return [
    `| \`send\` with SQLite, × our in-memory store | ${one('dragoman-sqlite', 'dragoman')} |`,
    `| \`send\` with SQLite, × the official SQLite store (WAL) | ${one('dragoman-sqlite', 'official-sqlite')} |`,
    `| official SQLite store, × its in-memory store | ${one('official-sqlite', 'official')} |`,
  ];
}

function postgres({ rows, version }) {
  const one = (pick) => spread(rows.map(pick));
  const sum = ({ cpuUsPerReq, databaseUsPerReq }) => cpuUsPerReq + databaseUsPerReq;
  return [
    `| \`send\` with PostgreSQL ${version}, × our in-memory store | ${one(({ postgres: p, memory }) => p.rps / memory.rps)} |`,
    `| the same by processor time of the replica | ${one(({ postgres: p, memory }) => memory.cpuUsPerReq / p.cpuUsPerReq)} |`,
    `| processor time of PostgreSQL per \`send\`, × that of the replica | ${one(({ postgres: p }) => p.databaseUsPerReq / p.cpuUsPerReq)} |`,
    `| \`send\` with PostgreSQL, × the official database store on the same server | ${one(({ postgres: p, official }) => p.rps / official.rps)} |`,
    `| the same by processor time of server and database | ${one(({ postgres: p, official }) => sum(official) / sum(p))} |`,
    `| round trips to PostgreSQL per \`send\`, one at a time | ${one(({ trips }) => trips[1])} |`,
    `| the same, 64 at a time | ${one(({ trips }) => trips[64])} |`,
    `| event on one replica until a subscriber of another has it, median in ms | ${one(({ latency }) => latency.p50)} |`,
    `| the same, 99 % | ${one(({ latency }) => latency.p99)} |`,
    `| takeover of 20 tasks after \`kill -9\`, in seconds (lease of 10 s) | ${one(({ takeover }) => takeover.kill / 1_000)} |`,
    `| takeover of 20 tasks after SIGTERM, in seconds | ${one(({ takeover }) => takeover.term / 1_000)} |`,
    `| processor time of 2 replicas per request, × one, 800 requests per second each | ${one(({ replicas }) => replicas[2].cpuUsPerReq / replicas[1].cpuUsPerReq)} |`,
    `| processor time of 4 replicas per request, × one, 800 requests per second each | ${one(({ replicas }) => replicas[4].cpuUsPerReq / replicas[1].cpuUsPerReq)} |`,
  ];
}

function growth(rows) {
  const sizes = [10, 100, 1_000, 10_000];
  // The fixed cost of a request is the same for all; only the cost per additional event is compared.
  const whole = (n) =>
    median(
      rows
        .filter(
          (row) =>
            matches(row, { target: 'dragoman', scenario: `stream${n}`, dialect: 'jsonrpc-1.0' }) &&
            !row.result.error,
        )
        .map((row) => row.result.cpuUsPerReq),
    );
  const added = sizes.slice(1).map((n, i) => (whole(n) - whole(sizes[i])) / (n - sizes[i]));
  const parts = sizes.slice(1).map((n, i) => `${sizes[i]} – ${n}: ${round(added[i] / added[0])}`);
  const chunks = (target) => ({ target, scenario: 'stream4000', dialect: 'jsonrpc-1.0' });
  const slow = ratios(rows, (result) => 1 / result.rps, chunks('dragoman'), chunks('floor'));
  return [
    `| cost per additional event by stream length, × that between 10 and 100 | ${parts.join(', ')} |`,
    `| one stream of 4,000 appended chunks, time × floor | ${spread(slow)} |`,
  ];
}

function list(rows) {
  const rate = (n) => rows.find((row) => row.scenario === `list${n}`)?.result.steps?.[0]?.first.rps;
  const base = rate(1_000);
  const parts = [1_000, 100_000, 1_000_000].map(
    (n) => `${n.toLocaleString('en')}: ${rate(n) ? round(base / rate(n)) : '–'}`,
  );
  return [`| time of \`list\` with n stored tasks, × that of 1,000 | ${parts.join(', ')} |`];
}

function memory(rows) {
  const figure = (scenario, pick) => {
    const of = (target) => {
      const row = rows.find((each) => each.target === target && each.scenario === scenario);
      return row && !row.result.error ? pick(row.result) : undefined;
    };
    const floor = of('floor');
    const show = (target) =>
      of(target) === undefined
        ? '–'
        : `${round(of(target) / floor)} × (${(of(target) / 1_024).toFixed(1)} KB)`;
    return `ours ${show('dragoman')}, official ${show('official')}, floor ${(floor / 1_024).toFixed(1)} KB`;
  };
  const gone = (target) => {
    const row = rows.find((each) => each.target === target && each.scenario === 'subs');
    return row && !row.result.error
      ? `${(row.result.heapRetainedPerGoneSubscriber / 1_024).toFixed(2)} KB`
      : '–';
  };
  return [
    `| heap per stored task, × floor | ${figure('list20000', (result) => result.steps[0].heapPerTask)} |`,
    `| heap per idle stream (10,000 held), × floor | ${figure('idle10000', (result) => result.steps[0].heapPerStream)} |`,
    `| heap per subscriber, × floor | ${figure('subs', (result) => result.heapPerSubscriber)} |`,
    `| heap retained per disconnected subscriber | ours ${gone('dragoman')}, official ${gone('official')}, floor ${gone('floor')} |`,
  ];
}

function client(rows) {
  const rate = (adapter, number, scenario) =>
    rows.find((row) => row.adapter === adapter && row.round === number)?.[scenario];
  const numbers = [...new Set(rows.map((row) => row.round))];
  return ['send', 'stream100'].flatMap((scenario) => [
    `| our client, \`${scenario}\` calls/s × the official client | ${spread(numbers.map((n) => rate('dragoman', n, scenario) / rate('official', n, scenario)))} |`,
    `| our client, \`${scenario}\` calls/s × bare undici | ${spread(numbers.map((n) => rate('dragoman', n, scenario) / rate('undici', n, scenario)))} |`,
  ]);
}

function gateway(rows) {
  const one = (pick) => spread(rows.map(pick));
  const mb = (bytes) => bytes / 1_048_576;
  return [
    `| \`send\` through the gateway, × direct, by CPU time per request of the front core | ${one(({ direct, through }) => direct.cpuUsPerReq / through.cpuUsPerReq)} |`,
    `| the same by requests/s, agent and generator on the other core | ${one(({ direct, through }) => through.rps / direct.rps)} |`,
    `| first event of a stream through the gateway, additional ms, median | ${one(({ direct, through }) => through.first - direct.first)} |`,
    `| \`send\` over an in-process mesh, round trips per second on one core | ${one(({ trips }) => 1e6 / trips.mesh.cpuUsPerTrip)} |`,
    `| the same, × a direct call in the same process | ${one(({ trips }) => trips.direct.cpuUsPerTrip / trips.mesh.cpuUsPerTrip)} |`,
    `| a file of 100 MB through the gateway, additional memory in MB | ${one(({ file }) => mb(file.extra))} |`,
  ];
}

/** Ratios of gRPC: calls by the processor time of the server, memory of streams. */
function grpc(rows) {
  const figures = [
    ['`send`', (row) => 1 / row.send.cpuMicros],
    ['`stream100`', (row) => 1 / row.stream100.cpuMicros],
    ['fan-out to 200', (row) => 1 / row.fanout.cpuMicros],
    ['memory of an idle stream', (row) => row.idleBytes],
  ];
  const of = (target, number) => rows.find((row) => row.target === target && row.round === number);
  const numbers = [...new Set(rows.map((row) => row.round))];
  return figures.flatMap(([name, figure]) =>
    ['official', 'bare'].map((target) => {
      const values = numbers.map((number) => figure(of('dragoman', number)) / figure(of(target, number)));
      return `| gRPC, ${name}: ours × ${target === 'official' ? 'official SDK' : 'bare grpc-js'} | ${spread(values)} |`;
    }),
  );
}

/** Ratios of clients over gRPC, by their processor time. */
function grpcClient(rows) {
  const numbers = [...new Set(rows.map((row) => row.round))];
  const of = (adapter, number) => rows.find((row) => row.adapter === adapter && row.round === number);
  return ['send', 'stream100'].flatMap((scenario) =>
    ['official', 'http2'].map((other) => {
      const values = numbers.map((number) => of(other, number)[scenario] / of('dragoman', number)[scenario]);
      const name = other === 'official' ? 'the official client' : 'bare node:http2';
      return `| gRPC, our client, \`${scenario}\` × ${name} | ${spread(values)} |`;
    }),
  );
}

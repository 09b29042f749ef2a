import { requestBytes, type SeedRequest } from './seed-requests.ts';

/** Seeded pseudo-random number generator (mulberry32). */
export class SeededDice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number in [0, 1). */
  roll(): number {
    this.#state = (this.#state + 0x6d_2b_79_f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(limit: number): number {
    return Math.floor(this.roll() * limit);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}

/** A fuzzed request. If `isFramed`, its HTTP framing is intact and the connection can be reused. */
export interface FuzzedRequest {
  bytes: Buffer;
  isFramed: boolean;
  strategy: string;
}

const deep = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as unknown;

const values: readonly (() => unknown)[] = [
  () => null,
  () => true,
  () => 0,
  () => -1,
  () => 1e308,
  () => 2 ** 53,
  () => 0.5,
  () => '',
  () => ' ',
  () => 'x'.repeat(2_000),
  () => '\u0000',
  () => '\ud800',
  () => '__proto__',
  () => 'constructor',
  () => 'TASK_STATE_WORKING',
  () => '2026-13-45T99:99:99Z',
  () => '-271822-04-20T00:00:00Z',
  () => [],
  () => [null],
  () => ({}),
  () => ({ constructor: null, toString: 1, hasOwnProperty: [] }),
  () => ({ jsonrpc: '2.0', method: 'GetTask' }),
  () => deep(50),
  () => deep(150),
];

type Container = { [key: string]: unknown };

function containersOf(value: unknown, found: Container[] = []): Container[] {
  if (typeof value !== 'object' || value === null) return found;
  found.push(value as Container);
  for (const item of Object.values(value)) containersOf(item, found);
  return found;
}

/** Changes a JSON value in one place. */
function changeValue(root: unknown, dice: SeededDice): unknown {
  const box = { root: structuredClone(root) };
  const container = dice.pick(containersOf(box));
  const key = dice.pick(Object.keys(container)) ?? 'x';
  const other = dice.pick(containersOf(box));
  switch (dice.below(6)) {
    case 0:
      delete container[key];
      break;
    case 1:
      container[dice.pick(['id', 'kind', 'type', 'taskId', 'state', 'parts', 'x'])] = dice.pick(values)();
      break;
    case 2:
      container[key] = structuredClone(dice.pick(Object.values(other)));
      break;
    case 3:
      container[key] = [container[key], container[key]];
      break;
    default:
      container[key] = dice.pick(values)();
  }
  return box.root;
}

/** Changes bytes in one place. */
function changeBytes(bytes: Buffer, dice: SeededDice): Buffer {
  const at = dice.below(bytes.length + 1);
  const length = 1 + dice.below(8);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (dice.below(6)) {
    case 0: {
      const flipped = Buffer.from(bytes);
      if (flipped.length > 0) {
        const place = dice.below(flipped.length);
        flipped[place] = (flipped[place] ?? 0) ^ (1 << dice.below(8));
      }
      return flipped;
    }
    case 1:
      return Buffer.concat([before, after.subarray(length)]);
    case 2:
      return Buffer.concat([before, Buffer.from(Array.from({ length }, () => dice.below(256))), after]);
    case 3:
      return Buffer.concat([before, after.subarray(0, length), after]);
    case 4:
      return before;
    default:
      return Buffer.concat([
        before,
        Buffer.from(dice.pick(['"', '{', '}', '[', ']', ',', ':', '\\u', '\r\n', '%', '?', '/', '-'])),
        after,
      ]);
  }
}

const headerValues: Readonly<Record<string, readonly string[]>> = {
  Host: [
    'evil.example',
    'localhost:1',
    '127.0.0.1',
    '[::1]:80',
    'a.localhost',
    '',
    'localhost.',
    '10.0.0.1',
    '[',
    ':',
  ],
  Origin: ['https://page.example', 'http://localhost', 'null', '', 'http://evil.example', 'localhost'],
  'Content-Type': [
    'text/plain',
    '',
    'application/json;x',
    'application/a2a+json',
    'application/jsonx',
    '; json',
  ],
  'Sec-Fetch-Site': ['cross-site', 'same-origin', 'none', 'same-site', ''],
};

/** Sets a header by which the server recognizes requests of web pages. */
function changeHeader(seed: SeedRequest, dice: SeededDice): SeedRequest {
  const name = dice.pick(Object.keys(headerValues));
  return { ...seed, headers: { ...seed.headers, [name]: dice.pick(headerValues[name] ?? []) } };
}

/** Changes a request in one to three places. */
export function fuzzRequest(seed: SeedRequest, dice: SeededDice): FuzzedRequest {
  const kind = dice.below(12);
  if (kind >= 10) {
    let changed = seed;
    for (let times = 1 + dice.below(2); times > 0; times--) changed = changeHeader(changed, dice);
    return { bytes: requestBytes(changed), isFramed: true, strategy: 'headers' };
  }
  if (seed.body !== undefined && kind < 5) {
    let body: unknown = seed.body;
    for (let times = 1 + dice.below(3); times > 0; times--) body = changeValue(body, dice);
    return {
      bytes: requestBytes(seed, Buffer.from(JSON.stringify(body) ?? '')),
      isFramed: true,
      strategy: 'values',
    };
  }
  if (seed.body !== undefined && kind < 8) {
    let body: Buffer = Buffer.from(JSON.stringify(seed.body));
    for (let times = 1 + dice.below(3); times > 0; times--) body = changeBytes(body, dice);
    return { bytes: requestBytes(seed, body), isFramed: true, strategy: 'body' };
  }
  return { bytes: changeBytes(requestBytes(seed), dice), isFramed: false, strategy: 'raw bytes' };
}

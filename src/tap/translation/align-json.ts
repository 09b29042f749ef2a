/** One side of a line: a member, an element or the whole value. */
export interface AlignedSide {
  /** Name of a member, or undefined for elements and the whole value. */
  readonly name?: string;
  /** A scalar as JSON, or the opening bracket of an object or array. */
  readonly text: string;
  /** Path such as `result.status.message`. */
  readonly path: string;
}

/** A line of two JSON values side by side. At least one side is present. */
export interface AlignedLine {
  readonly depth: number;
  readonly left?: AlignedSide;
  readonly right?: AlignedSide;
  /** How both sides differ: not at all, in the value, in the name, or because one is missing. */
  readonly change: 'same' | 'value' | 'name' | 'left-only' | 'right-only';
}

/** A value with its place. */
interface Place {
  readonly name?: string | undefined;
  readonly path: string;
  readonly value: unknown;
}

type JsonBranch = Readonly<Record<string, unknown>>;

/** Lines after which the rest is omitted. */
const maxLines = 5_000;

/** Members without a partner of the same name that are compared by their values. */
const maxCompared = 100;

/** Levels below which values are compared as text. */
const maxDepth = 64;

/**
 * Aligns two JSON values, such as one message in two versions. Members belong together if they have equal names, apart from
 * case and underscores, or else equal values. An object that only one side has around the same content, such as `params`,
 * is skipped.
 */
export function alignJson(left: unknown, right: unknown): readonly AlignedLine[] {
  const lines: AlignedLine[] = [];
  new Alignment(lines).align({ path: '', value: left }, { path: '', value: right }, 0);
  return lines;
}

class Alignment {
  readonly #lines: AlignedLine[];

  constructor(lines: AlignedLine[]) {
    this.#lines = lines;
  }

  align(left: Place, right: Place, depth: number): void {
    if (this.#lines.length >= maxLines) return;
    if (isObject(left.value) && isObject(right.value) && depth < maxDepth)
      this.#alignObjects({ ...left, value: left.value }, { ...right, value: right.value }, depth);
    else if (Array.isArray(left.value) && Array.isArray(right.value) && depth < maxDepth)
      this.#alignArrays(left, left.value, right, right.value, depth);
    else if (isBranch(left.value) || isBranch(right.value)) {
      this.#addOne('left', left, depth);
      this.#addOne('right', right, depth);
    } else this.#add(left, right, depth);
  }

  #alignObjects(
    left: Place & { value: JsonBranch },
    right: Place & { value: JsonBranch },
    depth: number,
  ): void {
    const wrapped = wrapperOf(left.value, right.value);
    if (wrapped?.side === 'left') {
      this.#lines.push({ depth, left: sideOf(left), change: 'left-only' });
      this.#alignWrapped(left, wrapped.name, right, depth + 1, 'left');
    } else if (wrapped?.side === 'right') {
      this.#lines.push({ depth, right: sideOf(right), change: 'right-only' });
      this.#alignWrapped(right, wrapped.name, left, depth + 1, 'right');
    } else {
      this.#add(left, right, depth);
      this.#alignMembers(left, right, depth + 1);
    }
  }

  /** Aligns one member of an object with a whole value; the other members have no counterpart. */
  #alignWrapped(
    wrapper: Place & { value: JsonBranch },
    name: string,
    whole: Place,
    depth: number,
    side: 'left' | 'right',
  ): void {
    for (const member of membersOf(wrapper)) {
      if (member.name !== name) this.#addOne(side, member, depth);
      else if (side === 'left') this.align(member, whole, depth);
      else this.align(whole, member, depth);
    }
  }

  #alignMembers(
    left: Place & { value: JsonBranch },
    right: Place & { value: JsonBranch },
    depth: number,
  ): void {
    const leftMembers = membersOf(left);
    const rightMembers = membersOf(right);
    const pairs = pairMembers(leftMembers, rightMembers);
    const paired = new Set(pairs.values());
    for (const member of leftMembers) {
      const other = pairs.get(member);
      if (other) this.align(member, other, depth);
      else this.#addOne('left', member, depth);
    }
    for (const member of rightMembers) if (!paired.has(member)) this.#addOne('right', member, depth);
  }

  #alignArrays(
    left: Place,
    leftValues: readonly unknown[],
    right: Place,
    rightValues: readonly unknown[],
    depth: number,
  ): void {
    this.#add(left, right, depth);
    for (let at = 0; at < Math.max(leftValues.length, rightValues.length); at++) {
      const one = { path: `${left.path}[${at}]`, value: leftValues[at] };
      const other = { path: `${right.path}[${at}]`, value: rightValues[at] };
      if (at >= leftValues.length) this.#addOne('right', other, depth + 1);
      else if (at >= rightValues.length) this.#addOne('left', one, depth + 1);
      else this.align(one, other, depth + 1);
    }
  }

  #add(left: Place, right: Place, depth: number): void {
    const [one, other] = [sideOf(left), sideOf(right)];
    const change = one.text !== other.text ? 'value' : one.name !== other.name ? 'name' : 'same';
    this.#lines.push({ depth, left: one, right: other, change });
  }

  /** Adds a value that only one side has, with everything in it. */
  #addOne(side: 'left' | 'right', place: Place, depth: number): void {
    if (this.#lines.length >= maxLines) return;
    this.#lines.push(
      side === 'left'
        ? { depth, left: sideOf(place), change: 'left-only' }
        : { depth, right: sideOf(place), change: 'right-only' },
    );
    if (!isBranch(place.value) || depth >= maxDepth) return;
    for (const member of membersOf({ ...place, value: place.value })) this.#addOne(side, member, depth + 1);
  }
}

function isObject(value: unknown): value is JsonBranch {
  return isBranch(value) && !Array.isArray(value);
}

function isBranch(value: unknown): value is JsonBranch {
  return typeof value === 'object' && value !== null;
}

function sideOf({ name, path, value }: Place): AlignedSide {
  const text = Array.isArray(value) ? '[' : isBranch(value) ? '{' : (JSON.stringify(value) ?? 'undefined');
  return { ...(name !== undefined && { name }), text, path };
}

function membersOf({ path, value }: Place & { value: JsonBranch }): readonly Place[] {
  if (Array.isArray(value))
    return value.map((each: unknown, at) => ({ path: `${path}[${at}]`, value: each }));
  return Object.entries(value).map(([name, member]) => ({
    name,
    path: path === '' ? name : `${path}.${name}`,
    value: member,
  }));
}

const normalized = (name: string): string => name.replaceAll('_', '').toLowerCase();

/** Pairs members by name, then the others by their values. */
function pairMembers(left: readonly Place[], right: readonly Place[]): Map<Place, Place> {
  const pairs = new Map<Place, Place>();
  const unpaired = new Map(right.map((each) => [normalized(each.name ?? ''), each]));
  for (const each of left) {
    const name = normalized(each.name ?? '');
    const partner = unpaired.get(name);
    if (!partner) continue;
    unpaired.delete(name);
    pairs.set(each, partner);
  }
  for (const each of left) {
    if (pairs.has(each) || unpaired.size === 0 || unpaired.size > maxCompared) continue;
    for (const [name, other] of unpaired) {
      if (!haveSameContent(each.value, other.value)) continue;
      unpaired.delete(name);
      pairs.set(each, other);
      break;
    }
  }
  return pairs;
}

/** Compares scalars that are long enough to be no accident, and objects by their members. */
function haveSameContent(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) return haveSameContent(one[0], other[0]);
  if (isObject(one) && isObject(other)) return overlap(one, other) > 0;
  return typeof one === 'string' && one === other && one.length > 1;
}

/** Counts the members of two objects with equal names or equal values. */
function overlap(one: JsonBranch, other: JsonBranch): number {
  const names = new Set(Object.keys(other).map(normalized));
  const values = new Set(Object.values(other).filter((each) => typeof each === 'string' && each.length > 1));
  return Object.entries(one).filter(([name, value]) => names.has(normalized(name)) || values.has(value))
    .length;
}

/** Finds an object that only one side has around the content of the other. */
function wrapperOf(
  left: JsonBranch,
  right: JsonBranch,
): { side: 'left' | 'right'; name: string } | undefined {
  let best: { side: 'left' | 'right'; name: string } | undefined;
  let most = overlap(left, right);
  for (const [side, wrapper, whole] of [
    ['left', left, right],
    ['right', right, left],
  ] as const)
    for (const [name, member] of Object.entries(wrapper)) {
      if (!isObject(member)) continue;
      const shared = overlap(member, whole);
      if (shared <= most) continue;
      most = shared;
      best = { side, name };
    }
  return best;
}

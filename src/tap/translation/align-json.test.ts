import { describe, expect, it } from 'vitest';
import { alignJson, type AlignedLine } from './align-json.ts';

/** Formats lines as `left | right`, with one mark for the change. */
const marks = { same: ' ', value: '~', name: '≈', 'left-only': '<', 'right-only': '>' } as const;
function format(lines: readonly AlignedLine[]): string[] {
  const side = (each: AlignedLine['left']): string =>
    each === undefined ? '' : each.name === undefined ? each.text : `${each.name}: ${each.text}`;
  return lines.map(
    ({ depth, left, right, change }) => `${marks[change]} ${'.'.repeat(depth)}${side(left)} | ${side(right)}`,
  );
}

describe('alignJson', () => {
  it('pairs members by name, and shows changed and missing ones', () => {
    expect(format(alignJson({ a: 1, b: 'x', c: true }, { b: 'y', a: 1, d: null }))).toEqual([
      '  { | {',
      '  .a: 1 | a: 1',
      '~ .b: "x" | b: "y"',
      '< .c: true | ',
      '> . | d: null',
    ]);
  });

  it('pairs names in snake case and camel case, and renamed members with equal values', () => {
    const left = { task_id: 't1', mimeType: 'text/plain' };
    expect(format(alignJson(left, { taskId: 't1', mediaType: 'text/plain' }))).toEqual([
      '  { | {',
      '≈ .task_id: "t1" | taskId: "t1"',
      '≈ .mimeType: "text/plain" | mediaType: "text/plain"',
    ]);
  });

  it('skips an object that only one side has around the same content', () => {
    const old = {
      jsonrpc: '2.0',
      result: { kind: 'status-update', taskId: 't1', status: { state: 'working' } },
    };
    const modern = {
      jsonrpc: '2.0',
      result: { statusUpdate: { taskId: 't1', status: { state: 'TASK_STATE_WORKING' } } },
    };
    expect(format(alignJson(old, modern))).toEqual([
      '  { | {',
      '  .jsonrpc: "2.0" | jsonrpc: "2.0"',
      '> . | result: {',
      '≈ ..result: { | statusUpdate: {',
      '< ...kind: "status-update" | ',
      '  ...taskId: "t1" | taskId: "t1"',
      '  ...status: { | status: {',
      '~ ....state: "working" | state: "TASK_STATE_WORKING"',
    ]);
  });

  it('aligns elements by position, and lists everything in those that one side lacks', () => {
    expect(format(alignJson({ parts: [{ text: 'a' }] }, { parts: [{ text: 'a' }, { text: 'b' }] }))).toEqual([
      '  { | {',
      '  .parts: [ | parts: [',
      '  ..{ | {',
      '  ...text: "a" | text: "a"',
      '> .. | {',
      '> ... | text: "b"',
    ]);
  });

  it('names the path of each line', () => {
    const lines = alignJson({ message: { parts: [{ text: 'a' }] } }, { message: { parts: [{ text: 'a' }] } });
    expect(lines.at(-1)?.left?.path).toBe('message.parts[0].text');
  });

  it('ends with bounded work for large and deep values', () => {
    const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`n${at}`, at]));
    const other = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`m${at}`, `${at}`]));
    expect(alignJson(wide, other).length).toBeLessThanOrEqual(5_001);
    let deep: unknown = 1;
    for (let at = 0; at < 10_000; at++) deep = { a: deep };
    expect(alignJson(deep, deep).length).toBeLessThan(5_001);
  });
});

import { describe, expect, it } from 'vitest';
import { outputTail, OutputBuffer, type OutputLine } from './process-output.ts';

function collectLines(limit = 1000) {
  const lines: OutputLine[] = [];
  const output = new OutputBuffer(limit, (line) => lines.push(line));
  return { output, texts: () => lines.map(({ stream, text }) => `${stream} ${text}`) };
}

describe('OutputBuffer', () => {
  it('splits chunks into lines per stream', () => {
    const { output, texts } = collectLines();
    output.push('stdout', 'a');
    output.push('stderr', 'x\ny');
    output.push('stdout', 'b\r\n\nc');
    expect(texts()).toEqual(['stderr x', 'stdout ab', 'stdout ']);
    output.flush();
    output.flush();
    expect(texts().slice(3)).toEqual(['stdout c', 'stderr y']);
  });

  it('retains the newest lines up to the limit', () => {
    const { output } = collectLines(10);
    output.push('stdout', 'aaaa\nbbbb\ncccc\n');
    expect(output.last().map(({ text }) => text)).toEqual(['bbbb', 'cccc']);
    for (let i = 0; i < 100; i++) output.push('stdout', '\n');
    expect(output.last().length).toBe(10);
    output.clear();
    expect(output.last()).toEqual([]);
  });

  it('splits lines longer than 8192 characters', () => {
    const { output, texts } = collectLines(20_000);
    for (let i = 0; i < 100; i++) output.push('stderr', 'x'.repeat(1000));
    output.push('stderr', '\n');
    const sizes = texts().map((text) => text.length - 'stderr '.length);
    expect(Math.max(...sizes)).toBe(8192);
    expect(sizes.reduce((a, b) => a + b)).toBe(100_000);
    expect(output.last().length).toBe(3);
    const { output: another, texts: others } = collectLines();
    another.push('stdout', `${'y'.repeat(10_000)}\n`);
    expect(others().map((text) => text.length - 'stdout '.length)).toEqual([8192, 1808]);
  });
});

describe('outputTail', () => {
  it('returns the last non-empty lines', () => {
    const lines = Array.from({ length: 30 }, (_, i) => ({
      stream: 'stderr' as const,
      text: i % 2 ? ' ' : `line ${i}`,
    }));
    expect(outputTail(lines, 3)).toBe('line 24\nline 26\nline 28');
    expect(outputTail([])).toBe('');
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { MessageType } from '../message-type.ts';
import { messages0_3 } from '../messages-0_3.ts';
import { messages1_0 } from '../messages-1_0.ts';

const folder = fileURLToPath(new URL('../../../../../shared/protocol/spec/', import.meta.url));

/** Reads `message.field = number` of all messages of a file of protocol buffers. */
function readFields(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  let message = '';
  for (const line of text.split('\n')) {
    message = /^message (\w+)/.exec(line)?.[1] ?? message;
    const [, name, number] = /^\s+(?:[\w.<>, ]+) (\w+) = (\d+)\b/.exec(line) ?? [];
    if (name !== undefined && !/^[A-Z_]+$/.test(name)) fields.set(`${message}.${number}`, name);
  }
  return fields;
}

describe.each<[string, { readonly [name: string]: MessageType }]>([
  ['a2a-v1.0.1.proto', messages1_0],
  ['a2a-v0.3-maintenance-2025-09-02.proto', messages0_3],
])('names of fields in protocol buffers', (file, messages) => {
  const path = `${folder}${file}`;
  it.skipIf(!existsSync(path))(`are those of ${file}, if it is present`, () => {
    const expected = readFields(readFileSync(path, 'utf8'));
    expect(expected.size).toBeGreaterThan(100);
    const actual = new Map<string, string>(
      Object.values(messages).flatMap(({ name, fields }) =>
        fields.map(({ number, protoName }) => [`${name}.${number}`, protoName] as const),
      ),
    );
    for (const [key, name] of expected) expect([key, actual.get(key)]).toEqual([key, name]);
    expect(actual.size).toBe(expected.size);
  });
});

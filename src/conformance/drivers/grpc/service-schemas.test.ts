import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type ServiceSchema, service0_3, service1_0 } from './service-schemas.ts';

const specs = process.env.DRAGOMAN_SPEC
  ? new URL(`file://${process.env.DRAGOMAN_SPEC}/`)
  : new URL('../../../../../shared/protocol/spec/', import.meta.url);
const hasSpecs = existsSync(specs);
if (!hasSpecs) console.log('skipped: the definitions of the protocol are not present');

const scalars = new Set(['string', 'bytes', 'bool', 'int32', 'Struct', 'Value', 'Timestamp']);

/** The fields of a definition by number, such as `artifacts 4 Artifact[]`. */
function readDefinition(text: string) {
  const code = text.replaceAll(/\/\/.*$/gm, '');
  const messages = new Map<string, Map<number, { name: string; type: string; suffix: string }>>();
  for (const [, name = '', body = ''] of code.matchAll(/^message (\w+) \{\n([^]*?)^\}/gm)) {
    const fields = new Map<number, { name: string; type: string; suffix: string }>();
    const pattern = /(repeated |optional )?(map<string, ([\w.]+)>|[\w.]+) (\w+)\s*= (\d+)([^;]*);/g;
    for (const [, label, type = '', mapped, field = '', number, options = ''] of body.matchAll(pattern)) {
      const jsonName = /json_name = "(\w+)"/.exec(options)?.[1];
      fields.set(Number(number), {
        name: jsonName ?? field.replaceAll(/_(\w)/g, (_match, letter: string) => letter.toUpperCase()),
        type: (mapped ?? type).split('.').at(-1) ?? '',
        suffix: mapped ? 'map' : label === 'repeated ' ? 'list' : 'single',
      });
    }
    messages.set(name, fields);
  }
  const enums = new Map<string, Map<number, string>>();
  for (const [, name = '', body = ''] of code.matchAll(/^enum (\w+) \{\n([^]*?)^\}/gm))
    enums.set(
      name,
      new Map([...body.matchAll(/(\w+) = (\d+);/g)].map(([, value = '', number]) => [Number(number), value])),
    );
  const methods = [...code.matchAll(/rpc (\w+)\(([\w.]+)\)\s*returns \((stream )?([\w.]+)\)/g)].map(
    ([, name, request, stream, response]) => ({ name, request, response, isStreaming: stream !== undefined }),
  );
  return { messages, enums, methods };
}

function compare(service: ServiceSchema, definition: ReturnType<typeof readDefinition>): string[] {
  const differences: string[] = [];
  const compared = new Set<string>();
  const compareTypes = (mine: string, theirs = ''): void => {
    const [known, defined] = [service.schema.messages.get(mine), definition.messages.get(theirs)];
    if (compared.has(mine + theirs) || scalars.has(mine) || theirs.endsWith('Empty')) return;
    compared.add(mine + theirs);
    const names = service.schema.enums.get(mine);
    if (names) {
      const { 0: unspecified, ...values } = Object.fromEntries(definition.enums.get(theirs) ?? []);
      expect(unspecified).toMatch(/_UNSPECIFIED$/);
      if (JSON.stringify(values) !== JSON.stringify(Object.fromEntries(names))) differences.push(mine);
      return;
    }
    for (const number of new Set([...(known ?? []).map((each) => each.number), ...(defined?.keys() ?? [])])) {
      const field = known?.find((each) => each.number === number);
      const other = defined?.get(number);
      const [left, right] = [
        field && `${field.name} ${field.kind}`,
        other && `${other.name} ${other.suffix}`,
      ];
      if (left !== right || scalars.has(field?.type ?? '') !== scalars.has(other?.type ?? ''))
        differences.push(`${mine}.${number}: ${left}, not ${right}`);
      else if (!scalars.has(field?.type ?? '')) compareTypes(field?.type ?? '', other?.type);
      else if (field?.type !== other?.type) differences.push(`${mine}.${field?.name}: ${field?.type}`);
    }
  };
  const own = Object.values(service.methods);
  for (const { name, request, response, isStreaming } of definition.methods) {
    const method = own.find((each) => each.name === name);
    if (!method || method.isStreaming !== isStreaming) differences.push(`method ${name}`);
    else {
      compareTypes(method.request, request);
      compareTypes(method.response, response);
    }
  }
  expect(compared.size).toBeGreaterThan(30);
  if (own.length !== definition.methods.length) differences.push('number of methods');
  return differences;
}

describe.runIf(hasSpecs)('service schemas', () => {
  it.each([
    ['1.0', service1_0, 'a2a-v1.0.1.proto'],
    ['0.3', service0_3, 'a2a-v0.3-maintenance-2025-09-02.proto'],
  ] as const)('match the definition of %s', (_version, service, file) => {
    expect(compare(service, readDefinition(readFileSync(new URL(file, specs), 'utf8')))).toEqual([]);
  });
});

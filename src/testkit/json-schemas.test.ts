import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { codeBlocksOf } from '../../test/support/docs/code-blocks.ts';
import { Document } from '../documents/document.ts';
import { jsonSchemas } from './json-schemas.ts';
import { openScript, scriptJsonSchema } from './script/script.ts';

const folder = new URL('../../examples/scripts/', import.meta.url);
const examples = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
const textOf = (example: string): string => readFileSync(new URL(example, folder), 'utf8');
const validate = new Ajv2020({ strict: false }).compile(scriptJsonSchema());

describe('jsonSchemas', () => {
  it.each(Object.keys(jsonSchemas))('%s equals the generated schema (run `npm run build`)', (name) => {
    const file = new URL(`../../schemas/${name}.schema.json`, import.meta.url);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(jsonSchemas[name]?.())));
  });

  it('describes every key of a mock script', () => {
    const missing: string[] = [];
    const visit = (schema: unknown, path: string): void => {
      if (typeof schema !== 'object' || schema === null) return;
      for (const [key, value] of Object.entries(schema)) {
        if (key !== 'properties') visit(value, `${path}/${key}`);
        else
          for (const [name, each] of Object.entries(value as object)) {
            const { description, type, $ref } = each as {
              description?: string;
              type?: string;
              $ref?: string;
            };
            const isRange = ['min', 'max', 'mean', 'deviation'].includes(name);
            if (description === undefined && !isRange) missing.push(`${path}/${name} ${type ?? $ref ?? ''}`);
            visit(each, `${path}/${name}`);
          }
      }
    };
    visit(scriptJsonSchema(), '#');
    expect(missing).toEqual([]);
  });
});

describe('example mock scripts', () => {
  it('finds example scripts', () => {
    expect(examples.length).toBeGreaterThanOrEqual(3);
  });

  it.each(examples)('%s matches the schema and compiles', (example) => {
    const text = textOf(example);
    expect(text).toMatch(
      /^# yaml-language-server: \$schema=\.\.\/\.\.\/schemas\/test-script\.schema\.json\n/,
    );
    validate(Document.parse(text, example).value);
    expect(validate.errors ?? []).toEqual([]);
    expect(openScript(text, example).rules.length).toBeGreaterThan(0);
  });

  it.each(codeBlocksOf('docs/guide/mock-scripts.md').filter(({ language }) => language === 'yaml'))(
    'in the guide at line $line match the schema and compile',
    ({ code, line }) => {
      validate(Document.parse(code, `mock-scripts.md:${line}`).value);
      expect(validate.errors ?? []).toEqual([]);
      expect(() => openScript(code, `mock-scripts.md:${line}`)).not.toThrow();
    },
  );

  it.each([
    'rulez: []',
    'rules: [{ then: [{ say: a, wait: 1s }] }]',
    'rules: [{ when: { text: {} }, then: [] }]',
  ])('rejects example scripts with %s', (text) => {
    expect(validate(Document.parse(text, 'a.yaml').value)).toBe(false);
  });
});

// Writes the JSON Schemas of the files that people write, out of what was built, to schemas/.
import { mkdirSync, writeFileSync } from 'node:fs';
import { schemas } from '../dist/testkit/schemas.js';
import { upJsonSchema } from '../dist/up/config-schema.js';

mkdirSync('schemas', { recursive: true });
for (const [name, schema] of Object.entries({ ...schemas, up: upJsonSchema }))
  writeFileSync(`schemas/${name}.schema.json`, `${JSON.stringify(schema(), undefined, 2)}\n`);

// Writes the JSON Schemas of the files that people write, out of what was built, to schemas/.
import { mkdirSync, writeFileSync } from 'node:fs';
import { schemas } from '../dist/testkit/schemas.js';

mkdirSync('schemas', { recursive: true });
for (const [name, schema] of Object.entries(schemas))
  writeFileSync(`schemas/${name}.schema.json`, `${JSON.stringify(schema(), undefined, 2)}\n`);

// Generates the JSON Schemas of configuration files in schemas/ from dist/.
import { mkdirSync, writeFileSync } from 'node:fs';
import { bridgeJsonSchema } from '../dist/bridge/bridge-config.js';
import { jsonSchemas } from '../dist/testkit/json-schemas.js';
import { upJsonSchema } from '../dist/up/up-config-schema.js';

mkdirSync('schemas', { recursive: true });
for (const [name, schema] of Object.entries({ ...jsonSchemas, bridge: bridgeJsonSchema, up: upJsonSchema }))
  writeFileSync(`schemas/${name}.schema.json`, `${JSON.stringify(schema(), undefined, 2)}\n`);

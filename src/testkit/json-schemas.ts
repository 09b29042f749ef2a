import { gatewayJsonSchema } from '../gateway/config/gateway-schema.ts';
import { scenarioSchema } from './scenario/files/scenario-schema.ts';
import { scriptSchema } from './script/script.ts';

/** The JSON Schemas of the files that people write, by the names they are published under. */
export const schemas: { readonly [name: string]: () => { readonly [keyword: string]: unknown } } = {
  gateway: gatewayJsonSchema,
  scenario: scenarioSchema,
  'test-script': scriptSchema,
};

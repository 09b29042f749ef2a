import { gatewayJsonSchema } from '../gateway/config/gateway-schema.ts';
import { scenarioJsonSchema } from './scenario/files/scenario-schema.ts';
import { scriptJsonSchema } from './script/script.ts';

/** The JSON Schemas of the files that people write, by the names they are published under. */
export const jsonSchemas: { readonly [name: string]: () => { readonly [keyword: string]: unknown } } = {
  gateway: gatewayJsonSchema,
  scenario: scenarioJsonSchema,
  'test-script': scriptJsonSchema,
};

import { gatewayJsonSchema } from '../gateway/config/gateway-schema.ts';
import { conversationJsonSchema } from './scenario/conversation/conversation-schema.ts';
import { scenarioJsonSchema } from './scenario/files/scenario-schema.ts';
import { scriptJsonSchema } from './script/script.ts';

/** JSON Schemas of gateway, conversation, scenario and mock script files, by file name in `schemas/`. */
export const jsonSchemas: { readonly [name: string]: () => { readonly [keyword: string]: unknown } } = {
  gateway: gatewayJsonSchema,
  conversation: conversationJsonSchema,
  scenario: scenarioJsonSchema,
  'test-script': scriptJsonSchema,
};

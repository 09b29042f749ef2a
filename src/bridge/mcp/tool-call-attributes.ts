import type { Attributes } from '../../tracing/tracing.ts';

/** Returns the attributes of a call of a tool by the semantic conventions for MCP. */
export function toolCallAttributes(tool: string): Attributes {
  return {
    'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool,
  };
}

import { mcpClientKinds } from '../../support/bridge/mcp-clients.ts';
import { testMcpServer } from '../../support/bridge/mcp-server-tests.ts';

// The other combinations of clients and transports: mcp.test.ts.
for (const [index, kind] of mcpClientKinds.entries()) testMcpServer(kind, index % 2 === 0 ? 'http' : 'stdio');

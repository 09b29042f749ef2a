import { mcpClientKinds } from '../../support/bridge/mcp-clients.ts';
import { testMcpServer } from '../../support/bridge/mcp-server-tests.ts';

// All combinations of clients and transports: mcp-clients.full.test.ts.
for (const [index, kind] of mcpClientKinds.entries()) testMcpServer(kind, index === 0 ? 'stdio' : 'http');

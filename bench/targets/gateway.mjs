// A gateway that exposes the agent at AGENT_URL as /agents/echo.
import { readGatewayConfig, runGateway } from '../../dist/gateway/index.js';

const file = `
listen: ${process.env.PORT}
limits: { streams_per_caller: 1000000, requests_per_caller: 1000000 }
metrics: false
agents:
  echo: { url: "${process.env.AGENT_URL}" }
`;
await runGateway(readGatewayConfig(file, 'bench.yaml', {}));

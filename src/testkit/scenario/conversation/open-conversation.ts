import { connect } from '../../../client/connect.ts';
import type { Agent } from '../../../protocol/agent.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { TestAgentServer } from '../../test-agent-server.ts';
import type { Scenario } from '../files/read-scenarios.ts';
import { CaseTimeline } from '../harness/case-timeline.ts';
import type { ScenarioCapture } from '../harness/harness-types.ts';
import type { ReadConversation } from './read-conversation.ts';
import { runConversation } from './run-conversation.ts';
import { replaceVariables } from './step-variables.ts';

/** Connects to the agent of a conversation, or starts its mock agent, and runs the steps. */
export async function openConversation(
  { spec }: Scenario,
  read: ReadConversation,
  signal: AbortSignal,
): Promise<ScenarioCapture> {
  const { agent, script, headers, version, transport } = read.conversation;
  const timeline = new CaseTimeline(signal);
  const target = spec.proxy_config_override?.url ?? agent;
  if (target === undefined && !script)
    throw new A2AError('INVALID_PARAMS', 'No agent: set agent or script in the scenario, or pass --agent');
  const mock =
    target === undefined
      ? await TestAgentServer.start({ script: JSON.stringify(script), admin: false })
      : undefined;
  const client: Agent = connect(target ?? (mock as TestAgentServer).url, {
    ...(version && { versions: [version] }),
    ...(transport && { transports: [transport] }),
    ...(headers && { headers: replaceVariables(headers, new Map()) }),
  });
  try {
    const mismatches = await runConversation(read, client, timeline, signal);
    const { events } = timeline;
    const cancellation = { sent: false, received: mock?.canceledTaskIds ?? [] };
    return { events, requests: [], tokenRequests: [], cancellation, files: undefined, mismatches };
  } finally {
    await client.close?.();
    await mock?.stop();
  }
}

import { Button } from '../../components/button.tsx';
import { chosen, labelOf } from '../../session/agents.ts';
import { NoAgent } from '../../session/no-agent.tsx';
import { Composer } from './composer.tsx';
import { ConversationList } from './conversation-list.tsx';
import { current, startAnew } from './state.ts';
import { Toolbar } from './chat-toolbar.tsx';
import { Transcript } from './transcript.tsx';
import './chat.css';

/** The view of chat: talks to any agent, in any version and over any transport. */
export function ChatView() {
  const agent = chosen.value;
  if (!agent) return <NoAgent title="Nobody to talk to" />;
  return (
    <div class="chat">
      <aside class="chat-side" aria-label="Conversations">
        <Button onClick={() => startAnew(agent.id)}>New conversation</Button>
        <ConversationList agentId={agent.id} />
      </aside>
      <section class="chat-main" aria-label={`Conversation with ${labelOf(agent)}`}>
        <Toolbar agent={agent} />
        <Transcript key={current.value?.id ?? 'new'} agent={agent} conversation={current.value} />
        <Composer key={agent.id} agent={agent} conversation={current.value} />
      </section>
    </div>
  );
}

import { useEffect } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { selectedAgent, labelForAgent } from '../../session/agents.ts';
import { NoAgent } from '../../session/no-agent.tsx';
import { Composer } from './composer.tsx';
import { ConversationList } from './conversation-list.tsx';
import { ManageConversations } from './manage-conversations.tsx';
import { currentConversation, loadConversations, startConversation } from './state.ts';
import { ChatToolbar } from './chat-toolbar.tsx';
import { Transcript } from './transcript.tsx';
import './chat.css';

/** The chat view. */
export function ChatView() {
  useEffect(() => void loadConversations(), []);
  const agent = selectedAgent.value;
  if (!agent) return <NoAgent title="No agents yet" />;
  return (
    <div class="chat">
      <aside class="chat-side" aria-label="Conversations">
        <Button onClick={() => startConversation(agent.id)}>New conversation</Button>
        <ConversationList agentId={agent.id} />
        <ManageConversations agentId={agent.id} />
      </aside>
      <section class="chat-main" aria-label={`Conversation with ${labelForAgent(agent)}`}>
        <ChatToolbar agent={agent} />
        <Transcript
          key={currentConversation.value?.id ?? 'new'}
          agent={agent}
          conversation={currentConversation.value}
        />
        <Composer key={agent.id} agent={agent} conversation={currentConversation.value} />
      </section>
    </div>
  );
}

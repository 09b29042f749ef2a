import { StateBadge } from '../../components/badge.tsx';
import { formatClockTime } from '../../components/format-units.ts';
import { titleOf } from './conversation.ts';
import { currentConversation, openConversation, agentConversations } from './state.ts';

/** Conversations with an agent, newest first. */
export function ConversationList({ agentId }: { agentId: string }) {
  if (agentConversations.value.length === 0)
    return <p class="chat-side-note">Conversations are stored while this page is open.</p>;
  return (
    <ul class="chat-list">
      {agentConversations.value.map((conversation) => {
        const last = conversation.turns.at(-1);
        return (
          <li key={conversation.id}>
            <button
              type="button"
              class="chat-list-entry"
              aria-current={conversation.id === currentConversation.value?.id ? 'true' : undefined}
              onClick={() => openConversation(agentId, conversation.id)}
            >
              <span class="chat-list-title">{titleOf(conversation)}</span>
              <span class="chat-list-facts">
                {last ? <time>{formatClockTime(last.at).slice(0, 5)}</time> : null}
                {last?.task ? <StateBadge state={last.task.status.state} /> : null}
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

import { StateBadge } from '../../components/badge.tsx';
import { formatDayOrTime } from '../../components/format-units.ts';
import { titleOf } from './conversation.ts';
import { currentConversation, openConversation, agentConversations } from './state.ts';

/** Conversations with an agent, newest first. */
export function ConversationList({ agentId }: { agentId: string }) {
  if (agentConversations.value.length === 0)
    return <p class="chat-side-note">Conversations appear here. They survive a reload of this page.</p>;
  return (
    <ul class="chat-list">
      {agentConversations.value.map((conversation) => {
        const last = conversation.turns.at(-1);
        const at = last?.at ?? conversation.kept?.at;
        const state = last ? last.task?.status.state : conversation.kept?.state;
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
                {at === undefined ? null : <time>{formatDayOrTime(at)}</time>}
                {state ? <StateBadge state={state} /> : null}
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

import type { AgentEntry } from '../../../../src/console/console-api.ts';
import { formatVariant } from '../../../../src/protocol/card.ts';
import { transportName } from '../../components/badge.tsx';
import { Select, Toggle } from '../../components/form-fields.tsx';
import { AgentPicker } from '../../session/agent-picker.tsx';
import { titleOf } from './conversation.ts';
import { ManageConversations } from './manage-conversations.tsx';
import {
  currentConversation,
  isStreamingPreferred,
  openConversation,
  agentConversations,
  selectedVariant,
  variantPreference,
} from './state.ts';

/** Selects agent, variant and streaming. */
export function ChatToolbar({ agent }: { agent: AgentEntry }) {
  return (
    <div class="chat-tools">
      <div class="chat-tool-agent">
        <AgentPicker isLabelHidden />
      </div>
      <div class="chat-tool-variant">
        <Select
          label="Version and transport"
          isLabelHidden
          disabled={agent.variants.length === 0}
          value={selectedVariant.value ? formatVariant(selectedVariant.value) : ''}
          onValue={(value) => (variantPreference.value = value)}
          choices={agent.variants.map((each) => ({
            value: formatVariant(each),
            text: `A2A ${each.version} · ${transportName(each.transport)}`,
          }))}
        />
      </div>
      <Toggle
        label="Stream"
        isOn={isStreamingPreferred.value && agent.isStreaming}
        disabled={!agent.isStreaming}
        onTurn={(isOn) => (isStreamingPreferred.value = isOn)}
      />
      <div class="chat-tool-new">
        {agentConversations.value.length > 0 ? (
          <Select
            label="Conversation"
            isLabelHidden
            value={currentConversation.value?.id ?? ''}
            onValue={(id) => openConversation(agent.id, id)}
            choices={[
              { value: '', text: 'New conversation' },
              ...agentConversations.value.map((each) => ({ value: each.id, text: titleOf(each) })),
            ]}
          />
        ) : null}
        <ManageConversations agentId={agent.id} />
      </div>
    </div>
  );
}

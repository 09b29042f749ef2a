import type { AgentEntry } from '../../../../src/console/console-api.ts';
import { transportName } from '../../components/badge.tsx';
import { Select, Toggle } from '../../components/form-fields.tsx';
import { AgentPicker } from '../../session/agent-picker.tsx';
import { titleOf } from './conversation.ts';
import { current, isStreamWished, openConversation, ours, way, wayText, wayWish } from './state.ts';

/** Chooses whom to talk to, and how. */
export function Toolbar({ agent }: { agent: AgentEntry }) {
  return (
    <div class="chat-tools">
      <div class="chat-tool-agent">
        <AgentPicker isLabelHidden />
      </div>
      <div class="chat-tool-way">
        <Select
          label="Version and transport"
          isLabelHidden
          disabled={agent.ways.length === 0}
          value={way.value ? wayText(way.value) : ''}
          onValue={(value) => (wayWish.value = value)}
          choices={agent.ways.map((each) => ({
            value: wayText(each),
            text: `A2A ${each.version} · ${transportName(each.transport)}`,
          }))}
        />
      </div>
      <Toggle
        label="Stream"
        isOn={isStreamWished.value && agent.isStreaming}
        disabled={!agent.isStreaming}
        onTurn={(isOn) => (isStreamWished.value = isOn)}
      />
      <div class="chat-tool-new">
        {ours.value.length > 0 ? (
          <Select
            label="Conversation"
            isLabelHidden
            value={current.value?.id ?? ''}
            onValue={(id) => openConversation(agent.id, id)}
            choices={[
              { value: '', text: 'New conversation' },
              ...ours.value.map((each) => ({ value: each.id, text: titleOf(each) })),
            ]}
          />
        ) : null}
      </div>
    </div>
  );
}

import { useLayoutEffect, useRef } from 'preact/hooks';
import type { AgentEntry } from '../../../../src/console/console-api.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { AutoScroll, AutoScrollContext } from '../../components/auto-scroll.ts';
import { labelForAgent } from '../../session/agents.ts';
import { cards, loadCards } from '../agents/state.ts';
import type { ChatConversation } from './conversation.ts';
import { sendMessage } from './state.ts';
import { TurnView } from './turn-view.tsx';

/** Maximum number of example prompts. */
const maxExamples = 4;

/** All turns, newest at the end; scrolls to the end unless the user scrolls up. */
export function Transcript({
  agent,
  conversation,
}: {
  agent: AgentEntry;
  conversation: ChatConversation | undefined;
}) {
  const box = useRef<HTMLDivElement>(null);
  const end = useRef(new AutoScroll());
  const turns = useRef<HTMLDivElement>(null);
  const turnCount = conversation?.turns.length;
  useLayoutEffect(() => {
    end.current.isAtEnd = true;
    if (!box.current || !turns.current) return;
    // Anything that changes the height: a chunk, a loaded image, an expanded tree.
    const observer = new ResizeObserver(() => {
      if (box.current) end.current.keep(box.current);
    });
    observer.observe(box.current);
    observer.observe(turns.current);
    return () => observer.disconnect();
  }, [turnCount]);
  return (
    <div
      class="chat-scroll"
      ref={box}
      onScroll={(event) => end.current.see(event.currentTarget)}
      tabIndex={0}
      role="region"
      aria-label="Transcript"
    >
      {conversation ? (
        <div class="chat-turns" ref={turns} role="log" aria-label="Conversation">
          <AutoScrollContext.Provider value={end.current}>
            {conversation.turns.map((turn) => (
              <TurnView key={turn.id} conversation={conversation} turn={turn} />
            ))}
          </AutoScrollContext.Provider>
        </div>
      ) : (
        <Welcome agent={agent} />
      )}
    </div>
  );
}

function Welcome({ agent }: { agent: AgentEntry }) {
  useLayoutEffect(() => void loadCards(agent.id), [agent.id]);
  const known = cards.value?.agentId === agent.id ? cards.value.cards?.cards : undefined;
  const skills = known?.find(({ card }) => card)?.card?.skills ?? [];
  const examples = [...new Set(skills.flatMap((skill) => skill.examples ?? []))].slice(0, maxExamples);
  return (
    <EmptyState
      title={`Send a message to ${labelForAgent(agent)}`}
      actions={examples.map((example) => (
        <Button key={example} small onClick={() => void sendMessage([{ text: example }])}>
          {example.length > 60 ? `${example.slice(0, 60)}…` : example}
        </Button>
      ))}
    >
      {agent.description}
    </EmptyState>
  );
}

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

/** How many examples of its skills are offered to begin with. */
const maxExamples = 4;

/** Everything that was said, the newest at the end; stays there unless the person scrolls away. */
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
  const said = conversation?.turns.length;
  useLayoutEffect(() => {
    end.current.isAtEnd = true;
    if (!box.current || !turns.current) return;
    // Whatever makes the page longer: a chunk, an image that is ready, a tree that is opened.
    const observer = new ResizeObserver(() => {
      if (box.current) end.current.keep(box.current);
    });
    observer.observe(box.current);
    observer.observe(turns.current);
    return () => observer.disconnect();
  }, [said]);
  return (
    <div
      class="chat-scroll"
      ref={box}
      onScroll={(event) => end.current.see(event.currentTarget)}
      tabIndex={0}
      role="region"
      aria-label="What was said"
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
      title={`Say something to ${labelForAgent(agent)}`}
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

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { AgentEntry, LoginEvent, LoginInput } from '../../../../../src/console/console-api.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { type DisplayError, ErrorNote, toDisplayError } from '../../../components/error-note.tsx';
import { Select, TextField } from '../../../components/form-fields.tsx';
import { SafeLink } from '../../../components/links/safe-link.tsx';
import { refreshAgents } from '../../../session/agents.ts';
import { streamJson } from '../../../session/api-client.ts';

type Flow = LoginInput['flow'];
type Prompt = Extract<LoginEvent, { kind: 'prompt' }>;

const flowNames: { readonly [flow in Flow]: string } = {
  'device-code': 'Device code',
  'authorization-code': 'Browser (authorization code with PKCE)',
  'client-credentials': 'Client credentials',
};

/** A button that opens a dialog for a login with OAuth 2. */
export function LoginDialog({ entry, flows }: { entry: AgentEntry; flows: readonly Flow[] }) {
  const isOpen = useSignal(false);
  return (
    <>
      <Button onClick={() => (isOpen.value = true)}>Log in</Button>
      <Dialog title={`Log in to ${entry.name}`} isOpen={isOpen.value} onClose={() => (isOpen.value = false)}>
        <LoginForm agentId={entry.id} flows={flows} onDone={() => (isOpen.value = false)} />
      </Dialog>
    </>
  );
}

function LoginForm({
  agentId,
  flows,
  onDone,
}: {
  agentId: string;
  flows: readonly Flow[];
  onDone: () => void;
}) {
  const flow = useSignal<Flow>(
    flows.includes('authorization-code') ? 'authorization-code' : (flows[0] as Flow),
  );
  const clientId = useSignal('');
  const prompt = useSignal<Prompt | undefined>(undefined);
  const error = useSignal<DisplayError | undefined>(undefined);
  const running = useRef<AbortController>(undefined);
  // Closing the dialog cancels the login.
  useEffect(() => () => running.current?.abort(), []);
  const start = async () => {
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    prompt.value = undefined;
    error.value = undefined;
    const body = {
      flow: flow.value,
      ...(clientId.value.trim() !== '' && { clientId: clientId.value.trim() }),
    };
    try {
      const path = `agents/${encodeURIComponent(agentId)}/login`;
      for await (const event of streamJson<LoginEvent>(path, {
        method: 'POST',
        body,
        signal: abort.signal,
      })) {
        if (event.kind === 'prompt') prompt.value = event;
        else if (event.kind === 'error') error.value = event;
        else {
          await refreshAgents();
          onDone();
        }
      }
    } catch (thrown) {
      if (!abort.signal.aborted) error.value = toDisplayError(thrown);
    }
    if (running.current === abort) prompt.value = undefined;
  };
  return (
    <form
      class="agents-form"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <Select
        label="Flow"
        value={flow.value}
        choices={flows.map((value) => ({ value, text: flowNames[value] }))}
        onValue={(value) => (flow.value = value as Flow)}
      />
      <TextField
        label="Client ID (optional)"
        hint="Without it, the authorization server registers a client if it offers that."
        value={clientId.value}
        onValue={(value) => (clientId.value = value)}
      />
      {prompt.value ? (
        <p role="status">
          Open <SafeLink href={prompt.value.url}>the page of {new URL(prompt.value.url).host}</SafeLink> and
          approve the access.
          {prompt.value.userCode === undefined ? null : (
            <>
              {' '}
              The code is <b>{prompt.value.userCode}</b>.
            </>
          )}
        </p>
      ) : null}
      {error.value ? <ErrorNote error={error.value} /> : null}
      <p class="agents-small">The token is kept in the memory of the console and sent only to this agent.</p>
      <div class="agents-form-end">
        <Button kind="main" type="submit">
          {prompt.value ? 'Start again' : 'Start'}
        </Button>
      </div>
    </form>
  );
}
